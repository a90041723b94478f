import PushModel
import Synchronization

/// The register's apps in memory, as of a version of the register. Thread-safe.
///
/// Every answer is that of the register's present version: when that has changed, the apps are read again before
/// anything is answered, so that a removed app is gone, and a new one there, at the next request.
public final class AppDirectory: Sendable {
    private struct State {
        var byTopic: [Topic: RegisteredApp] = [:]
        var byID: [AppID: RegisteredApp] = [:]
        /// The register's version when the apps were read; `nil` before the first time.
        var version: UInt64?
    }

    private let store: any RegisterStore
    private let state = Mutex(State())
    /// How many readings brought other apps than the one before: connections remember nothing beyond that.
    private let edition = Atomic<UInt64>(0)
    private let reading: CoalescedLoad

    /// A directory that has read nothing yet.
    ///
    /// - Parameter clock: Tells the time, by which failed readings are spaced.
    public init(store: any RegisterStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        reading = CoalescedLoad(clock: clock)
    }

    /// The register's version, which another process may raise at any time.
    package var registerVersion: UInt64 { store.registerVersion }

    /// Reads every app again.
    public func reload() async throws {
        let version = store.registerVersion
        let apps = try await store.apps()
        let byTopic = Dictionary(apps.map { ($0.topic, $0) }, uniquingKeysWith: { $1 })
        let byID = Dictionary(apps.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
        let hasOthers = state.withLock { state in
            let hasOthers = state.byID != byID
            state = State(byTopic: byTopic, byID: byID, version: version)
            return hasOthers
        }
        if hasOthers { edition.add(1, ordering: .releasing) }
    }

    /// Reads nothing when a reading that ended just before brought the present version.
    private func reloadIfChanged() async throws {
        guard state.withLock({ $0.version }) != store.registerVersion else { return }
        try await reload()
    }

    /// What is known of a topic without asking the store.
    public enum Knowledge: Sendable {
        /// The register has this app for the topic.
        case app(RegisteredApp)
        /// The register has no app for the topic.
        case unknownTopic
        /// Ask with ``find(_:)``.
        case needsLookUp
    }

    /// What one connection remembers, so that the usual request asks nobody.
    public struct Memory: Sendable {
        fileprivate var topic: ArraySlice<UInt8> = []
        fileprivate var app: RegisteredApp?
        fileprivate var version: UInt64 = 0
        fileprivate var edition: UInt64 = 0

        /// The memory of a connection that has made no request yet.
        public init() {}
    }

    /// Answers like ``known(_:)``, from the connection's memory if it is the topic of last time and neither has the
    /// register changed since nor a reading brought other apps.
    public func known(_ topic: ArraySlice<UInt8>, _ memory: inout Memory) -> Knowledge {
        let (version, edition) = (store.registerVersion, edition.load(ordering: .acquiring))
        if let app = memory.app, memory.version == version, memory.edition == edition,
            topic.elementsEqualFast(memory.topic)
        {
            return .app(app)
        }
        let knowledge = known(Topic(rawValue: String(decoding: topic, as: UTF8.self)))
        if case .app(let app) = knowledge {
            memory.topic = ArraySlice(Array(topic))
            memory.app = app
            (memory.version, memory.edition) = (version, edition)
        }
        return knowledge
    }

    /// Answers from memory.
    public func known(_ topic: Topic) -> Knowledge {
        let version = store.registerVersion
        return state.withLock { state in
            guard state.version == version else { return .needsLookUp }
            return state.byTopic[topic].map { .app($0) } ?? .unknownTopic
        }
    }

    /// The app of that number as it was when the apps were last read; `nil` where there was none.
    public func lastKnown(_ id: AppID) -> RegisteredApp? { state.withLock { $0.byID[id] } }

    /// The app of that number, from the store if need be; `nil` when there is none.
    ///
    /// - Throws: when the store cannot be read.
    public func find(_ id: AppID) async throws -> RegisteredApp? {
        // As for a topic: a register that never stands still is answered all the same.
        for _ in 0..<3 where state.withLock({ $0.version }) != store.registerVersion {
            try await reading.wait { try await self.reloadIfChanged() }
        }
        return state.withLock { $0.byID[id] }
    }

    /// The app of that topic, from the store if need be; `nil` when there is none.
    ///
    /// The apps are read for everyone who asks at once.
    /// - Throws: when the store cannot be read.
    public func find(_ topic: Topic) async throws -> RegisteredApp? {
        // A register that changes during a reading is read again; one that never stands still is answered all the same.
        for _ in 0..<3 {
            switch known(topic) {
            case .app(let app): return app
            case .unknownTopic: return nil
            case .needsLookUp: try await reading.wait { try await self.reloadIfChanged() }
            }
        }
        return state.withLock { $0.byTopic[topic] }
    }
}

import PushCore
import Synchronization

/// The register's apps in memory, as of a version of the register. Thread-safe.
///
/// Every result is that of the register's present version: when that has changed, the apps are read again first. A
/// removed app is thus unknown, and a new one known, at the next request.
package final class AppDirectory: Sendable {
    private struct State {
        var byTopic: [Topic: RegisteredApp] = [:]
        var byID: [AppID: RegisteredApp] = [:]
        /// The register's version when the apps were read; `nil` before the first time.
        var version: UInt64?
    }

    private let store: any RegisterStore
    private let state = Mutex(State())
    /// The number of readings that changed the apps: a connection's cache is valid for one such number.
    private let edition = Atomic<UInt64>(0)
    private let reading: CoalescedLoad

    /// Creates a directory that has read nothing yet.
    ///
    /// - Parameter clock: The clock by which failed readings are spaced.
    package init(store: any RegisterStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        reading = CoalescedLoad(clock: clock)
    }

    /// The register's version, which another process may raise at any time.
    package var registerVersion: UInt64 { store.registerVersion }

    /// Reads every app again.
    package func reload() async throws {
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

    /// The cached result for a topic.
    package enum CachedResult: Sendable {
        /// The register has this app for the topic.
        case app(RegisteredApp)
        /// The register has no app for the topic.
        case unknownTopic
        /// Not cached: call ``find(_:)``.
        case needsLookUp
    }

    /// The cache of one connection, so that most requests need no look-up.
    package struct Memory: Sendable {
        fileprivate var topic: ArraySlice<UInt8> = []
        fileprivate var app: RegisteredApp?
        fileprivate var version: UInt64 = 0
        fileprivate var edition: UInt64 = 0

        /// Creates the cache of a connection that has made no request yet.
        package init() {}
    }

    /// Returns the same as ``known(_:)``. The connection's cache is used if the topic is the previous one, and neither
    /// the register's version nor the apps have changed since.
    package func known(_ topic: ArraySlice<UInt8>, _ memory: inout Memory) -> CachedResult {
        let (version, edition) = (store.registerVersion, edition.load(ordering: .acquiring))
        if let app = memory.app, memory.version == version, memory.edition == edition,
            topic.elementsEqualFast(memory.topic)
        {
            return .app(app)
        }
        let cached = known(Topic(rawValue: String(decoding: topic, as: UTF8.self)))
        if case .app(let app) = cached {
            memory.topic = ArraySlice(Array(topic))
            memory.app = app
            (memory.version, memory.edition) = (version, edition)
        }
        return cached
    }

    /// Returns the cached result.
    package func known(_ topic: Topic) -> CachedResult {
        let version = store.registerVersion
        return state.withLock { state in
            guard state.version == version else { return .needsLookUp }
            return state.byTopic[topic].map { .app($0) } ?? .unknownTopic
        }
    }

    /// The app with an id as it was when the apps were last read; `nil` where there was none.
    package func lastKnown(_ id: AppID) -> RegisteredApp? { state.withLock { $0.byID[id] } }

    /// The app with an id, from the store if need be; `nil` when there is none.
    ///
    /// - Throws: An error when the store cannot be read.
    package func find(_ id: AppID) async throws -> RegisteredApp? {
        // As for a topic: a register that changes all the time must not delay the result for ever.
        for _ in 0..<3 where state.withLock({ $0.version }) != store.registerVersion {
            try await reading.wait { try await self.reloadIfChanged() }
        }
        return state.withLock { $0.byID[id] }
    }

    /// The app with a topic, from the store if need be; `nil` when there is none.
    ///
    /// Concurrent callers share one reading of the apps.
    /// - Throws: An error when the store cannot be read.
    package func find(_ topic: Topic) async throws -> RegisteredApp? {
        // A register that changes during a reading is read again; one that changes all the time must not delay the
        // result for ever.
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

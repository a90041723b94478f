import PushModel
import Synchronization

/// The register's apps in memory. Thread-safe; a topic that is not here may be in the store since.
public final class AppDirectory: Sendable {
    private let store: any RegisterStore
    private let clock: @Sendable () -> Timestamp
    private let byTopic = Mutex<[Topic: RegisteredApp]>([:])
    private let reading: SharedReading

    public init(store: any RegisterStore, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        self.clock = clock
        reading = SharedReading(clock: clock)
    }

    /// Reads every app again.
    public func reload() async throws {
        let apps = try await store.apps()
        byTopic.withLock { $0 = Dictionary(apps.map { ($0.topic, $0) }, uniquingKeysWith: { $1 }) }
    }

    /// What is known of a topic without asking the store.
    public enum Knowledge: Sendable {
        case app(RegisteredApp)
        case unknownTopic
        /// Ask with ``find(_:)``.
        case notAskedYet
    }

    /// What one connection remembers, so that the usual request asks nobody.
    public struct Memory: Sendable {
        fileprivate var topic: ArraySlice<UInt8> = []
        fileprivate var app: RegisteredApp?
        fileprivate var until = Timestamp(rawValue: .min)

        public init() {}
    }

    /// Answers like ``known(_:)``, from the connection's memory if it is the topic of last time; what is
    /// remembered is asked for again after a second.
    public func known(_ topic: ArraySlice<UInt8>, _ memory: inout Memory, now: Timestamp) -> Knowledge {
        if let app = memory.app, now < memory.until, topic.elementsEqualFast(memory.topic) { return .app(app) }
        let knowledge = known(Topic(rawValue: String(decoding: topic, as: UTF8.self)))
        if case .app(let app) = knowledge {
            memory.topic = ArraySlice(Array(topic))
            memory.app = app
            memory.until = now.adding(milliseconds: 1000)
        }
        return knowledge
    }

    /// Answers from memory.
    public func known(_ topic: Topic) -> Knowledge {
        if let app = byTopic.withLock({ $0[topic] }) { return .app(app) }
        guard reading.isFresh(at: clock()) else { return .notAskedYet }
        // A reading may have ended since.
        return byTopic.withLock { $0[topic] }.map { .app($0) } ?? .unknownTopic
    }

    /// The app of that topic, from the store if need be; `nil` when there is none.
    ///
    /// The apps are read for everyone who asks at once, and at most once a second: a topic that the last reading
    /// did not find is unknown until the second is over.
    /// - Throws: when the store cannot be read.
    public func find(_ topic: Topic) async throws -> RegisteredApp? {
        switch known(topic) {
        case .app(let app): return app
        case .unknownTopic: return nil
        case .notAskedYet: break
        }
        try await reading.wait { try await self.reload() }
        return byTopic.withLock { $0[topic] }
    }
}

import AgentEngine
import AgentProtocol
import DeviceChannel
import Logging
import NIOCore
import Platform
import PushCore

/// The device's link to its server: enrolment, one session that is kept open, registrations, and upstream messages.
///
/// It runs on the event loop of its delegate, so the two call each other without waiting (`assumeIsolated`). Events of
/// network threads take effect in the order in which they came.
///
/// Guarantees: there is one session at a time, and it is reopened for ever, after pauses that grow. A notification is
/// acknowledged when the delegate has reported it as stored. A registration is requested until the server has answered.
package actor ServerLink {
    private nonisolated let loop: any EventLoop
    /// The event loop, so that what runs on it may enter without waiting.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    nonisolated let settings: ServerLinkSettings
    nonisolated let parts: ServerLinkDependencies
    nonisolated let logger: Logger
    /// The receiver of events; there is none before it is set.
    weak var delegate: (any ServerLinkDelegate)?

    /// This device's id and secret; `nil` until it is enrolled.
    var identity: DeviceIdentity?
    var session: Session?
    /// The numbers of the sessions, by what became of them.
    var progress = SessionCounters()
    var registrations = RegistrationFlow()
    /// Wakes the loop that asks for registrations.
    let registrationSignals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Apps that the server's register does not have: their tokens are asked for again after pauses that grow.
    var unknownApps: Set<BundleID> = []
    /// Wakes the loop that asks for them.
    let refusalSignals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    var receipts = ReceiptFlow()
    var upstream = UpstreamFlow()
    /// Wakes the loop that asks for topics.
    let topicSignals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Wakes the loop that asks for channels of UnifiedPush.
    let channelSignals = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    /// Pauses before the server is tried again, by their numbers; and when the network ended some last.
    private var pauses: [Int: Task<Void?, Never>] = [:]
    private var pauseCount = 0
    private var lastReturn: Int64?

    /// Creates a link; it does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - loop: The delegate's event loop, on which the store is used too.
    ///   - identity: This device's id and secret, as the store has them.
    package init(
        loop: any EventLoop, settings: ServerLinkSettings, identity: DeviceIdentity?, parts: ServerLinkDependencies,
        logger: Logger
    ) {
        self.loop = loop
        self.settings = settings
        self.identity = identity
        self.parts = parts
        self.logger = logger
    }

    /// Sets the receiver of the link's events, before ``run()``; it is held weakly.
    package func setDelegate(_ delegate: any ServerLinkDelegate) { self.delegate = delegate }

    /// Keeps a session open and fulfils registrations until its task is cancelled.
    package func run() async {
        parts.network?.start { [weak self] in self?.enter { $0.networkReturned() } }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runSessionLoop() }
            group.addTask { await self.runRegistrationLoop() }
            group.addTask { await self.runRefusalLoop() }
            group.addTask { await self.runTopicLoop() }
            group.addTask { await self.runChannelLoop() }
        }
        parts.network?.stop()
    }

    /// Runs a closure on the link's loop, after everything that entered before it. Called from any thread.
    package nonisolated func enter(_ body: @escaping @Sendable (isolated ServerLink) -> Void) {
        loop.execute { self.assumeIsolated { body($0) } }
    }

    // MARK: Pauses

    /// Milliseconds between two pauses that the network ends: links may come and go all the time.
    private static let returnInterval: Int64 = 1_000

    /// Waits for the duration of the back-off, or until the network comes back: then the pauses start again from the
    /// shortest.
    ///
    /// - Parameter shortest: The least pause that the server asked for, in milliseconds.
    func pause(_ backOff: inout BackOff, atLeast shortest: Int64 = 0) async {
        let duration = max(parts.duration(&backOff), .milliseconds(shortest))
        let rest = Task { [parts] in try? await parts.sleep(duration) }
        pauseCount += 1
        let number = pauseCount
        pauses[number] = rest
        await withTaskCancellationHandler {
            _ = await rest.value
        } onCancel: {
            rest.cancel()
        }
        if pauses.removeValue(forKey: number) == nil { backOff.reset() }
    }

    /// Ends the pauses before the next attempts to reach the server.
    private func networkReturned() {
        let now = parts.sinceBoot()
        if let lastReturn, now - lastReturn < Self.returnInterval, now >= lastReturn { return }
        guard !pauses.isEmpty else { return }
        lastReturn = now
        logger.debug("The network came back: what waits for the server tries again.")
        endPauses()
    }

    /// Ends all pauses: the server can be reached, or may be.
    func endPauses() {
        for rest in pauses.values { rest.cancel() }
        pauses = [:]
    }
}

/// How a link behaves.
package struct ServerLinkSettings: Sendable {
    /// The environment for which apps get their device tokens.
    package var environment: PushEnvironment
    /// The pauses before the server is tried again.
    package var backOff: BackOff

    /// The settings of a link; tests pass pauses of milliseconds.
    package init(environment: PushEnvironment, backOff: BackOff) {
        self.environment = environment
        self.backOff = backOff
    }
}

/// The dependencies of a link; tests pass their own.
package struct ServerLinkDependencies: Sendable {
    /// Opens sessions.
    package var connector: any PushConnector
    /// Asks for the device's id and for tokens.
    package var enrolment: any EnrolmentClient
    /// The store, which outlives the link; used on the link's event loop only.
    package var store: any ServerLinkStore
    /// Reports when the network comes back; `nil` without a source.
    package var network: (any NetworkSource)?
    /// Milliseconds since the machine was started.
    package var sinceBoot: @Sendable () -> Int64
    /// Waits; throws when its task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// Draws the pauses.
    package var random: @Sendable () -> UInt64

    /// Everything that a link reaches outside itself.
    ///
    /// - Parameter sinceBoot: Milliseconds since the machine was started, asleep or awake.
    package init(
        connector: any PushConnector, enrolment: any EnrolmentClient, store: any ServerLinkStore,
        network: (any NetworkSource)? = nil, sinceBoot: @escaping @Sendable () -> Int64,
        sleep: @escaping @Sendable (Duration) async throws -> Void, random: @escaping @Sendable () -> UInt64
    ) {
        self.connector = connector
        self.enrolment = enrolment
        self.store = store
        self.network = network
        self.sinceBoot = sinceBoot
        self.sleep = sleep
        self.random = random
    }

    /// How long the next pause is.
    package func duration(_ backOff: inout BackOff) -> Duration {
        var randomness = Randomness(random: random)
        return .milliseconds(backOff.next(using: &randomness))
    }

    private struct Randomness: RandomNumberGenerator {
        let random: @Sendable () -> UInt64
        func next() -> UInt64 { random() }
    }
}

import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaTestSupport
import DeviceTestSupport
import Logging
import NIOCore
import NIOPosix
import Platform
import PushCore
import Synchronization

@testable import AgentRuntime

/// A link with a server, a store and a delegate of the test's, and nothing of an agent.
final class LinkHarness: Sendable {
    let server = FakeServer()
    let store = FakeLinkStore()
    let network = FakeNetwork()
    let delegate: FakeLinkDelegate
    let link: ServerLink
    /// The pauses that the link made.
    let pauses: Inbox<Duration>
    /// The clock of the machine's running time.
    let uptime = ManualClock()
    private let running = Mutex<Task<Void, Never>?>(nil)

    /// A link whose pauses are as long as the back-off allows where `random` is the greatest number.
    init(identity: DeviceIdentity? = nil, backOff: BackOff = BackOff(base: 1, cap: 2), random: UInt64 = 0) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let pauses = Inbox<Duration>()
        self.pauses = pauses
        delegate = FakeLinkDelegate(loop: loop)
        if let identity { server.known.withLock { _ = $0.insert(identity.device.rawValue) } }
        link = ServerLink(
            loop: loop,
            settings: ServerLinkSettings(environment: .sandbox, backOff: backOff),
            identity: identity,
            parts: ServerLinkDependencies(
                connector: server, enrolment: server, store: store, network: network,
                sinceBoot: { [uptime] in uptime.now.rawValue },
                sleep: { pauses.put($0) }, random: { random }),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    func start() async {
        await link.setDelegate(delegate)
        running.withLock { $0 = Task { [link] in await link.run() } }
    }

    func stop() async {
        let task = running.withLock { $0 }
        task?.cancel()
        await task?.value
    }

    /// The next session, which is logged in.
    func loggedIn() async -> FakeSession? {
        let session = await server.sessions.next()
        session?.events(.loggedIn)
        return session
    }
}

/// What a link told, in words.
final class FakeLinkDelegate: ServerLinkDelegate {
    let told = Inbox<String>()
    /// What came from another thread than the loop's.
    let strays = Mutex(0)
    /// The key that registrations publish.
    let key = RecipientPrivateKey()
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    private func tell(_ words: String) {
        if !loop.inEventLoop { strays.withLock { $0 += 1 } }
        told.put(words)
    }

    func enrolled(as device: DeviceID) { tell("enrolled \(device)") }
    func sessionOpened() { tell("opened") }
    func sessionClosed(reason: String) { tell("closed: \(reason)") }
    func notificationsArrived(_ notifications: [OutgoingNotification], in session: Int) {
        tell("arrived \(notifications.map(\.id)) in \(session)")
    }
    func confirmed(_ ids: [NotificationID]) { tell("confirmed \(ids)") }
    func receiptsConfirmed(_ places: ClosedRange<OutboxPlace>) { tell("receipts \(places)") }
    func keyToPublish(app: BundleID) throws -> RecipientPublicKey? { key.publicKey }
    func tokenReceived(_ token: String, app: BundleID) { tell("token \(token) of \(app)") }
    func tokenEnded(app: BundleID) { tell("no token of \(app)") }
    func tokenNotEnded(app: BundleID, code: String?) { tell("not ended \(app): \(code ?? "later")") }
    func tokenRefused(app: BundleID, code: String) { tell("refused \(app): \(code)") }
    func commitWrites() { tell("commit") }
    func storeUnusable(_ error: any Error) { tell("store: \(error)") }
}

/// A store in memory.
final class FakeLinkStore: ServerLinkStore {
    struct Failure: Error {}

    struct State {
        var identity: DeviceIdentity?
        var unconfirmed: [NotificationID] = []
        var receipts: [(sequence: OutboxPlace, receipt: Receipt)] = []
        /// By app; `nil` for an app that ended its registration.
        var tokens: [BundleID: String?] = [:]
        var teams: [BundleID: TeamID] = [:]
        var fails = false
    }

    let state = Mutex(State())

    private func with<Value>(_ body: (inout sending State) throws -> sending Value) throws -> Value {
        try state.withLock { state in
            guard !state.fails else { throw Failure() }
            return try body(&state)
        }
    }

    func save(_ identity: DeviceIdentity) throws { try with { $0.identity = identity } }
    func forgetIdentity() throws {
        try with { state in
            state.identity = nil
            state.tokens = state.tokens.filter { $0.value == nil }
        }
    }
    func unconfirmed() throws -> [NotificationID] { try with { $0.unconfirmed } }
    func receipts(after place: OutboxPlace, limit: Int) throws -> [(sequence: OutboxPlace, receipt: Receipt)] {
        try with { state in Array(state.receipts.filter { $0.sequence > place }.prefix(limit)) }
    }
    func hasEndedRegistration(app: BundleID, environment: PushEnvironment) throws -> Bool {
        try with { $0.tokens[app] == .some(nil) }
    }
    func registeredTeam(app: BundleID, environment: PushEnvironment) throws -> TeamID? {
        try with { $0.tokens[app] == nil ? nil : $0.teams[app] }
    }
    func save(_ token: String?, app: BundleID, team: TeamID, environment: PushEnvironment) throws {
        try with { state in
            state.tokens[app] = .some(token)
            state.teams[app] = team
        }
    }
    func forgetRegistration(app: BundleID, environment: PushEnvironment) throws { try with { $0.tokens[app] = nil } }
}

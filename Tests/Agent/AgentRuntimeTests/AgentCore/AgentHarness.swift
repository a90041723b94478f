import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOPosix
import PushCore
import Scheduling
import Synchronization

@testable import AgentRuntime

/// An agent with a server, a desktop and a launcher of the test's, and a real socket for apps.
final class AgentHarness: Sendable {
    let folder: TemporaryFolder
    let configuration: AgentConfiguration
    let server = FakeServer()
    let desktop = FakeDesktop()
    let launcher = FakeLauncher()
    let extensions = FakeExtensions()
    let window = FakeWindow()
    let stills = FakeStills()
    let activator = FakeActivator()
    let focus = FakeFocus()
    let clock = FakeClock()
    let positions = FakePositions()
    let network = FakeNetwork()
    /// All that the agent logs, with what belongs to it.
    let logged = Mutex<[String]>([])
    let happenings = Inbox<AgentEvent>()
    /// How long the agent paused, in order.
    let pauses = Inbox<Duration>()
    /// Opened when the store's keeper has looked through the store and rests.
    let keeperRests = Latch()
    /// The agent's wall clock, which stands unless a test sets it.
    let time = Mutex(noon)
    /// How often the agent closed its parts.
    let closings = Mutex(0)
    let running: Mutex<Task<Void, any Error>?> = Mutex(nil)
    let agent = Mutex<Agent?>(nil)
    /// What the agent draws for its pauses: the shortest ones, unless a test says otherwise.
    private let random: UInt64
    /// Whether pauses last until something ends them.
    private let rests: Bool
    private let zones: @Sendable (ZoneChoice) -> ZoneRules?

    init(
        folder: TemporaryFolder? = nil, authorization: AppManifest.Authorization = .granted, socket: String? = nil,
        backOffCap: Duration = .milliseconds(2), random: UInt64 = 0, rests: Bool = false,
        manifest change: (inout AppManifest) -> Void = { _ in },
        zones: @escaping @Sendable (ZoneChoice) -> ZoneRules? = { LocalZones.shared.rules(for: $0) }
    ) throws {
        self.random = random
        self.rests = rests
        self.zones = zones
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        configuration = AgentConfiguration(
            dataFolder: folder.path("data"), socketPath: socket ?? folder.path("agent.sock"),
            server: AgentConfiguration.Server(host: "localhost", port: 1, controlURL: "https://localhost:1"),
            enrolmentKey: Self.enrolmentKey, environment: .sandbox, backOffBase: .milliseconds(1),
            backOffCap: backOffCap)
        var manifest = todoManifest
        manifest.authorization = authorization
        change(&manifest)
        try AppFolder(path: configuration.appsFolder).install(manifest)
    }

    static let enrolmentKey = "an-enrolment-key"

    /// Starts an agent and waits until apps can connect.
    func start(executable: String = todoManifest.executable, timing: AgentTiming = AgentTiming()) async throws {
        try await begin(executable: executable, timing: timing)
        _ = await happenings.next { if case .listening = $0 { true } else { false } }
    }

    /// Starts an agent.
    func begin(
        executable: String = todoManifest.executable, timing: AgentTiming = AgentTiming(),
        distributor: (any PushDistributor)? = nil
    ) async throws {
        let (random, rests) = (random, rests)
        let parts = AgentDependencies(
            presenter: desktop, server: ServerPorts(connector: server, enrolment: server), launcher: launcher,
            extensions: extensions, activator: activator, distributor: distributor, focus: focus,
            parent: { [focus] in focus.parents[$0] },
            replyWindow: window,
            stills: stills,
            peerCheck: PeerCheck(executable: { _ in executable }, user: getuid()), clock: clock, positions: positions,
            network: network, zones: zones, now: { [self] in time.withLock { $0 } },
            // The store's keeper rests until the agent ends; all other pauses are over at once.
            sleep: { [pauses, keeperRests] duration in
                guard duration < .seconds(3600) else {
                    keeperRests.open()
                    return await Self.restUntilCancelled()
                }
                pauses.put(duration)
                if rests { await Self.restUntilCancelled() }
            }, random: { random }, close: { [self] in closings.withLock { $0 += 1 } })
        let agent = try Agent(
            configuration: configuration, timing: timing,
            logger: Logger(label: "test") { _ in
                LineHandler { [self] line in logged.withLock { $0.append(line) } }
            }, events: { [happenings] in happenings.put($0) }, parts: { parts })
        self.agent.withLock { $0 = agent }
        running.withLock { $0 = Task { try await agent.run() } }
    }

    private static func restUntilCancelled() async {
        for await _ in AsyncStream<Never>.makeStream().stream {}
    }

    func stop() async throws {
        let task = running.withLock { task in
            defer { task = nil }
            return task
        }
        task?.cancel()
        agent.withLock { $0 = nil }
        try await task?.value
    }

    /// A process of the app's with this id says hello; what the agent says to it can be read from the channel.
    func connectApp(process: Int32, role: ConnectionRole = .app) async throws -> NIOAsyncTestingChannel {
        let channel = NIOAsyncTestingChannel()
        let connection = AppConnection(
            peer: Peer(process: process, user: getuid(), program: todoManifest.executable), channel: channel)
        agent.withLock { $0 }?.enter {
            $0.received([.hello(version: 1, app: todoManifest.id, secret: nil, role: role)], from: connection)
        }
        return channel
    }

    func connectApp(
        _ app: BundleID = "com.example.todo", run: String? = nil, role: ConnectionRole = .app
    ) async throws -> TestApp {
        let app = try await TestApp(socket: configuration.socketPath, id: app)
        app.send(.hello(version: 1, app: app.id, secret: nil, run: run, role: role))
        return app
    }

    /// An app that has been welcomed and is ready.
    func readyApp(run: String? = nil) async throws -> TestApp {
        let app = try await connectApp(run: run)
        _ = await app.inbox.next { if case .welcome = $0 { true } else { false } }
        app.send(.ready)
        return app
    }
}

/// Takes every line at every level.
private struct LineHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    let take: @Sendable (String) -> Void

    init(take: @escaping @Sendable (String) -> Void) { self.take = take }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { take("\(event.message) \(event.metadata ?? [:])") }
}

/// A desktop whose person the test plays.
final class FakeDesktop: Presenter {
    let presented = Inbox<(presentation: Presentation, complete: @Sendable (PresentationOutcome) -> Void)>()
    let updated = Inbox<Presentation>()
    let withdrawn = Inbox<NotificationID>()
    let played = Inbox<Presentation.Sound>()
    let badges = Inbox<(count: Int, desktopEntry: String)>()
    let inherited = Mutex<[ShownPresentation]>([])
    /// What it says of the screen when it starts; `nil` for nothing.
    let firstWord = Mutex<Bool?>(false)
    let stops = Mutex(0)
    let started = Inbox<Void>()
    private let events = Mutex<(@Sendable (PresenterEvent) -> Void)?>(nil)

    func start(shown: [ShownPresentation], events: @escaping @Sendable (PresenterEvent) -> Void) {
        inherited.withLock { $0 = shown }
        defer { started.put(()) }
        self.events.withLock { $0 = events }
        if let isLocked = firstWord.withLock({ $0 }) { events(.locked(isLocked)) }
    }

    func present(
        _ presentation: Presentation, then complete: @escaping @Sendable (PresentationOutcome) -> Void
    ) {
        presented.put((presentation, complete))
    }

    func update(_ presentation: Presentation) { updated.put(presentation) }
    func withdraw(_ notification: NotificationID) { withdrawn.put(notification) }
    func badge(_ count: Int, desktopEntry: String) { badges.put((count, desktopEntry)) }
    func play(_ sound: Presentation.Sound, volume: Double?) { played.put(sound) }
    func stop() { stops.withLock { $0 += 1 } }

    func does(_ event: PresenterEvent) { events.withLock { $0 }?(event) }

    /// Shows the next notification that it is asked to show.
    func show() async -> Presentation? {
        guard let next = await presented.next() else { return nil }
        next.complete(.presented(handle: "shown \(next.presentation.notification)", note: nil))
        return next.presentation
    }
}

/// A launcher that only says what it was asked to start.
final class FakeLauncher: AppLauncher {
    let launched = Inbox<(app: BundleID, variables: [String: String])>()
    let failure = Mutex<AppLaunchError?>(nil)
    private let ended = Mutex<(@Sendable (pid_t) -> Void)?>(nil)

    /// The process that was started last has ended.
    func end() { ended.withLock { $0 }?(4711) }

    func launch(
        _ manifest: AppManifest, variables: [String: String], ended: @escaping @Sendable (pid_t) -> Void
    ) throws(AppLaunchError) -> pid_t {
        self.ended.withLock { $0 = ended }
        launched.put((manifest.id, variables))
        if let failure = failure.withLock({ $0 }) { throw failure }
        return 4711
    }
}

/// A reply window whose person the test plays.
final class FakeWindow: ReplyWindow {
    let questions = Inbox<(question: ReplyQuestion, complete: @Sendable (ReplyAnswer) -> Void)>()

    func ask(_ question: ReplyQuestion, then complete: @escaping @Sendable (ReplyAnswer) -> Void) {
        questions.put((question, complete))
    }
}

/// An app's end of a real connection to the agent's socket.
final class TestApp: Sendable {
    let id: BundleID
    let inbox = Inbox<AgentMessage>()
    private let channel: any Channel

    init(socket: String, id: BundleID) async throws {
        self.id = id
        let inbox = inbox
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader(inbox: inbox))
                }
            }
            .connect(unixDomainSocketPath: socket).get()
    }

    func send(_ messages: AppMessage...) {
        let bytes = messages.compactMap { try? AgentFrame.encode($0) }.flatMap { $0 }
        channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
    }

    func send(bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    func close() async throws { try await channel.close() }

    /// The next notification that the app is given, and how.
    func delivery() async -> (id: Int64, kind: DeliveryKind)? {
        let message = await inbox.next { if case .deliver = $0 { true } else { false } }
        guard case .deliver(let notification, let kind)? = message else { return nil }
        return (notification.id, kind)
    }

    private final class Reader: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private let inbox: Inbox<AgentMessage>
        private var decoder = AgentFrameDecoder()

        init(inbox: Inbox<AgentMessage>) { self.inbox = inbox }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            decoder.append(unwrapInboundIn(data).readableBytesView)
            while let frame = try? decoder.next(), let message = try? AgentMessage(frame: frame) {
                inbox.put(message)
            }
        }

        func channelInactive(context: ChannelHandlerContext) { inbox.finish() }
        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}

/// Makes empty stills of movies when the test says so.
final class FakeStills: VideoThumbnailer {
    let asked = Inbox<(path: String, still: String, complete: @Sendable (Bool) -> Void)>()

    func canMake(of path: String) -> Bool { path.hasSuffix(".mp4") }
    func make(of path: String, at still: String, then complete: @escaping @Sendable (Bool) -> Void) {
        asked.put((path, still, complete))
    }
}

/// Clocks that the test sets.
final class FakeClock: AlarmClock {
    /// The instants that were armed, in order.
    let armed = Inbox<Timestamp?>()
    private let moment = Mutex(
        ClockReading(wall: noon, boot: UUID(), sinceBoot: 1_000_000))
    private let events = Mutex<(@Sendable (AlarmClockEvent) -> Void)?>(nil)

    func now() -> ClockReading { moment.withLock { $0 } }
    func start(events: @escaping @Sendable (AlarmClockEvent) -> Void) { self.events.withLock { $0 = events } }
    func arm(_ deadline: Timestamp?) { armed.put(deadline) }
    func stop() { events.withLock { $0 = nil } }

    /// Time passes, and the clock rings.
    func pass(_ seconds: Int64) {
        change { moment in
            moment.wall = moment.wall.adding(milliseconds: seconds * 1000)
            moment.sinceBoot += seconds * 1000
        }
        tell(.rang)
    }

    func change(_ body: (inout ClockReading) -> Void) { moment.withLock { body(&$0) } }
    func tell(_ event: AlarmClockEvent) { events.withLock { $0 }?(event) }
}

/// A place that the test says.
final class FakePositions: PositionSource {
    let name = "the test"
    /// `true` for each beginning, `false` for each rest.
    let looks = Inbox<Bool>()
    private let events = Mutex<(@Sendable (PositionEvent) -> Void)?>(nil)

    func start(events: @escaping @Sendable (PositionEvent) -> Void) {
        self.events.withLock { $0 = events }
        looks.put(true)
    }
    func rest() { looks.put(false) }
    func stop() {}
    func tell(_ event: PositionEvent) { events.withLock { $0 }?(event) }
}

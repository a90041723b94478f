import APNsProtocol
import DeviceChannel
import Logging
import NIOCore
import NIOEmbedded
import Networking
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// What browsers connect to: an endpoint's connections between doubles of the gateway and of the register.
struct BrowserWorld: Sendable {
    static let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    let server: TestServer
    let gateway = ScriptedGateway()
    let register: HeldRegister
    let withdrawals = RecordedWithdrawals()
    let sessions = RecordedSessions()
    let registry = DeviceConnectionRegistry(metrics: DeviceEndpointMetrics())
    let context: DeviceConnectionContext
    let sealer = SubscriptionSealer(keys: [[UInt8](repeating: 1, count: 32)])
    var services: BrowserServices

    init(_ server: TestServer, access: EnrolmentAccess = .open) throws {
        self.server = server
        register = HeldRegister(server.store.base)
        context = DeviceConnectionContext(
            gateway: gateway, upstream: UpstreamRegistry(), sessions: sessions,
            refusals: UpstreamRefusalLog(logger: Self.quiet), configuration: MCSServerConfiguration(),
            registry: registry,
            limiter: ConnectionLimiter(
                listener: "device", DeviceEndpointConfiguration(host: "127.0.0.1", port: 0).admission,
                logger: Self.quiet), calls: DeviceCallQueues(), metrics: DeviceEndpointMetrics(), logger: Self.quiet)
        services = BrowserServices(
            enrolment: try Self.enrolment(register, server, sealer, access), withdrawal: withdrawals,
            origin: { host, isSecured in "\(isSecured ? "https" : "http")://\(host.isEmpty ? "default" : host)" })
    }

    static func enrolment(
        _ register: HeldRegister, _ server: TestServer, _ sealer: SubscriptionSealer, _ access: EnrolmentAccess
    ) throws -> BrowserEnrolment {
        let apps = AppDirectory(store: register, clock: server.clock.function)
        let tokens = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
        return BrowserEnrolment(
            enrolment: Enrolment(
                store: register, apps: apps, tokens: TokenDirectory(store: register, sealer: tokens),
                mailboxes: server.service, cell: 0, clock: server.clock.function),
            admission: EnrolmentAdmission(access, keys: server.store.base, clock: server.clock.function),
            store: register, apps: apps, sealer: sealer, environment: .sandbox, clock: server.clock.function)
    }

    /// A connection that has said nothing yet.
    func connect(
        uri: String = "/", host: String = "push.example:8443", isSecured: Bool = false, isCounted: Bool = false
    ) async throws -> TestBrowser {
        try await TestBrowser(self, uri: uri, host: host, isSecured: isSecured, isCounted: isCounted)
    }

    /// A browser that is enrolled and has some subscriptions, and is not connected.
    func enrolled(_ number: UInt64 = 4242, _ channels: PushChannelID...) async throws -> PushClientID {
        let credentials = DeviceCredentials(device: try #require(DeviceID(number)), secret: 9)
        #expect(try await services.enrolment.enrol(credentials))
        for channel in channels { try await subscribe(channel, of: credentials) }
        return PushClientID(device: credentials.device, secret: credentials.secret)
    }

    /// Makes a subscription without the browser's connection.
    func subscribe(_ channel: PushChannelID, of credentials: DeviceCredentials) async throws {
        let outcome = try await services.enrolment.register(channel, key: nil, of: credentials)
        if case .registered = outcome { return }
        Issue.record("the subscription is not made: \(outcome)")
    }

    /// A browser with these subscriptions, whose hello is answered.
    func live(_ channels: PushChannelID...) async throws -> (browser: TestBrowser, id: PushClientID) {
        let credentials = DeviceCredentials(device: try #require(DeviceID(4242)), secret: 9)
        let id = try await enrolled()
        for channel in channels { try await subscribe(channel, of: credentials) }
        let browser = try await connect()
        #expect(try await browser.hello(id) == id)
        return (browser, id)
    }

    /// The numbers of the sessions that were closed at the gateway.
    var closed: [UInt64] { gateway.told.closed.map(\.epoch) }

    /// Whether the registry has no connection any more; it admits none afterwards.
    func isEmpty(without browser: TestBrowser) async -> Bool {
        let (loop, isDone) = (NIOAsyncTestingEventLoop(), Watched(false))
        registry.stop(.alone, on: loop).whenSuccess { isDone.change { $0 = true } }
        await loop.run()
        // Otherwise the promise would be left without an answer.
        defer { registry.remove(browser.port) }
        return isDone.value
    }
}

/// Runs a test against doubles that are made and ended with it.
func withBrowsers(
    access: EnrolmentAccess = .open, _ body: (inout BrowserWorld) async throws -> Void
) async throws {
    try await withServer { server in
        var world = try BrowserWorld(server, access: access)
        try await body(&world)
    }
}

/// A subscription's id.
func channelID(_ number: UInt8) -> PushChannelID {
    // Sixteen bytes make an id.
    PushChannelID(bytes: [UInt8](repeating: number, count: 16))!
}

/// A message for a subscription; one that is not stored is attempted once.
func pushed(_ id: Int64, to channel: PushChannelID, stored: Bool = true) -> OutgoingNotification {
    var message = notification(id, stored: stored)
    message.topic = BrowserEnrolment.topic
    message.payload = ChannelMessage(channel: channel, envelope: WebPushEnvelope(contentEncoding: "", body: [])).bytes
    return message
}

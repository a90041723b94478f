import APNsProtocol
import AldabaTestSupport
import HubProtocol
import HubServer
import Logging
import NIOCore
import NIOPosix
import PushCore
import PushServer
import SQLiteStore
import StoreMemory
import Synchronization
import Testing

/// A server's devices and mailboxes, on a store in memory, for hubs that hand over many notifications as one.
final class DeviceServer: Sendable {
    let store = MemoryStore()
    let clock: ManualClock
    let app: RegisteredApp
    let sealer: DeviceTokenSealer
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let running = Mutex<MailboxService?>(nil)
    /// Whether it cannot be told who is in a list.
    let isDeaf = Mutex(false)
    /// Whether the database that keeps the lists is damaged; how often it was asked then.
    let damage = Mutex<(isThere: Bool, asked: Int)>((false, 0))

    init(_ clock: ManualClock) async throws {
        self.clock = clock
        app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: TeamID(rawValue: "TEAM000001"), policy: MailboxPolicy(),
            at: clock.now)
        sealer = try #require(DeviceTokenSealer(keys: [Array(repeating: 7, count: 32)]))
    }

    /// Begins another run of the server: what an earlier one had in memory is gone.
    func gateway(_ hubStore: any HubStore) throws -> (gateway: GatewayBroadcasts, lists: HubLists) {
        var settings = MailboxService.Settings()
        settings.retryPause = .milliseconds(1)
        let lists = HubLists(store: hubStore, sealer: sealer, clock: clock.function)
        let service = try MailboxService(
            store: store, node: 0, loop: group.next(), settings: settings, lists: DeafLists(base: lists, server: self),
            clock: clock.function, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        running.withLock { $0 = service }
        let apps = AppDirectory(store: store, clock: clock.function)
        let sender = GatewaySender(
            acceptor: service, apps: apps, tokens: TokenDirectory(store: store, sealer: sealer), environment: .sandbox)
        let gateway = GatewayBroadcasts(
            Broadcasts(store: store, mailboxes: service, clock: clock.function), sender: sender, apps: apps,
            sealer: sealer, environment: .sandbox, clock: clock.function)
        return (gateway, lists)
    }

    private struct DeafLists: RecipientLists {
        struct Deaf: Error {}
        let base: HubLists
        let server: DeviceServer
        func members(_ registrations: [Int64: [TokenSubject]]) throws -> [Int64: Set<DeviceID>] {
            if server.isDeaf.withLock({ $0 }) { throw Deaf() }
            let isDamaged = server.damage.withLock { damage in
                if damage.isThere { damage.asked += 1 }
                return damage.isThere
            }
            if isDamaged { throw DatabaseFault(.hub, path: "hub.sqlite", .damaged("malformed")) }
            return try base.members(registrations)
        }
    }

    var service: MailboxService { get throws { try #require(running.withLock { $0 }) } }

    /// Ends the run under way.
    func stop() async throws {
        await (try service).stop()
        try await group.shutdownGracefully()
    }

    /// Registers the app on a device, once more where it was before.
    ///
    /// - Returns: Its device token.
    @discardableResult
    func register(_ number: UInt64) async throws -> String {
        let credentials = DeviceCredentials(device: try #require(DeviceID(number)), secret: 7)
        _ = try await store.addDevice(credentials.device, secretHash: credentials.secretHash, at: clock.now)
        let registration = try await store.register(
            device: credentials.device, app: app.id, environment: .sandbox, at: clock.now)
        return try sealer.seal(
            TokenSubject(
                cell: 0, device: credentials.device, app: app.id, environment: .sandbox,
                generation: registration.generation)
        ).description
    }

    /// Connects a device.
    func login(_ number: UInt64) async throws {
        let device = try #require(DeviceID(number))
        let service = try service
        _ = await withCheckedContinuation { continuation in
            service.open(DeviceLogin(device: device, secret: 7, received: []), connection: SilentConnection()) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// Has every turn that is due taken.
    func settle() async throws {
        let service = try service
        for _ in 0..<4 { try await service.flushNotes() }
    }

    /// The payloads that wait for a device.
    func payloads(_ number: UInt64) async throws -> [String] {
        try await waiting(number).filter { $0.notice == nil }.map { String(decoding: $0.payload, as: UTF8.self) }
    }

    func waiting(_ number: UInt64) async throws -> [OutgoingNotification] {
        let device = try #require(DeviceID(number))
        return try await withCheckedThrowingContinuation { continuation in
            store.page(device: device, after: nil, limit: 1000, now: clock.now) { continuation.resume(with: $0) }
        }
    }

    var timelines: Timelines { get throws { Timelines(store: store, mailboxes: try service) } }
}

/// A device's connection that takes everything.
private final class SilentConnection: DeviceConnection {
    func deliver(_ notifications: [OutgoingNotification]) {}
    func waitingChanged() {}
    func superseded() {}
    func revoked() {}
}

extension HubWorld {
    /// A hub beside a server of its own, with an installation on each of so many devices.
    static func withDevices(
        _ count: UInt64, minimum: Int = 1, senders: [HubPlatform: any PushSender]? = nil,
        more: (UInt64) -> String = { _ in "" }
    ) async throws -> (HubWorld, DeviceServer) {
        let server = try await DeviceServer(ManualClock())
        let world = try await HubWorld(
            senders: senders, broadcastMinimum: minimum, clock: server.clock, gateway: server.gateway)
        for number in 1...count {
            let token = try await server.register(number)
            try await world.put("i\(number)", more(number), channel: token, platform: "aldaba")
        }
        return (world, server)
    }

    func report(_ record: SendRecord, _ server: DeviceServer) async throws -> SendReport {
        try await hubs.report(record.id, of: hub, by: server.timelines)
    }
}

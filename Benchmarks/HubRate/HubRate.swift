import APNsProtocol
import Foundation
import GRDB
import HubProtocol
import HubServer
import Logging
import NIOPosix
import PostgresStore
import PushCore
import PushServer
import RelayServer
import SQLiteStore
import Synchronization

/// A campaign to every installation of a hub, some of them on connected devices: how long it takes until it is accepted, until
/// it is with the gateway, and at which rate the connected ones get it. Connections are counters in this process: what a socket
/// and TLS cost is not in it. With the address of an empty PostgreSQL database, everything is there.
///
/// `HubRate fill` writes devices and their installations into the data folder of a server that does not run. The server has one
/// app and one hub.
@main
enum HubRate {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count == 4, arguments[1] == "fill", let installations = Int(arguments[3]) {
            return try World.fill(URL(fileURLWithPath: arguments[2]), count: installations)
        }
        guard (4...5).contains(arguments.count), let installations = Int(arguments[2]),
            let connected = Int(arguments[3]),
            (1...installations).contains(connected), connected >= NotificationHubs.defaultBroadcastMinimum
        else {
            print(
                "usage: HubRate FOLDER INSTALLATIONS CONNECTED [POSTGRES], or HubRate fill DATA INSTALLATIONS; CONNECTED is at least",
                NotificationHubs.defaultBroadcastMinimum)
            exit(2)
        }
        let folder = URL(fileURLWithPath: arguments[1])
        let paths = ["server.sqlite", "hub.sqlite"].map { folder.appendingPathComponent($0).path }
        let address = arguments.count == 5 ? arguments[4] : nil
        let world = try await World(paths[0], paths[1], address: address, installations: installations)
        var result = try await world.measure(connected: connected)
        result["installations"] = installations
        result["connected"] = connected
        let line = try JSONSerialization.data(withJSONObject: result, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }
}

@Sendable private func presentTime() -> Timestamp { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) }

private func seconds(since begin: ContinuousClock.Instant) -> Double {
    let elapsed = ContinuousClock.now - begin
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
}

/// A server's two databases with a hub, and what runs on them.
private struct World {
    private static let team = TeamID(rawValue: "TEAM000001")
    private static let topic = Topic(rawValue: "com.example.rate")

    let service: MailboxService
    let hubs: NotificationHubs
    let hub: HubRecord
    let timelines: Timelines
    let presence: HubPresence
    let lists: HubLists

    init(_ serverPath: String, _ hubPath: String, address: String?, installations: Int) async throws {
        guard let sealer = DeviceTokenSealer(keys: [[UInt8](repeating: 7, count: 32)]) else { exit(1) }
        let now = presentTime()
        let empty = try SQLiteStore(path: serverPath)
        let app = try await empty.register.addApp(topic: Self.topic, team: Self.team, policy: MailboxPolicy(), at: now)
        try empty.close()
        let emptyHub = try HubDatabase(path: hubPath)
        let added = try await emptyHub.addHub(
            name: "rate", team: Self.team, topic: Self.topic, isStrict: false, keys: [], at: now)
        try emptyHub.close()
        guard let hub = added else { exit(1) }
        self.hub = hub
        try Self.fill(serverPath, app.id, environment: .sandbox, count: installations)
        try Self.fill(hubPath, app.id, hub: hub.number, sealer, environment: .sandbox, count: installations)
        let (store, database) = try Self.open(serverPath, hubPath, address: address)
        lists = HubLists(store: database, sealer: sealer, clock: presentTime)
        presence = HubPresence(register: store.register, sealer: sealer, clock: presentTime)
        let service = try MailboxService(
            store: store, node: 0, loop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next(),
            settings: MailboxService.Settings(), lists: lists, clock: presentTime, logger: Logger(label: "rate"))
        self.service = service
        let apps = AppDirectory(store: store.register, clock: presentTime)
        let sender = GatewaySender(
            acceptor: service, apps: apps, tokens: TokenDirectory(store: store.register, sealer: sealer),
            environment: .sandbox)
        let gateway = GatewayBroadcasts(
            Broadcasts(store: store, mailboxes: service, clock: presentTime), sender: sender, apps: apps,
            sealer: sealer, environment: .sandbox, clock: presentTime)
        hubs = NotificationHubs(
            store: database, senders: [.aldaba: sender], gateway: gateway, changed: lists.changed, clock: presentTime)
        timelines = Timelines(store: store, mailboxes: service)
    }

    /// Opens the databases, or moves them to PostgreSQL.
    private static func open(
        _ serverPath: String, _ hubPath: String, address: String?
    ) throws -> (any ServerStore, HubDatabase) {
        guard let address else { return (try SQLiteStore(path: serverPath), try HubDatabase(path: hubPath)) }
        let relayPath = hubPath + ".relay"
        try RelayDatabase(path: relayPath, logger: Logger(label: "bench")).close()
        let files = try SQLiteTables.Files(server: serverPath, hubs: hubPath, relay: relayPath)
        var move = TableMove(remembersRows: false)
        try PostgresTables.withTransaction(["dbname": address]) { target in
            try files.withTransaction { try move.copy(from: $0, to: target) { _, _ in } }
        }
        try files.close()
        let store = try PostgresStore(["dbname": address], at: presentTime())
        return (store, HubDatabase(in: store.hubs))
    }

    /// Writes devices and installations of the app and the hub of a data folder.
    static func fill(_ data: URL, count: Int) throws {
        func number(_ sql: String, _ name: String) throws -> Int64 {
            let queue = try DatabaseQueue(path: data.appendingPathComponent(name).path)
            guard let number = try queue.read({ try Int64.fetchOne($0, sql: sql) }) else { exit(1) }
            try queue.close()
            return number
        }
        let app = AppID(rawValue: UInt32(try number("SELECT id FROM app", "server.sqlite")))
        let hub = try number("SELECT number FROM hub", "hub.sqlite")
        let line = try String(contentsOf: data.appendingPathComponent("token.key"), encoding: .utf8).prefix(64)
        let digits = Array(line.utf8)
        let key = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0...$0 + 1], as: UTF8.self), radix: 16)
        }
        guard let sealer = DeviceTokenSealer(keys: [key]) else { exit(1) }
        try fill(
            data.appendingPathComponent("server.sqlite").path, app, environment: .production, count: count)
        try fill(
            data.appendingPathComponent("hub.sqlite").path, app, hub: hub, sealer, environment: .production,
            count: count)
    }

    /// Writes devices and registrations at once: one by one each would be synced.
    private static func fill(
        _ path: String, _ app: AppID, environment: PushEnvironment, count: Int
    ) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            let device = try database.makeStatement(
                sql: "INSERT INTO device(id, secret_hash, enrolled_at) VALUES(?, ?, 0)")
            let registration = try database.makeStatement(
                sql: """
                    INSERT INTO registration(device, app, environment, generation, registered_at) VALUES(?, ?, ?, 0, 0)
                    """)
            for number in 1...count {
                guard let id = DeviceID(UInt64(number)) else { continue }
                try device.execute(
                    arguments: [number, Data(DeviceCredentials(device: id, secret: 7).secretHash)])
                try registration.execute(
                    arguments: [number, Int64(app.rawValue), environment == .sandbox ? 0 : 1])
            }
        }
        try queue.close()
    }

    /// Writes installations at once, each with its device's token.
    private static func fill(
        _ path: String, _ app: AppID, hub: Int64, _ sealer: DeviceTokenSealer, environment: PushEnvironment,
        count: Int
    ) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            let insert = try database.makeStatement(
                sql: """
                    INSERT INTO installation(hub, id, channel, document, platform, tags, locale, version, created_at, updated_at)
                    VALUES(?, ?, ?, ?, 'aldaba', 'weather', 'de-at', 1, 0, 0)
                    """)
            for number in 1...count {
                guard let device = DeviceID(UInt64(number)) else { continue }
                let token = try sealer.seal(
                    TokenSubject(cell: 0, device: device, app: app, environment: environment, generation: 0)
                ).description
                let document = """
                    {"installationId":"i\(number)","platform":"aldaba","pushChannel":"\(token)","tags":["weather"],"locale":"de-AT"}
                    """
                try insert.execute(arguments: [hub, "i\(number)", token, document])
            }
        }
        try queue.close()
    }

    func measure(connected: Int) async throws -> [String: Any] {
        let counter = DeliveryCounter()
        // So many at a time that they share a commit.
        for start in stride(from: 1, through: connected, by: 256) {
            await withTaskGroup(of: Void.self) { group in
                for number in start...min(start + 255, connected) {
                    group.addTask { await login(number, counter) }
                }
            }
        }
        var began = ContinuousClock.now
        try await hubs.prepare(hub)
        let preparing = seconds(since: began)
        // As the server does a few seconds after they have connected.
        while try await presence.reportSeenDevices(hubs, lists) {}
        let runner = SendRunner(hubs, logger: Logger(label: "rate"))
        let running = Task { await runner.run { try await Task.sleep(for: $0) } }
        var accepting: [Double] = []
        var delivering: [Double] = []
        var ending: [Double] = []
        var reporting: [Double] = []
        for round in 1...3 {
            let all = counter.expect(connected)
            began = ContinuousClock.now
            let record = try await hubs.accept(
                SendRequest(
                    format: .content, body: Array(#"{"title":"Hello","locales":{"de":{"title":"Hallo"}}}"#.utf8),
                    target: .audience("weather"), campaign: "round \(round)", readsFields: true), for: hub)
            accepting.append(seconds(since: began) * 1000)
            await all.value
            delivering.append(Double(connected) / seconds(since: began))
            while try await !hubs.send(record.id, of: hub).state.isFinal {
                try await Task.sleep(for: .milliseconds(20))
            }
            ending.append(seconds(since: began))
            began = ContinuousClock.now
            let report = try await hubs.report(record.id, of: hub, by: timelines)
            reporting.append(seconds(since: began))
            guard report.ends.values.reduce(0, +) == report.funnel[.targeted] else { exit(1) }
        }
        running.cancel()
        runner.stop()
        await service.stop()
        func middle(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
        return [
            "preparedSeconds": preparing, "acceptedMilliseconds": middle(accepting),
            "acceptedMillisecondsAtMost": accepting.max() ?? 0, "deliveredPerSecond": middle(delivering),
            "deliveredPerSecondEach": delivering, "completedSeconds": middle(ending),
            "reportSeconds": middle(reporting),
        ]
    }

    private func login(_ number: Int, _ counter: DeliveryCounter) async {
        guard let device = DeviceID(UInt64(number)) else { return }
        presence.opened(DeviceSessionID(device: device, epoch: 1), CountedConnection(counter))
        _ = await withCheckedContinuation { continuation in
            service.open(
                DeviceLogin(device: device, secret: 7, received: []), connection: CountedConnection(counter)
            ) { continuation.resume(returning: $0) }
        }
    }
}

/// A connection that counts what it is given.
private final class CountedConnection: DeviceConnection {
    private let counter: DeliveryCounter
    init(_ counter: DeliveryCounter) { self.counter = counter }
    func deliver(_ notifications: [OutgoingNotification]) { counter.add(notifications.count) }
    func waitingChanged() {}
    func superseded() {}
    func revoked() {}
}

/// How many deliveries there were, and who waits for how many.
private final class DeliveryCounter: Sendable {
    private struct State {
        var left = 0
        var waiting: CheckedContinuation<Void, Never>?
    }
    private let state = Mutex(State())

    func add(_ count: Int) {
        state.withLock { state in
            state.left -= count
            if state.left <= 0 {
                state.waiting?.resume()
                state.waiting = nil
            }
        }
    }

    /// A task that ends after so many deliveries from now on.
    func expect(_ count: Int) -> Task<Void, Never> {
        state.withLock { $0.left = count }
        return Task {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if state.left <= 0 { continuation.resume() } else { state.waiting = continuation }
                }
            }
        }
    }
}

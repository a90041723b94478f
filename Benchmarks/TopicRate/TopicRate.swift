import Foundation
import GRDB
import Logging
import NIOPosix
import PushCore
import PushServer
import SQLiteStore
import Synchronization

/// A topic with many subscribers, of whom some are connected: how long a send takes to be accepted, and at which rate the
/// connected ones get it. Connections are counters in this process: what a socket and TLS cost is not in it.
@main
enum TopicRate {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 4, let subscribers = Int(arguments[2]), let connected = Int(arguments[3]),
            subscribers > 0, (1...subscribers).contains(connected)
        else {
            print("usage: TopicRate FOLDER SUBSCRIBERS CONNECTED")
            exit(2)
        }
        let path = URL(fileURLWithPath: arguments[1]).appendingPathComponent("topics.sqlite").path
        let empty = try SQLiteStore(path: path)
        let now = presentTime()
        let app = try await empty.register.addApp(
            topic: Topic(rawValue: "com.example.rate"), team: team, policy: MailboxPolicy(), at: now)
        try empty.close()
        let began = ContinuousClock.now
        try fill(path, app, subscribers: subscribers)
        let filling = seconds(since: began)
        let store = try SQLiteStore(path: path)
        var result = try await measure(store, connected: connected)
        try store.close()
        result["subscribers"] = subscribers
        result["filledPerSecond"] = Double(subscribers) / filling
        let line = try JSONSerialization.data(withJSONObject: result, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }

    private static let team = TeamID(rawValue: "TEAM123456")

    @Sendable private static func presentTime() -> Timestamp {
        Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// Writes the rows of devices, registrations and subscriptions at once: one by one each would be synced.
    private static func fill(_ path: String, _ app: RegisteredApp, subscribers: Int) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { database in
            try database.execute(
                sql: "INSERT INTO topic(id, team, name) VALUES(1, ?, 'everybody')", arguments: [team.rawValue])
            let device = try database.makeStatement(
                sql: "INSERT INTO device(id, secret_hash, enrolled_at) VALUES(?, ?, 0)")
            let registration = try database.makeStatement(
                sql: """
                    INSERT INTO registration(device, app, environment, generation, registered_at) VALUES(?, ?, 0, 0, 0)
                    """)
            let subscription = try database.makeStatement(
                sql: """
                    INSERT INTO subscription(device, app, environment, topic, generation, joined, subscribed_at)
                    VALUES(?, ?, 0, 1, 0, 0, 0)
                    """)
            for number in 1...subscribers {
                guard let id = DeviceID(UInt64(number)) else { continue }
                let hash = Data(DeviceCredentials(device: id, secret: 7).secretHash)
                try device.execute(arguments: [number, hash])
                try registration.execute(arguments: [number, Int64(app.id.rawValue)])
                try subscription.execute(arguments: [number, Int64(app.id.rawValue)])
            }
        }
        try queue.close()
    }

    private static func measure(_ store: SQLiteStore, connected: Int) async throws -> [String: Any] {
        let topic = try TopicName("everybody")
        let service = try MailboxService(
            store: store, node: 0, loop: MultiThreadedEventLoopGroup(numberOfThreads: 1).next(),
            settings: MailboxService.Settings(), clock: presentTime, logger: Logger(label: "rate"))
        let counter = DeliveryCounter()
        let emptyBytes = residentBytes()
        // So many at a time that they share a commit.
        for start in stride(from: 1, through: connected, by: 256) {
            await withTaskGroup(of: Void.self) { group in
                for number in start...min(start + 255, connected) {
                    group.addTask { await login(number, service, counter) }
                }
            }
        }
        let broadcasts = Broadcasts(store: store, mailboxes: service, clock: presentTime)
        var accepting: [Double] = []
        var delivering: [Double] = []
        for _ in 1...5 {
            let all = counter.expect(connected)
            let began = ContinuousClock.now
            _ = try await broadcasts.send(
                TopicMessage(to: .topic(topic)) { _ in .fcm([UInt8](repeating: UInt8(ascii: " "), count: 256)) },
                from: team)
            accepting.append(seconds(since: began) * 1000)
            await all.value
            delivering.append(Double(connected) / seconds(since: began))
        }
        let bytes = residentBytes() - emptyBytes
        await service.stop()
        return [
            "bytesPerConnected": bytes / connected,
            "connected": connected,
            "acceptedMilliseconds": accepting.sorted()[accepting.count / 2],
            "acceptedMillisecondsAtMost": accepting.max() ?? 0,
            "deliveredPerSecond": delivering.sorted()[delivering.count / 2],
            "deliveredPerSecondEach": delivering,
        ]
    }

    private static func login(
        _ number: Int, _ service: MailboxService, _ connection: DeliveryCounter
    ) async {
        guard let device = DeviceID(UInt64(number)) else { return }
        let own = CountedConnection(connection)
        _ = await withCheckedContinuation { continuation in
            service.open(DeviceLogin(device: device, secret: 7, received: []), connection: own) {
                continuation.resume(returning: $0)
            }
        }
    }

    /// What the process has in memory: grown by logins, mailboxes and what is known of the connected ones.
    private static func residentBytes() -> Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ")
        return (fields?.dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    private static func seconds(since begin: ContinuousClock.Instant) -> Double {
        let elapsed = ContinuousClock.now - begin
        return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
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

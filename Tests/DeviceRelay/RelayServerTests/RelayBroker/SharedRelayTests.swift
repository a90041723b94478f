import Dispatch
import Foundation
import Logging
import PostgresTestSupport
import PushCore
import PushServer
import RelayProtocol
import Synchronization
import Testing

@testable import RelayServer

/// Brokers of several servers on one database.
@Suite(
    .enabled(if: !PostgresVersion.installed.isEmpty, "no server of PostgreSQL is installed"), PostgresServer.Shared())
struct SharedRelayTests {
    /// A device's connection, whose frames a test reads one after the other.
    private final class Connection: DeviceConnection {
        private let frames = AsyncStream.makeStream(of: RelayFrame.self)

        func deliver(_ notifications: [OutgoingNotification]) {}
        func waitingChanged() {}
        func superseded() {}
        func revoked() {}
        func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
            // The brokers write only what can be read.
            if let read = try? RelayFrame(frame) { frames.continuation.yield(read) }
            complete(.written)
        }

        /// The next frame that a closure makes something of; the others are passed over.
        func next<Value: Sendable>(_ match: (RelayFrame) -> Value?) async throws -> Value {
            var found: Value?
            for await frame in frames.stream {
                found = match(frame)
                if found != nil { break }
            }
            return try #require(found)
        }
    }

    private enum MachineTime {
        static var now: Timestamp { Timestamp(rawValue: Int64(Date().timeIntervalSince1970 * 1000)) }
    }

    private struct World {
        let carrier = TestMessengers()
        let brokers: [RelayBroker]
        let databases: [RelayDatabase]

        init(_ parameters: [String: String], count: Int = 2) {
            let carrier = carrier
            let databases = (0..<count).map { _ in
                RelayDatabase(in: PostgresServer.relay(of: parameters), logger: Logger(label: "test"))
            }
            brokers = databases.enumerated().map { number, database in
                RelayBroker(
                    register: database, queuedMessages: database, documents: database,
                    sharing: RelaySharing(
                        node: UInt16(number), messenger: carrier.messenger(of: UInt16(number)),
                        database: database),
                    clock: { MachineTime.now },
                    schedule: {
                        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(Int($0)), execute: $1)
                    },
                    logger: Logger(label: "test"))
            }
            self.databases = databases
            carrier.sendHeartbeat(RunningNodes(alive: Set(0..<UInt16(count))))
        }

        func say(_ frame: RelayFrame, _ session: DeviceSessionID, at node: Int) async throws {
            let message = UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: try frame.encoded())
            let outcome = await withCheckedContinuation { continuation in
                brokers[node].receive(message, of: session) { continuation.resume(returning: $0) }
            }
            #expect(outcome == .durable())
        }

        func join(
            _ session: DeviceSessionID, at node: Int, account: UInt8 = 1
        ) async throws -> Connection {
            let connection = Connection()
            brokers[node].opened(session, connection)
            let device = RelayDevice(id: "", name: "n\(session.device)", kind: "desktop")
            try await say(.hello(token: [UInt8](repeating: account, count: 32), device), session, at: node)
            return connection
        }

        func end() throws { for database in databases { try database.close() } }
    }

    private func session(_ number: UInt64, _ epoch: UInt64 = 1) throws -> DeviceSessionID {
        DeviceSessionID(device: try #require(DeviceID(number)), epoch: epoch)
    }

    private func route(_ peer: UInt64, _ body: UInt8, id: UUID = UUID(), deadline: Int64? = nil, waits: Bool = false)
        -> RelayFrame
    {
        .route(RelayRoute(peer: "\(peer)", id: id, deadline: deadline, body: [body], waits: waits))
    }

    private static func body(_ frame: RelayFrame) -> UInt8? {
        if case .route(let route) = frame { route.body.first } else { nil }
    }

    private static func undelivered(_ frame: RelayFrame) -> RelayUndelivered? {
        if case .undelivered(_, let reason) = frame { reason } else { nil }
    }

    private static func isInterruption(of device: String) -> (RelayFrame) -> Bool? {
        { if case .interrupted(device) = $0 { true } else { nil } }
    }

    /// Waits until a connection is told that a device is online.
    private func online(_ device: String, at connection: Connection) async throws {
        _ = try await connection.next { frame -> Bool? in
            if case .changed(_, let other) = frame, other.id == device, other.presence == .online { true } else { nil }
        }
    }

    @Test("Devices at two servers see each other, and their messages keep their order in both directions")
    func call() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        let two = try await world.join(try session(2), at: 1)
        try await online("2", at: one)
        for body in 0..<UInt8(200) { try await world.say(route(2, body), try session(1), at: 0) }
        for body in 0..<UInt8(200) { #expect(try await two.next(Self.body) == body) }
        try await world.say(route(1, 9), try session(2), at: 1)
        #expect(try await one.next(Self.body) == 9)
        try await world.say(route(3, 9), try session(2), at: 1)
        #expect(try await two.next(Self.undelivered) == .unknownDevice)
        try world.end()
    }

    @Test(
        "A session that ends at one server is interrupted at the other, and its later messages wait for its return anywhere"
    )
    func comesBack() async throws {
        let world = World(try PostgresServer.database(), count: 3)
        let one = try await world.join(try session(1), at: 0)
        _ = try await world.join(try session(2), at: 1)
        try await online("2", at: one)
        world.brokers[1].closed(try session(2))
        #expect(try await one.next(Self.isInterruption(of: "2")))
        let deadline = MachineTime.now.adding(milliseconds: 60_000).rawValue
        try await world.say(route(2, 7, deadline: deadline, waits: true), try session(1), at: 0)
        let two = try await world.join(try session(2, 2), at: 2)
        #expect(try await two.next(Self.body) == 7)
        try world.end()
    }

    @Test("A server that has died takes its sessions with it; one that was taken for dead comes back with them")
    func death() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        let two = try await world.join(try session(2), at: 1)
        try await online("2", at: one)
        world.carrier.sendHeartbeat(RunningNodes(alive: [0], ended: [1], hasGap: true))
        #expect(try await one.next(Self.isInterruption(of: "2")))
        try await world.say(route(2, 1), try session(1), at: 0)
        #expect(try await one.next(Self.undelivered) == .unavailable)
        world.carrier.sendHeartbeat(RunningNodes(alive: [0, 1]))
        try await online("2", at: one)
        try await world.say(route(2, 2), try session(1), at: 0)
        #expect(try await two.next(Self.body) == 2)
        try world.end()
    }

    @Test("A message that is lost between servers is an interruption, and lost announcements are made up for")
    func lost() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        _ = try await world.join(try session(2), at: 1)
        try await online("2", at: one)
        world.carrier.isCut = true
        try await world.say(route(2, 1), try session(1), at: 0)
        #expect(try await one.next(Self.isInterruption(of: "2")))
        try await online("2", at: one)
        _ = try await world.join(try session(3), at: 1)
        // The announcement was sent before this one came back unanswered.
        try await world.say(route(1, 1), try session(2), at: 1)
        world.carrier.waitForDelivery(to: 0)
        world.carrier.isCut = false
        world.carrier.sendHeartbeat(RunningNodes(alive: [0, 1]))
        try await online("3", at: one)
        try world.end()
    }

    @Test("A stored message reaches its device at another server, and is recalled and refused across servers")
    func queuedMessages() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        let two = try await world.join(try session(2), at: 1)
        try await online("2", at: one)
        let deadline = MachineTime.now.adding(milliseconds: 60_000).rawValue
        let ids = [UUID(), UUID()]
        for id in ids {
            try await world.say(
                .queuedMessage(QueuedMessage(peer: "2", id: id, deadline: deadline, body: [1])), try session(1), at: 0)
        }
        for id in ids {
            let came = try await two.next { frame -> UUID? in
                if case .queuedMessage(let message) = frame { message.id } else { nil }
            }
            #expect(came == id)
        }
        // It is under way at the other server.
        try await world.say(.recall(device: "2", id: ids[0]), try session(1), at: 0)
        let recalled = try await one.next { frame -> Bool? in
            if case .recalled(_, let didWait) = frame { didWait } else { nil }
        }
        #expect(!recalled)
        for id in ids { try await world.say(.queuedMessageTaken(from: "1", id: id), try session(2), at: 1) }
        try world.end()
        let left = try await world.databases[0].database.read { try $0.rows("SELECT number FROM relay_letter").count }
        #expect(left == 0)
    }

    @Test("A document that is put at one server is announced to the account's devices at the other")
    func documents() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        let two = try await world.join(try session(2), at: 1)
        let document = RelaySealedDocument(key: [UInt8](repeating: 1, count: 32), revision: 1, body: [8])
        try await world.say(.documentRequest(id: UUID(), .put(document, over: 0)), try session(1), at: 0)
        let answer = try await one.next { frame -> RelayDocumentAnswer? in
            if case .documentAnswer(_, let answer) = frame { answer } else { nil }
        }
        #expect(answer == .kept(revision: 1))
        #expect(try await two.next { (frame: RelayFrame) -> Bool? in frame == .documentsChanged ? true : nil })
        try await world.say(.documentRequest(id: UUID(), .put(document, over: 0)), try session(2), at: 1)
        let refused = try await two.next { frame -> RelayDocumentAnswer? in
            if case .documentAnswer(_, let answer) = frame { answer } else { nil }
        }
        #expect(refused == .conflict(present: 1, isRemoved: false))
        try world.end()
    }

    @Test("Devices that name the same place at two servers are brought together, and no third")
    func pairing() async throws {
        let world = World(try PostgresServer.database())
        let connections = [Connection(), Connection()]
        for number in 0..<2 {
            world.brokers[number].opened(try session(UInt64(number + 1)), connections[number])
            try await world.say(
                .meet(place: [UInt8](repeating: 3, count: 32)), try session(UInt64(number + 1)), at: number)
        }
        for (number, connection) in connections.enumerated() {
            let peer = try await connection.next { frame -> String? in
                if case .peerJoined(let device) = frame { device } else { nil }
            }
            #expect(peer == "\(2 - number)")
        }
        try await world.say(route(2, 5), try session(1), at: 0)
        #expect(try await connections[1].next(Self.body) == 5)
        try await world.say(route(1, 6), try session(2), at: 1)
        #expect(try await connections[0].next(Self.body) == 6)
        try world.end()
    }

    @Test("The newest session of a device counts, at whichever server it is")
    func newest() async throws {
        let world = World(try PostgresServer.database())
        let one = try await world.join(try session(1), at: 0)
        _ = try await world.join(try session(2, 1), at: 0)
        try await online("2", at: one)
        let two = try await world.join(try session(2, 2), at: 1)
        #expect(try await one.next(Self.isInterruption(of: "2")))
        // The older session ends after the newer one has begun.
        world.brokers[0].closed(try session(2, 1))
        try await world.say(route(2, 4), try session(1), at: 0)
        #expect(try await two.next(Self.body) == 4)
        try world.end()
    }
}

import Foundation
import GRDB
import Logging
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import Synchronization
import Testing

/// The centre with a store of its own.
@Suite struct QueuedMessageBrokerTests {
    private final class Connection: DeviceConnection {
        let frames = AsyncStream.makeStream(of: RelayFrame.self)
        let isChoked = Atomic(false)

        func deliver(_ notifications: [OutgoingNotification]) {}
        func waitingChanged() {}
        func superseded() {}
        func revoked() {}
        func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
            if isChoked.load(ordering: .relaxed) { return complete(.choked) }
            if let read = try? RelayFrame(frame) { frames.continuation.yield(read) }
            complete(.written)
        }

        /// The next of the frames that are about queued messages.
        func next() async -> RelayFrame? {
            for await frame in frames.stream {
                switch frame {
                case .queuedMessage, .queuedMessageKept, .recalled, .undelivered: return frame
                default: break
                }
            }
            return nil
        }
    }

    private final class Alarms: Sendable {
        let set = Mutex<[(Int64, @Sendable () -> Void)]>([])
        let time = Atomic<Int64>(1000)

        func ring() {
            for (_, work) in set.withLock({ all in
                defer { all = [] }
                return all
            }) { work() }
        }
    }

    private let folder: URL
    private let store: RelayDatabase
    private let centre: RelayBroker
    private let alarms = Alarms()

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try RelayDatabase(path: folder.path + "/relay.sqlite", logger: Logger(label: "test"))
        centre = RelayBroker(
            register: store, queuedMessages: store,
            clock: { [alarms] in Timestamp(rawValue: alarms.time.load(ordering: .relaxed)) },
            schedule: { [alarms] delay, work in alarms.set.withLock { $0.append((delay, work)) } },
            logger: Logger(label: "test"))
        alarms.ring()
    }

    private func end() throws {
        try store.close()
        try FileManager.default.removeItem(at: folder)
    }

    private func session(_ number: UInt64, _ epoch: UInt64 = 1) throws -> DeviceSessionID {
        DeviceSessionID(device: try #require(DeviceID(number)), epoch: epoch)
    }

    private func say(_ frame: RelayFrame, as number: UInt64, _ epoch: UInt64 = 1) throws {
        let message = UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: try frame.encoded())
        centre.receive(message, of: try session(number, epoch)) { #expect($0 == .durable()) }
    }

    private func join(_ number: UInt64, _ epoch: UInt64 = 1, account: UInt8 = 1) throws -> Connection {
        let connection = Connection()
        centre.opened(try session(number, epoch), connection)
        let device = RelayDevice(id: "", name: "n\(number)", kind: "desktop")
        try say(.hello(token: [UInt8](repeating: account, count: 32), device), as: number, epoch)
        return connection
    }

    private func queuedMessage(_ peer: String, _ id: UUID, deadline: Int64 = 90_000) -> RelayFrame {
        .queuedMessage(QueuedMessage(peer: peer, id: id, deadline: deadline, body: [1, 2]))
    }

    @Test("What is kept for a device that is away comes to it in order when it is back, until it has taken it")
    func keeping() async throws {
        let one = try join(1)
        _ = try join(2)
        centre.closed(try session(2))
        let ids = (0..<3).map { _ in UUID() }
        for id in ids {
            try say(queuedMessage("2", id), as: 1)
            #expect(await one.next() == .queuedMessageKept(id))
        }
        let two = try join(2, 2)
        for id in ids { #expect(await two.next() == queuedMessage("1", id)) }
        try say(.queuedMessageTaken(from: "1", id: ids[0]), as: 2, 2)
        // What it was not given is not taken.
        try say(.queuedMessageTaken(from: "1", id: UUID()), as: 2, 2)
        // A session that ends before the rest was taken: it comes again.
        centre.closed(try session(2, 2))
        let again = try join(2, 3)
        for id in ids.dropFirst() { #expect(await again.next() == queuedMessage("1", id)) }
        // One that is there is given what comes at once.
        let late = UUID()
        try say(queuedMessage("2", late), as: 1)
        #expect(await again.next() == queuedMessage("1", late))
        try end()
    }

    @Test("A device that does not take what is written is given it later, in order")
    func choked() async throws {
        let one = try join(1)
        let two = try join(2)
        two.isChoked.store(true, ordering: .relaxed)
        let ids = (0..<2).map { _ in UUID() }
        for id in ids {
            try say(queuedMessage("2", id), as: 1)
            #expect(await one.next() == .queuedMessageKept(id))
        }
        // The store tells in order: what was to be written by now was.
        _ = await withCheckedContinuation { told in
            store.remove(QueuedMessageKey(sender: "x", id: UUID()), for: "x") { told.resume(returning: $0) }
        }
        two.isChoked.store(false, ordering: .relaxed)
        alarms.ring()
        for id in ids { #expect(await two.next() == queuedMessage("1", id)) }
        try end()
    }

    @Test("A queued message is taken back while it waits, and not once it is on its way")
    func recalling() async throws {
        let one = try join(1)
        let two = try join(2)
        let given = UUID()
        try say(queuedMessage("2", given), as: 1)
        #expect(await one.next() == .queuedMessageKept(given))
        #expect(await two.next() == queuedMessage("1", given))
        try say(.recall(device: "2", id: given), as: 1)
        #expect(await one.next() == .recalled(id: given, didWait: false))
        centre.closed(try session(2))
        let waiting = UUID()
        try say(queuedMessage("2", waiting), as: 1)
        #expect(await one.next() == .queuedMessageKept(waiting))
        try say(.recall(device: "2", id: waiting), as: 1)
        #expect(await one.next() == .recalled(id: waiting, didWait: true))
        try say(.recall(device: "2", id: waiting), as: 1)
        #expect(await one.next() == .recalled(id: waiting, didWait: false))
        try end()
    }

    @Test("What could not be read is read again, and what could not be taken back is tried again")
    func failingStore() async throws {
        let one = try join(1)
        _ = try join(2)
        centre.closed(try session(2))
        let ids = [UUID(), UUID()]
        for id in ids {
            try say(queuedMessage("2", id), as: 1)
            #expect(await one.next() == .queuedMessageKept(id))
        }
        let disk = try DatabaseQueue(path: folder.path + "/relay.sqlite")
        try await disk.write { try $0.execute(sql: "ALTER TABLE relay_letter RENAME TO away") }
        try say(.recall(device: "2", id: ids[0]), as: 1)
        let two = try join(2, 2)
        // The store tells in order: both have failed by now.
        _ = await withCheckedContinuation { told in
            store.remove(QueuedMessageKey(sender: "x", id: UUID()), for: "x") { told.resume(returning: $0) }
        }
        try await disk.write { try $0.execute(sql: "ALTER TABLE away RENAME TO relay_letter") }
        alarms.ring()
        #expect(await one.next() == .recalled(id: ids[0], didWait: true))
        #expect(await two.next() == queuedMessage("1", ids[1]))
        try disk.close()
        try end()
    }

    @Test("What expires, and what is for a device that has left, is told to its sender")
    func ends() async throws {
        let one = try join(1)
        _ = try join(2)
        centre.closed(try session(2))
        let (late, left) = (UUID(), UUID())
        try say(queuedMessage("2", late, deadline: 2_000), as: 1)
        #expect(await one.next() == .queuedMessageKept(late))
        try say(queuedMessage("2", left), as: 1)
        #expect(await one.next() == .queuedMessageKept(left))
        alarms.time.store(2_000, ordering: .relaxed)
        alarms.ring()
        #expect(await one.next() == .undelivered(id: late, .expired))
        try say(.dismiss(device: "2"), as: 1)
        #expect(await one.next() == .undelivered(id: left, .unknownDevice))
        try say(queuedMessage("2", left), as: 1)
        #expect(await one.next() == .undelivered(id: left, .unknownDevice))
        try end()
    }
}

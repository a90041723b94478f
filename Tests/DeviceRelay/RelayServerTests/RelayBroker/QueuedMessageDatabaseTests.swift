import AldabaTestSupport
import Foundation
import GRDB
import Logging
import PostgresTestSupport
import PushCore
import RelayProtocol
import Testing

@testable import RelayServer

@Suite(PostgresServer.Shared(), EachRelayDatabase()) struct QueuedMessageDatabaseTests {
    private let folder: TemporaryFolder
    private let store: RelayDatabase

    init() throws {
        folder = try TemporaryFolder()
        store = try RelayDatabases.open(in: folder)
    }

    private func end() throws { try store.close() }

    static func queuedMessage(
        for device: String = "2", from sender: String = "1", id: UUID = UUID(), deadline: Int64 = 100, size: Int = 3
    ) -> StoredMessage {
        StoredMessage(
            account: [7], device: device, key: QueuedMessageKey(sender: sender, id: id), deadline: deadline,
            body: [UInt8](repeating: 5, count: size))
    }

    private func keep(_ queuedMessage: StoredMessage) async -> QueuedMessageInsertion {
        await withCheckedContinuation { told in store.keep(queuedMessage) { told.resume(returning: $0) } }
    }

    private func read(
        _ device: String = "2", after number: Int64 = 0, count: Int = 100, bytes: Int = 1 << 20, at now: Int64 = 0,
        account: [UInt8] = [7]
    ) async -> (queuedMessages: [StoredMessage], isAll: Bool) {
        await withCheckedContinuation { told in
            store.read(
                for: device, of: account, after: number, count: count, bytes: bytes, at: Timestamp(rawValue: now)
            ) {
                #expect($0 != nil)
                told.resume(returning: ($0 ?? [], $1))
            }
        }
    }

    private func remove(_ key: QueuedMessageKey, _ device: String = "2") async -> Bool? {
        await withCheckedContinuation { told in store.remove(key, for: device) { told.resume(returning: $0) } }
    }

    private func expire(at now: Int64) async -> (ended: [StoredMessage], next: Int64?) {
        await withCheckedContinuation { told in
            store.expire(at: Timestamp(rawValue: now)) { told.resume(returning: ($0, $1?.rawValue)) }
        }
    }

    @Test("QueuedMessages are read in the order in which they were kept, once each, by pages of number and bytes")
    func order() async throws {
        let queuedMessages = (0..<5).map { Self.queuedMessage(from: "\($0 % 2)") }
        for queuedMessage in queuedMessages { #expect(await keep(queuedMessage) == .kept) }
        #expect(await keep(queuedMessages[2]) == .kept)
        #expect(await keep(Self.queuedMessage(for: "3")) == .kept)
        let all = await read()
        #expect(all.isAll && all.queuedMessages.map(\.key) == queuedMessages.map(\.key))
        #expect(all.queuedMessages[0].body == queuedMessages[0].body && all.queuedMessages[0].account == [7])
        let page = await read(count: 2)
        #expect(!page.isAll && page.queuedMessages.map(\.key) == queuedMessages.prefix(2).map(\.key))
        let next = await read(after: page.queuedMessages[1].number, bytes: 4)
        #expect(!next.isAll && next.queuedMessages.map(\.key) == [queuedMessages[2].key])
        #expect(await read(bytes: 1).queuedMessages.map(\.key) == [queuedMessages[0].key])
        #expect(await read(account: [8]).queuedMessages.isEmpty)
        try end()
    }

    @Test("What was taken is gone, and a later queued message is beyond all that were read")
    func removing() async throws {
        let (one, two) = (Self.queuedMessage(), Self.queuedMessage())
        _ = await keep(one)
        _ = await keep(two)
        let last = try #require(await read().queuedMessages.last?.number)
        #expect(await remove(two.key) == true)
        #expect(await remove(two.key) == false)
        #expect(await remove(one.key, "3") == false)
        let three = Self.queuedMessage()
        _ = await keep(three)
        #expect(await read(after: last).queuedMessages.map(\.key) == [three.key])
        #expect(await read().queuedMessages.map(\.key) == [one.key, three.key])
        try end()
    }

    @Test("One device has 1,000 queued messages and 10 MiB of them at most, and room again once some are taken")
    func limits() async throws {
        var queuedMessages: [StoredMessage] = []
        for _ in 0..<QueuedMessageLimits.count { queuedMessages.append(Self.queuedMessage(size: 1)) }
        for queuedMessage in queuedMessages { #expect(await keep(queuedMessage) == .kept) }
        #expect(await keep(Self.queuedMessage()) == .full)
        #expect(await keep(Self.queuedMessage(for: "3")) == .kept)
        #expect(await remove(queuedMessages[0].key) == true)
        #expect(await keep(Self.queuedMessage()) == .kept)
        #expect(await keep(Self.queuedMessage()) == .full)
        let large = Self.queuedMessage(for: "4", size: 6 << 20)
        #expect(await keep(large) == .kept)
        #expect(await keep(Self.queuedMessage(for: "4", size: 6 << 20)) == .full)
        #expect(await remove(large.key, "4") == true)
        #expect(await keep(Self.queuedMessage(for: "4", size: 6 << 20)) == .kept)
        let gone = await withCheckedContinuation { told in
            store.removeAll(for: "2") { told.resume(returning: $0) }
        }
        #expect(gone.count == QueuedMessageLimits.count && gone.allSatisfy { $0.device == "2" })
        #expect(await keep(queuedMessages[5]) == .kept)
        try end()
    }

    @Test("What has expired is not read, ends by the sweep, and makes room")
    func expiry() async throws {
        let (early, late) = (Self.queuedMessage(deadline: 50), Self.queuedMessage(deadline: 70))
        _ = await keep(late)
        _ = await keep(early)
        #expect(await read(at: 50).queuedMessages.map(\.key) == [late.key])
        let none = await expire(at: 49)
        #expect(none.ended.isEmpty && none.next == 50)
        let one = await expire(at: 50)
        #expect(one.ended.map(\.key) == [early.key] && one.next == 70)
        let other = await expire(at: 99)
        #expect(other.ended.map(\.key) == [late.key] && other.next == nil)
        let sums = try await store.database.read {
            try $0.row("SELECT count(*) AS count FROM relay_letter_sum")?["count"] as Int?
        }
        #expect(sums == 0)
        try end()
    }

    @Test("A sweep that leaves expired messages is followed by another at once")
    func manyExpired() async throws {
        for _ in 0..<300 { _ = await keep(Self.queuedMessage(deadline: 50, size: 1)) }
        _ = await keep(Self.queuedMessage(deadline: 90))
        let first = await expire(at: 60)
        #expect(first.ended.count == 256 && first.next == 60)
        let second = await expire(at: 60)
        #expect(second.ended.count == 44 && second.next == 90)
        try end()
    }

    @Test("A store that does not know says so, of what it was to keep, read and remove")
    func failing() async throws {
        let one = Self.queuedMessage()
        _ = await keep(one)
        try await store.database.write { try $0.run("ALTER TABLE relay_letter RENAME TO away") }
        guard case .failed = await keep(Self.queuedMessage()) else {
            Issue.record("it was kept")
            return
        }
        #expect(await remove(one.key) == nil)
        let read = await withCheckedContinuation { told in
            store.read(for: "2", of: [7], after: 0, count: 9, bytes: 99, at: Timestamp(rawValue: 0)) {
                queuedMessages, _ in
                told.resume(returning: queuedMessages)
            }
        }
        #expect(read == nil)
        try end()
    }
}

/// Queued messages in a file.
@Suite struct QueuedMessageFileTests {
    @Test("What is kept is there in the next run, and later queued messages come after it")
    func runs() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("relay.sqlite")
        let store = try RelayDatabase(path: path, logger: Logger(label: "test"))
        let one = QueuedMessageDatabaseTests.queuedMessage()
        let first = await withCheckedContinuation { told in store.keep(one) { told.resume(returning: $0) } }
        #expect(first == .kept)
        try store.close()
        let again = try RelayDatabase(path: path, logger: Logger(label: "test"))
        let two = QueuedMessageDatabaseTests.queuedMessage()
        let kept = await withCheckedContinuation { told in again.keep(two) { told.resume(returning: $0) } }
        #expect(kept == .kept)
        let all = await withCheckedContinuation { told in
            again.read(for: "2", of: [7], after: 0, count: 9, bytes: 99, at: Timestamp(rawValue: 0)) {
                queuedMessages, _ in
                told.resume(returning: queuedMessages)
            }
        }
        #expect(all?.map(\.key) == [one.key, two.key])
        try again.close()
    }

    @Test(
        "No question of the store looks through what it does not want",
        arguments: [
            RelayDatabase.page, RelayDatabase.expired, RelayDatabase.removal,
            "SELECT min(deadline) FROM relay_letter", "DELETE FROM relay_letter WHERE device = ?",
            "SELECT count, bytes FROM relay_letter_sum WHERE device = ?",
        ])
    func plans(question: String) throws {
        let folder = try TemporaryFolder()
        let store = try RelayDatabase(path: folder.path("relay.sqlite"), logger: Logger(label: "test"))
        let plan = try store.file.read { database in
            try Row.fetchAll(
                database,
                sql: "EXPLAIN QUERY PLAN "
                    + question.replacing("?", with: "1")
            ).map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
        try store.close()
    }
}

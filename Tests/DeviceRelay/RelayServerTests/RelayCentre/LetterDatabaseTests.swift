import Foundation
import GRDB
import Logging
import RelayProtocol
import Testing

@testable import RelayServer

@Suite struct LetterDatabaseTests {
    private let folder: URL
    private let store: RelayDatabase

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("relay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        store = try RelayDatabase(path: folder.path + "/relay.sqlite", logger: Logger(label: "test"))
    }

    private func end() throws {
        try store.close()
        try FileManager.default.removeItem(at: folder)
    }

    static func letter(
        for device: String = "2", from sender: String = "1", id: UUID = UUID(), deadline: Int64 = 100, size: Int = 3
    ) -> KeptLetter {
        KeptLetter(
            account: [7], device: device, key: LetterKey(sender: sender, id: id), deadline: deadline,
            body: [UInt8](repeating: 5, count: size))
    }

    private func keep(_ letter: KeptLetter) async -> LetterKeeping {
        await withCheckedContinuation { told in store.keep(letter) { told.resume(returning: $0) } }
    }

    private func read(
        _ device: String = "2", after number: Int64 = 0, count: Int = 100, bytes: Int = 1 << 20, at now: Int64 = 0,
        account: [UInt8] = [7]
    ) async -> (letters: [KeptLetter], isAll: Bool) {
        await withCheckedContinuation { told in
            store.read(for: device, of: account, after: number, count: count, bytes: bytes, at: now) {
                #expect($0 != nil)
                told.resume(returning: ($0 ?? [], $1))
            }
        }
    }

    private func remove(_ key: LetterKey, _ device: String = "2") async -> Bool? {
        await withCheckedContinuation { told in store.remove(key, for: device) { told.resume(returning: $0) } }
    }

    private func expire(at now: Int64) async -> (ended: [KeptLetter], next: Int64?) {
        await withCheckedContinuation { told in store.expire(at: now) { told.resume(returning: ($0, $1)) } }
    }

    @Test("Letters are read in the order in which they were kept, once each, by pages of number and bytes")
    func order() async throws {
        let letters = (0..<5).map { Self.letter(from: "\($0 % 2)") }
        for letter in letters { #expect(await keep(letter) == .kept) }
        #expect(await keep(letters[2]) == .kept)
        #expect(await keep(Self.letter(for: "3")) == .kept)
        let all = await read()
        #expect(all.isAll && all.letters.map(\.key) == letters.map(\.key))
        #expect(all.letters[0].body == letters[0].body && all.letters[0].account == [7])
        let page = await read(count: 2)
        #expect(!page.isAll && page.letters.map(\.key) == letters.prefix(2).map(\.key))
        let next = await read(after: page.letters[1].number, bytes: 4)
        #expect(!next.isAll && next.letters.map(\.key) == [letters[2].key])
        #expect(await read(bytes: 1).letters.map(\.key) == [letters[0].key])
        #expect(await read(account: [8]).letters.isEmpty)
        try end()
    }

    @Test("What was taken is gone, and a later letter is beyond all that were read")
    func removing() async throws {
        let (one, two) = (Self.letter(), Self.letter())
        _ = await keep(one)
        _ = await keep(two)
        let last = try #require(await read().letters.last?.number)
        #expect(await remove(two.key) == true)
        #expect(await remove(two.key) == false)
        #expect(await remove(one.key, "3") == false)
        let three = Self.letter()
        _ = await keep(three)
        #expect(await read(after: last).letters.map(\.key) == [three.key])
        #expect(await read().letters.map(\.key) == [one.key, three.key])
        try end()
    }

    @Test("One device has 1,000 letters and 10 MiB of them at most, and room again once some are taken")
    func limits() async throws {
        var letters: [KeptLetter] = []
        for _ in 0..<LetterLimits.count { letters.append(Self.letter(size: 1)) }
        for letter in letters { #expect(await keep(letter) == .kept) }
        #expect(await keep(Self.letter()) == .full)
        #expect(await keep(Self.letter(for: "3")) == .kept)
        #expect(await remove(letters[0].key) == true)
        #expect(await keep(Self.letter()) == .kept)
        #expect(await keep(Self.letter()) == .full)
        let large = Self.letter(for: "4", size: 6 << 20)
        #expect(await keep(large) == .kept)
        #expect(await keep(Self.letter(for: "4", size: 6 << 20)) == .full)
        #expect(await remove(large.key, "4") == true)
        #expect(await keep(Self.letter(for: "4", size: 6 << 20)) == .kept)
        let gone = await withCheckedContinuation { told in
            store.removeAll(for: "2") { told.resume(returning: $0) }
        }
        #expect(gone.count == LetterLimits.count && gone.allSatisfy { $0.device == "2" })
        #expect(await keep(letters[5]) == .kept)
        try end()
    }

    @Test("What has expired is not read, ends by the sweep, and makes room")
    func expiry() async throws {
        let (early, late) = (Self.letter(deadline: 50), Self.letter(deadline: 70))
        _ = await keep(late)
        _ = await keep(early)
        #expect(await read(at: 50).letters.map(\.key) == [late.key])
        let none = await expire(at: 49)
        #expect(none.ended.isEmpty && none.next == 50)
        let one = await expire(at: 50)
        #expect(one.ended.map(\.key) == [early.key] && one.next == 70)
        let other = await expire(at: 99)
        #expect(other.ended.map(\.key) == [late.key] && other.next == nil)
        let sums = try await store.queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM relay_letter_sum") }
        #expect(sums == 0)
        try end()
    }

    @Test("What is kept is there in the next run, and later letters come after it")
    func runs() async throws {
        let one = Self.letter()
        _ = await keep(one)
        try store.close()
        let path = folder.path + "/relay.sqlite"
        let again = try RelayDatabase(path: path, logger: Logger(label: "test"))
        let two = Self.letter()
        let kept = await withCheckedContinuation { told in again.keep(two) { told.resume(returning: $0) } }
        #expect(kept == .kept)
        let all = await withCheckedContinuation { told in
            again.read(for: "2", of: [7], after: 0, count: 9, bytes: 99, at: 0) { letters, _ in
                told.resume(returning: letters)
            }
        }
        #expect(all?.map(\.key) == [one.key, two.key])
        try again.close()
        try FileManager.default.removeItem(at: folder)
    }

    @Test("A store that does not know says so, of what it was to keep, read and remove")
    func failing() async throws {
        let one = Self.letter()
        _ = await keep(one)
        try await store.queue.write { try $0.execute(sql: "ALTER TABLE relay_letter RENAME TO away") }
        guard case .failed = await keep(Self.letter()) else {
            Issue.record("it was kept")
            return
        }
        #expect(await remove(one.key) == nil)
        let read = await withCheckedContinuation { told in
            store.read(for: "2", of: [7], after: 0, count: 9, bytes: 99, at: 0) { letters, _ in
                told.resume(returning: letters)
            }
        }
        #expect(read == nil)
        try end()
    }

    @Test(
        "No question of the store looks through what it does not want",
        arguments: [
            RelayDatabase.page, RelayDatabase.expired, RelayDatabase.removal,
            "SELECT min(deadline) FROM relay_letter", "DELETE FROM relay_letter WHERE device = ?",
            "SELECT count, bytes FROM relay_letter_sum WHERE device = ?",
        ])
    func plans(question: String) throws {
        let plan = try store.queue.read { database in
            try Row.fetchAll(
                database,
                sql: "EXPLAIN QUERY PLAN "
                    + question.replacing("?", with: "1")
            ).map { $0["detail"] as String }
        }
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
        try end()
    }
}

import AldabaTestSupport
import Foundation
import GRDB
import Logging
import PostgresTestSupport
import PushCore
import RelayProtocol
import Testing

@testable import RelayServer

@Suite(PostgresServer.Shared(), EachRelayDatabase()) struct DocumentDatabaseTests {
    private let folder: TemporaryFolder
    private let store: RelayDatabase

    init() throws {
        folder = try TemporaryFolder()
        store = try RelayDatabases.open(in: folder)
    }

    private func ask(_ ask: RelayDocumentRequest, of account: [UInt8] = [7], at now: Int64 = 0) async
        -> RelayDocumentAnswer
    {
        await withCheckedContinuation { told in
            store.perform(ask, of: account, at: Timestamp(rawValue: now)) { told.resume(returning: $0) }
        }
    }

    private func key(_ number: Int) -> [UInt8] {
        (0..<24).map { _ in 0 } + withUnsafeBytes(of: Int64(number).bigEndian) { Array($0) }
    }

    private func put(
        _ number: Int, _ revision: Int64, over: Int64, size: Int = 3, isRemoved: Bool = false,
        of account: [UInt8] = [7],
        at now: Int64 = 0
    ) async -> RelayDocumentAnswer {
        let document = RelaySealedDocument(
            key: key(number), revision: revision, body: [UInt8](repeating: 5, count: size), isRemoved: isRemoved)
        return await ask(.put(document, over: over), of: account, at: now)
    }

    private func numbers(_ answer: RelayDocumentAnswer) throws -> [Int64] {
        guard case .documents(let documents, _, _) = answer else { throw Unexpected() }
        return documents.map(\.number)
    }

    private struct Unexpected: Error {}

    @Test("A document is put over its present revision alone, also over the one that its removal was")
    func revisions() async throws {
        #expect(await put(1, 1, over: 0) == .kept(revision: 1))
        #expect(await put(1, 1, over: 0) == .conflict(present: 1, isRemoved: false))
        #expect(await put(1, 2, over: 1) == .kept(revision: 2))
        #expect(await put(1, 3, over: 2, isRemoved: true) == .kept(revision: 3))
        #expect(await put(1, 4, over: 3, isRemoved: true) == .conflict(present: 3, isRemoved: true))
        #expect(await put(1, 1, over: 0) == .conflict(present: 3, isRemoved: true))
        #expect(await put(1, 4, over: 3) == .kept(revision: 4))
        #expect(await put(1, 1, over: 0, of: [8]) == .kept(revision: 1))
        try store.close()
    }

    @Test("What was put is listed by pages, with a higher number than all before, and of the account alone")
    func pages() async throws {
        for number in 0..<40 { _ = await put(number, 1, over: 0) }
        _ = await put(0, 2, over: 1)
        _ = await put(0, 1, over: 0, of: [8])
        let first = await ask(.list(after: 0))
        let page = try numbers(first)
        #expect(page == Array(2...33).map(Int64.init))
        #expect(try numbers(await ask(.list(after: 33))) == Array(34...41).map(Int64.init))
        #expect(await ask(.list(after: 41)) == .documents([], isAll: true, last: 41))
        #expect(try numbers(await ask(.get(key: key(0)))) == [41])
        #expect(try numbers(await ask(.get(key: key(99)))) == [])
        try store.close()
    }

    @Test("An account has so many documents and bytes of them at most; what is removed makes room")
    func limits() async throws {
        for number in 0..<DocumentLimits.count { _ = await put(number, 1, over: 0) }
        #expect(await put(5000, 1, over: 0) == .refused(.full))
        #expect(await put(3, 2, over: 1) == .kept(revision: 2))
        #expect(await put(4, 2, over: 1, isRemoved: true) == .kept(revision: 2))
        #expect(await put(5000, 1, over: 0) == .kept(revision: 1))
        #expect(await put(5001, 1, over: 0, size: DocumentLimits.bytes + 1, of: [8]) == .refused(.full))
        try store.close()
    }

    @Test("Numbers of what was removed are kept for 28 days, and documents for 90 after their devices were seen last")
    func sweep() async throws {
        func sweep(at now: Int64) async -> [[UInt8]]? {
            await withCheckedContinuation { told in
                store.sweep(at: Timestamp(rawValue: now)) { unseen, _ in told.resume(returning: unseen) }
            }
        }
        _ = await put(1, 1, over: 0)
        _ = await put(1, 2, over: 1, isRemoved: true)
        _ = await put(2, 1, over: 0)
        #expect(await sweep(at: DocumentLimits.removedAge - 1) == [])
        #expect(await put(1, 1, over: 0) == .conflict(present: 2, isRemoved: true))
        #expect(await sweep(at: DocumentLimits.removedAge) == [])
        #expect(await put(3, 1, over: 0) == .kept(revision: 1))
        #expect(await put(1, 1, over: 0) == .kept(revision: 1))
        store.seen([7], at: Timestamp(rawValue: 10_000_000))
        #expect(await sweep(at: DocumentLimits.age + 9_999_999) == [])
        #expect(await sweep(at: DocumentLimits.age + 10_000_000) == [[7]])
        #expect(await forget(at: DocumentLimits.age + 10_000_000) == true)
        #expect(try numbers(await ask(.list(after: 0))) == [])
        #expect(await sweep(at: DocumentLimits.age + 10_000_000) == [])
        try store.close()
    }

    private func forget(at now: Int64) async -> Bool? {
        await withCheckedContinuation { told in
            store.forget([7], at: Timestamp(rawValue: now)) { told.resume(returning: $0) }
        }
    }

    @Test("What is put while an account's documents are being deleted stays, and counts with what was not deleted yet")
    func putMeanwhile() async throws {
        for number in 0..<300 { _ = await put(number, 1, over: 0) }
        #expect(await put(299, 2, over: 1, isRemoved: true) == .kept(revision: 2))
        let now = DocumentLimits.age
        #expect(await forget(at: now) == false)
        #expect(await put(1000, 1, over: 0, at: now) == .kept(revision: 1))
        #expect(await forget(at: now) == true)
        #expect(try numbers(await ask(.list(after: 0))).count == 32)
        #expect(try numbers(await ask(.get(key: key(1000)))) == [302])
        #expect(try numbers(await ask(.get(key: key(256)))) == [257])
        let left = 299 - 256 + 1
        for number in left..<DocumentLimits.count {
            #expect(await put(2000 + number, 1, over: 0, at: now) == .kept(revision: 1))
        }
        #expect(await put(9000, 1, over: 0, at: now) == .refused(.full))
        // Away once more, all of them go.
        let later = now + DocumentLimits.age
        for _ in 0..<4 { _ = await forget(at: later) }
        #expect(await ask(.list(after: 0)) == .documents([], isAll: true, last: 0))
        #expect(await put(1, 1, over: 0, at: later) == .kept(revision: 1))
        try store.close()
    }
}

/// Documents in a file.
@Suite struct DocumentFileTests {
    @Test(
        "No question about documents reads more than it tells",
        arguments: [
            RelayDatabase.longRemoved, RelayDatabase.oldestRemoved, RelayDatabase.unseen, RelayDatabase.first,
            RelayDatabase.present, RelayDatabase.documentPage,
            "DELETE FROM relay_document WHERE account = ? AND key = ?",
            "UPDATE relay_document_sum SET seen_at = 1 WHERE account = ? AND seen_at < ?",
            "SELECT count, bytes, removed FROM relay_document_sum WHERE account = ?",
        ])
    func plans(question: String) throws {
        let folder = try TemporaryFolder()
        let store = try RelayDatabase(path: folder.path("relay.sqlite"), logger: Logger(label: "test"))
        let plan = try store.file.read { database in
            try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + question.replacing("?", with: "1")).map {
                $0["detail"] as String
            }
        }
        #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(plan)")
        try store.close()
    }
}

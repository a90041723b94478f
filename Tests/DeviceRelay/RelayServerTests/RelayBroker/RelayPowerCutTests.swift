import AldabaTestSupport
import Foundation
import GRDB
import Logging
import PowerCut
import PushCore
import RelayProtocol
import Testing

@testable import RelayServer

/// The power fails at any moment: queued messages and documents that were said to be kept are there, once, and what was said to be gone is not.
@Suite struct RelayPowerCutTests {
    @Test("What was said to be kept is there after a power cut, and what was said to be gone is not")
    func everyCut() async throws {
        let folder = try TemporaryFolder()
        let recording = DiskRecording(folder: folder.url.path)
        let said = try await RelayWorkload.run(path: folder.path("relay.sqlite")) { recording.count }
        let changes = recording.end()
        #expect(
            said.queuedMessages.count == RelayWorkload.rounds * 3 && said.documents.count > RelayWorkload.rounds * 2)
        var looked = 0
        try await PowerCuts.each(of: changes, seed: 15) { left, made in
            looked += 1
            let store = try RelayDatabase(path: left.path("relay.sqlite"), logger: Logger(label: "test"))
            let damage = try await store.file.read { try String.fetchAll($0, sql: "PRAGMA integrity_check") }
            #expect(damage == ["ok"], "after \(made) changes")
            try await said.check(store, after: made)
            try store.close()
        }
        #expect(looked > changes.count)
    }
}

/// What was asked and what was said of it, with how much had been written by then.
private struct Said {
    struct Step {
        var begun: Int
        var told: Int
    }

    /// When each queued message was kept, and when it was taken.
    var queuedMessages: [QueuedMessageKey: (kept: Step, taken: Step?)] = [:]
    /// What was put in the place of what, the first revision first.
    var documents: [[UInt8]: [(document: RelaySealedDocument, step: Step)]] = [:]

    func check(_ store: RelayDatabase, after made: Int) async throws {
        let kept: [Row] = try store.file.read { database in
            try Row.fetchAll(database, sql: "SELECT sender, id FROM relay_letter")
        }
        let there = kept.map { "\($0["sender"] as String) \(($0["id"] as Data).base64EncodedString())" }
        #expect(Set(there).count == there.count, "a queued message is there twice")
        for (key, steps) in queuedMessages where steps.kept.told <= made {
            let isThere = there.contains(
                "\(key.sender) \(withUnsafeBytes(of: key.id.uuid) { Data($0) }.base64EncodedString())")
            if let taken = steps.taken, taken.told <= made { #expect(!isThere, "it was taken, after \(made) changes") }
            if made < steps.taken?.begun ?? .max { #expect(isThere, "it was kept and is lost after \(made) changes") }
        }
        for (key, puts) in documents {
            let last = puts.last { $0.step.told <= made }?.document.revision ?? 0
            let begun = puts.last { $0.step.begun <= made }?.document.revision ?? 0
            let answer = await withCheckedContinuation { told in
                store.perform(.get(key: key), of: [7], at: Timestamp(rawValue: 0)) { told.resume(returning: $0) }
            }
            guard case .documents(let found, _, _) = answer, found.count <= 1 else {
                Issue.record("\(answer) after \(made) changes")
                continue
            }
            let revision = found.first?.revision ?? 0
            #expect((last...max(last, begun)).contains(revision), "after \(made) changes")
            var expected = puts.first { $0.document.revision == revision }?.document
            expected?.number = found.first?.number ?? 0
            #expect(found.first == expected, "after \(made) changes")
        }
        try checkSum(store, made)
    }

    /// The account's sum is that of its documents.
    private func checkSum(_ store: RelayDatabase, _ made: Int) throws {
        let (counted, sum): (Row?, Row?) = try store.file.read { database in
            (
                try Row.fetchOne(
                    database,
                    sql: """
                        SELECT count(*) FILTER (WHERE removed_at IS NULL) AS count,
                            coalesce(sum(length(body)) FILTER (WHERE removed_at IS NULL), 0) AS bytes,
                            count(removed_at) AS removed
                        FROM relay_document
                        """),
                try Row.fetchOne(database, sql: "SELECT count, bytes, removed FROM relay_document_sum")
            )
        }
        for column in ["count", "bytes", "removed"] {
            let kept: Int = sum?[column] ?? 0
            #expect(kept == counted?[column], "\(column) after \(made) changes")
        }
    }
}

/// A short life of a server: queued messages that come and are taken, documents that are put, put over, and removed.
private struct RelayWorkload {
    static let rounds = 3
    let store: RelayDatabase
    let position: @Sendable () -> Int
    var said = Said()

    static func run(path: String, position: @escaping @Sendable () -> Int) async throws -> Said {
        let store = try RelayDatabase(path: path, logger: Logger(label: "test"))
        // The log is copied into the database several times meanwhile.
        try await store.file.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_autocheckpoint = 30") }
        var work = RelayWorkload(store: store, position: position)
        for round in 0..<rounds { try await work.round(round) }
        try store.close()
        return work.said
    }

    private mutating func round(_ round: Int) async throws {
        let queuedMessages = (0..<3).map { QueuedMessageKey(sender: "\($0)", id: UUID()) }
        for key in queuedMessages { try await keep(key) }
        for number in 0..<3 { try await put(round * 3 + number, removing: false) }
        try await take(queuedMessages[0])
        try await put(round * 3, removing: false)
        try await put(round * 3 + 1, removing: true)
        // What was removed in the round before is put anew.
        if round > 0 { try await put(round * 3 - 2, removing: false) }
        try await take(queuedMessages[1])
    }

    private mutating func keep(_ key: QueuedMessageKey) async throws {
        let begun = position()
        let queuedMessage = StoredMessage(
            account: [7], device: "2", key: key, deadline: 1000, body: [UInt8](repeating: 5, count: 700))
        let told = await withCheckedContinuation { done in
            store.keep(queuedMessage) { [position] in done.resume(returning: ($0, position())) }
        }
        #expect(told.0 == .kept)
        said.queuedMessages[key] = (Said.Step(begun: begun, told: told.1), nil)
    }

    private mutating func take(_ key: QueuedMessageKey) async throws {
        let begun = position()
        let told = await withCheckedContinuation { done in
            store.remove(key, for: "2") { [position] in done.resume(returning: ($0, position())) }
        }
        #expect(told.0 == true)
        said.queuedMessages[key]?.taken = Said.Step(begun: begun, told: told.1)
    }

    private mutating func put(_ number: Int, removing isRemoved: Bool) async throws {
        let key = [UInt8](repeating: UInt8(number), count: RelaySealedDocument.keyLength)
        let over = said.documents[key]?.last?.document.revision ?? 0
        let document = RelaySealedDocument(
            key: key, revision: over + 1, body: [UInt8](repeating: UInt8(over + 1), count: 600 + number),
            isRemoved: isRemoved)
        let begun = position()
        let told = await withCheckedContinuation { done in
            store.perform(.put(document, over: over), of: [7], at: Timestamp(rawValue: 0)) { [position] in
                done.resume(returning: ($0, position()))
            }
        }
        #expect(told.0 == .kept(revision: over + 1))
        said.documents[key, default: []].append((document, Said.Step(begun: begun, told: told.1)))
    }
}

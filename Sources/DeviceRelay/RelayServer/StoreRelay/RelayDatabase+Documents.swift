import Foundation
import GRDB
import PushCore
import RelayProtocol
import SQLiteStore

extension RelayDatabase: DocumentStore {
    /// Puts, reads or lists documents, in the order of the calls.
    package func perform(
        _ ask: RelayDocumentRequest, of account: RelayDirectory.AccountID, at now: Timestamp,
        then complete: @escaping @Sendable (RelayDocumentAnswer) -> Void
    ) {
        var size: Int?
        if case .put(let document, _) = ask { size = document.body.count }
        let job = QueuedMessageJobs.Job(size: size) { database, _ in
            let answer: RelayDocumentAnswer
            switch ask {
            case .put(let document, let over):
                answer = try Self.put(document, over: over, of: Data(account), at: now, database)
            case .get(let key): answer = try Self.document(key, of: Data(account), database)
            case .list(let number, _): answer = try Self.documents(after: number, of: Data(account), database)
            }
            return { complete(answer) }
        } fail: { [logger, failures] error in
            if !(error is DatabaseFault) {
                failures.documents.log(error, to: logger)
            }
            complete(.refused(.notKept))
        }
        add(job)
    }

    /// Records that a device of the account is present, once an hour.
    package func seen(_ account: RelayDirectory.AccountID, at now: Timestamp) {
        let job = QueuedMessageJobs.Job { database, _ in
            try database.execute(
                sql: "UPDATE relay_document_sum SET seen_at = ? WHERE account = ? AND seen_at < ?",
                arguments: [now.rawValue, Data(account), now.adding(milliseconds: -3_600_000).rawValue])
            return {}
        } fail: { _ in
            // A failure is repaired by the next hello, within the days for which documents are kept.
        }
        add(job)
    }

    /// Deletes at most 256 numbers, and returns at most 16 accounts.
    package func sweep(
        at now: Timestamp, then complete: @escaping @Sendable ([RelayDirectory.AccountID]?, Bool) -> Void
    ) {
        let job = QueuedMessageJobs.Job { database, _ in
            let rows = try Row.fetchAll(
                database, sql: Self.longRemoved,
                arguments: [now.adding(milliseconds: -DocumentLimits.removedAge).rawValue])
            for row in rows { try Self.forgetRemoved(row["number"], of: row["account"], database) }
            let unseen = try Data.fetchAll(
                database, sql: Self.unseen, arguments: [now.adding(milliseconds: -DocumentLimits.age).rawValue])
            let isAll = rows.count < 256
            return { complete(unseen.map { [UInt8]($0) }, isAll) }
        } fail: { _ in
            complete(nil, true)
        }
        add(job)
    }

    /// Deletes at most 256 documents, and subtracts them from the account's sum. A device that returns in between finds
    /// both consistent.
    package func forget(
        _ account: RelayDirectory.AccountID, at now: Timestamp, then complete: @escaping @Sendable (Bool?) -> Void
    ) {
        let account = Data(account)
        let job = QueuedMessageJobs.Job { database, _ in
            let isAway = try Bool.fetchOne(
                database, sql: "SELECT seen_at <= ? FROM relay_document_sum WHERE account = ?",
                arguments: [now.adding(milliseconds: -DocumentLimits.age).rawValue, account])
            guard isAway ?? false else { return { complete(true) } }
            let isAll = try Self.forgetFirst(of: account, database)
            return { complete(isAll) }
        } fail: { _ in
            complete(nil)
        }
        add(job)
    }

    // MARK: Steps

    static let longRemoved = """
        SELECT number, account FROM relay_document WHERE removed_at IS NOT NULL AND removed_at <= ?
        ORDER BY removed_at LIMIT 256
        """
    static let oldestRemoved = """
        SELECT number FROM relay_document WHERE account = ? AND removed_at IS NOT NULL ORDER BY removed_at LIMIT 1
        """
    static let unseen = "SELECT account FROM relay_document_sum WHERE seen_at <= ? ORDER BY seen_at LIMIT 16"
    static let first = """
        SELECT number, length(body) AS size, removed_at FROM relay_document WHERE account = ? ORDER BY number LIMIT 256
        """
    static let present = """
        SELECT number, key, revision, body, removed_at FROM relay_document WHERE account = ? AND key = ?
        """
    static let documentPage = """
        SELECT number, key, revision, body, removed_at FROM relay_document WHERE account = ? AND number > ?
        ORDER BY number LIMIT ?
        """

    /// The count and size of an account's stored documents.
    private struct Sum {
        var count = 0
        var bytes = 0
        var removed = 0
    }

    private static func sum(of account: Data, _ database: Database) throws -> Sum {
        let row = try Row.fetchOne(
            database, sql: "SELECT count, bytes, removed FROM relay_document_sum WHERE account = ?",
            arguments: [account])
        return row.map { Sum(count: $0["count"], bytes: $0["bytes"], removed: $0["removed"]) } ?? Sum()
    }

    private static func put(
        _ document: RelaySealedDocument, over: Int64, of account: Data, at now: Timestamp, _ database: Database
    ) throws -> RelayDocumentAnswer {
        let old = try Row.fetchOne(database, sql: present, arguments: [account, Data(document.key)])
        let revision = old?["revision"] as Int64? ?? 0
        let isRemoved = old.map { ($0["removed_at"] as Int64?) != nil } ?? true
        guard revision == over else { return .conflict(present: revision, isRemoved: isRemoved) }
        // A missing document cannot be removed.
        guard !document.isRemoved || !isRemoved else { return .conflict(present: revision, isRemoved: true) }
        var sum = try sum(of: account, database)
        if old != nil, isRemoved { sum.removed -= 1 }
        if !isRemoved {
            sum.count -= 1
            sum.bytes -= (old?["body"] as Data? ?? Data()).count
        }
        if document.isRemoved {
            sum.removed += 1
        } else {
            sum.count += 1
            sum.bytes += document.body.count
            guard sum.count <= DocumentLimits.count, sum.bytes <= DocumentLimits.bytes else { return .refused(.full) }
        }
        // A replaced document gets a higher number than all others.
        try database.execute(
            sql: "DELETE FROM relay_document WHERE account = ? AND key = ?", arguments: [account, Data(document.key)])
        try database.execute(
            sql: "INSERT INTO relay_document (account, key, revision, body, removed_at) VALUES (?, ?, ?, ?, ?)",
            arguments: [
                account, Data(document.key), document.revision, Data(document.body),
                document.isRemoved ? now.rawValue : nil,
            ])
        if sum.removed > DocumentLimits.removed,
            let oldest = try Int64.fetchOne(database, sql: oldestRemoved, arguments: [account])
        {
            try database.execute(sql: "DELETE FROM relay_document WHERE number = ?", arguments: [oldest])
            sum.removed -= 1
        }
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO relay_document_sum (account, count, bytes, removed, seen_at)
                VALUES (?, ?, ?, ?, ?)
                """,
            arguments: [account, sum.count, sum.bytes, sum.removed, now.rawValue])
        return .kept(revision: document.revision)
    }

    private static func forgetRemoved(_ number: Int64, of account: Data, _ database: Database) throws {
        try database.execute(sql: "DELETE FROM relay_document WHERE number = ?", arguments: [number])
        try database.execute(
            sql: "UPDATE relay_document_sum SET removed = removed - 1 WHERE account = ?", arguments: [account])
    }

    private static func forgetFirst(of account: Data, _ database: Database) throws -> Bool {
        let rows = try Row.fetchAll(database, sql: first, arguments: [account])
        var sum = try sum(of: account, database)
        for row in rows {
            try database.execute(
                sql: "DELETE FROM relay_document WHERE number = ?", arguments: [row["number"] as Int64])
            if (row["removed_at"] as Int64?) == nil {
                sum.count -= 1
                sum.bytes -= row["size"]
            } else {
                sum.removed -= 1
            }
        }
        guard rows.count == 256 else {
            try database.execute(sql: "DELETE FROM relay_document_sum WHERE account = ?", arguments: [account])
            return true
        }
        try database.execute(
            sql: "UPDATE relay_document_sum SET count = ?, bytes = ?, removed = ? WHERE account = ?",
            arguments: [sum.count, sum.bytes, sum.removed, account])
        return false
    }

    private static func document(
        _ key: [UInt8], of account: Data, _ database: Database
    ) throws -> RelayDocumentAnswer {
        let row = try Row.fetchOne(database, sql: present, arguments: [account, Data(key)])
        return .documents(row.map { [sealed($0)] } ?? [], isAll: true, last: try last(database))
    }

    private static func documents(
        after number: Int64, of account: Data, _ database: Database
    ) throws -> RelayDocumentAnswer {
        let (count, bytes) = DocumentLimits.page
        let rows = try Row.fetchCursor(database, sql: documentPage, arguments: [account, number, count + 1])
        var documents: [RelaySealedDocument] = []
        var size = 0
        while let row = try rows.next() {
            let document = sealed(row)
            size += document.body.count
            guard documents.count < count, documents.isEmpty || size <= bytes else {
                return .documents(documents, isAll: false, last: try last(database))
            }
            documents.append(document)
        }
        return .documents(documents, isAll: true, last: try last(database))
    }

    /// The highest number that was ever assigned.
    private static func last(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'relay_document'") ?? 0
    }

    private static func sealed(_ row: Row) -> RelaySealedDocument {
        RelaySealedDocument(
            key: [UInt8](row["key"] as Data), revision: row["revision"],
            body: [UInt8](row["body"] as Data), isRemoved: (row["removed_at"] as Int64?) != nil, number: row["number"])
    }
}

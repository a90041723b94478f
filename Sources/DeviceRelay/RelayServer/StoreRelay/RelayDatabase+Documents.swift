import PushCore
import PushServer
import RelayProtocol

extension RelayDatabase: DocumentStore {
    /// Puts, reads or lists documents, in the order of the calls.
    package func perform(
        _ ask: RelayDocumentRequest, of account: RelayDirectory.AccountID, at now: Timestamp,
        then complete: @escaping @Sendable (RelayDocumentAnswer) -> Void
    ) {
        var size: Int?
        if case .put(let document, _) = ask { size = document.body.count }
        let job = RelayJobs.Job(size: size, locks: [account]) { sql in
            let answer: RelayDocumentAnswer
            switch ask {
            case .put(let document, let over):
                answer = try Self.put(document, over: over, of: account, at: now, sql)
            case .get(let key): answer = try Self.document(key, of: account, sql)
            case .list(let number, _): answer = try Self.documents(after: number, of: account, sql)
            }
            return { complete(answer) }
        } fail: { [weak self] error in
            if let self { log(error, as: failures.documents) }
            complete(.refused(.notKept))
        }
        add(job)
    }

    /// Records that a device of the account is present, once an hour.
    package func seen(_ account: RelayDirectory.AccountID, at now: Timestamp) {
        let job = RelayJobs.Job(locks: [account]) { sql in
            try sql.run(
                "UPDATE relay_document_sum SET seen_at = ? WHERE account = ? AND seen_at < ?", now, account,
                now.adding(milliseconds: -3_600_000))
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
        let job = RelayJobs.Job { sql in
            let rows = try sql.rows(Self.longRemoved, now.adding(milliseconds: -DocumentLimits.removedAge))
            for row in rows { try Self.forgetRemoved(try row["number"], of: try row["account"], sql) }
            let unseen = try sql.rows(Self.unseen, now.adding(milliseconds: -DocumentLimits.age))
            let (accounts, isAll) = (try unseen.map { try $0["account"] as [UInt8] }, rows.count < 256)
            return { complete(accounts, isAll) }
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
        let job = RelayJobs.Job(locks: [account]) { sql in
            let row = try sql.row(
                "SELECT seen_at <= ? AS is_away FROM relay_document_sum WHERE account = ?",
                now.adding(milliseconds: -DocumentLimits.age), account)
            guard let row, try row["is_away"] else { return { complete(true) } }
            if sql.isShared, try sql.row(Self.connected, account) != nil {
                try sql.run("UPDATE relay_document_sum SET seen_at = ? WHERE account = ?", now, account)
                return { complete(true) }
            }
            let isAll = try Self.forgetFirst(of: account, sql)
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
    /// A device of an account that has a session with any server.
    static let connected = "SELECT device FROM relay_device WHERE account = ? AND node IS NOT NULL LIMIT 1"
    static let present = """
        SELECT number, key, revision, body, removed_at FROM relay_document WHERE account = ? AND key = ?
        """
    static let documentPage = """
        SELECT number, key, revision, body, removed_at FROM relay_document WHERE account = ? AND number > ?
        ORDER BY number LIMIT ?
        """

    /// The count and size of an account's stored documents.
    private struct DocumentTotals {
        var count = 0
        var bytes = 0
        var removed = 0
        /// The highest number of a document.
        var last: Int64 = 0

        init(_ row: (any SQLRow)?) throws {
            guard let row else { return }
            (count, bytes, removed) = (try row["count"], try row["bytes"], try row["removed"])
            last = try row["last"]
        }

        func save(account: [UInt8], seenAt now: Timestamp?, in sql: any SQLConnection) throws {
            try sql.run(
                """
                UPDATE relay_document_sum SET count = ?, bytes = ?, removed = ?, last = ?, seen_at = coalesce(?, seen_at)
                WHERE account = ?
                """, count, bytes, removed, last, now, account)
        }
    }

    /// Makes the sums of an account, or locks them: documents of one account are numbered one after the other.
    private static let lockedSum = """
        INSERT INTO relay_document_sum (account, count, bytes, removed, seen_at) VALUES (?, 0, 0, 0, ?)
        ON CONFLICT (account) DO UPDATE SET count = relay_document_sum.count RETURNING count, bytes, removed, last
        """

    private static func put(
        _ document: RelaySealedDocument, over: Int64, of account: [UInt8], at now: Timestamp, _ sql: any SQLConnection
    ) throws -> RelayDocumentAnswer {
        var sum = try DocumentTotals(try sql.row(lockedSum, account, now))
        let old = try sql.row(present, account, document.key).map { try sealed($0) }
        let revision = old?.revision ?? 0
        let isRemoved = old?.isRemoved ?? true
        guard revision == over else { return .conflict(present: revision, isRemoved: isRemoved) }
        // A missing document cannot be removed.
        guard !document.isRemoved || !isRemoved else { return .conflict(present: revision, isRemoved: true) }
        if old != nil, isRemoved { sum.removed -= 1 }
        if !isRemoved {
            sum.count -= 1
            sum.bytes -= old?.body.count ?? 0
        }
        if document.isRemoved {
            sum.removed += 1
        } else {
            sum.count += 1
            sum.bytes += document.body.count
            guard sum.count <= DocumentLimits.count, sum.bytes <= DocumentLimits.bytes else { return .refused(.full) }
        }
        // A replaced document gets a higher number than all others.
        try sql.run("DELETE FROM relay_document WHERE account = ? AND key = ?", account, document.key)
        let new = try sql.row(
            """
            INSERT INTO relay_document (account, key, revision, body, removed_at) VALUES (?, ?, ?, ?, ?)
            RETURNING number
            """, account, document.key, document.revision, document.body, document.isRemoved ? now : nil)
        sum.last = try new?["number"] ?? sum.last
        if sum.removed > DocumentLimits.removed, let oldest = try sql.row(oldestRemoved, account) {
            try sql.run("DELETE FROM relay_document WHERE number = ?", try oldest["number"] as Int64)
            sum.removed -= 1
        }
        try sum.save(account: account, seenAt: now, in: sql)
        if sql.isShared { _ = try revise(account, sql) }
        return .kept(revision: document.revision)
    }

    private static func forgetRemoved(_ number: Int64, of account: [UInt8], _ sql: any SQLConnection) throws {
        // Another server may have deleted it meanwhile.
        guard try sql.run("DELETE FROM relay_document WHERE number = ?", number) > 0 else { return }
        try sql.run("UPDATE relay_document_sum SET removed = removed - 1 WHERE account = ?", account)
    }

    private static func forgetFirst(of account: [UInt8], _ sql: any SQLConnection) throws -> Bool {
        let sumRow = try sql.row(
            "UPDATE relay_document_sum SET count = count WHERE account = ? RETURNING count, bytes, removed, last",
            account)
        var sum = try DocumentTotals(sumRow)
        let rows = try sql.rows(first, account)
        for row in rows {
            try sql.run("DELETE FROM relay_document WHERE number = ?", try row["number"] as Int64)
            if try row["removed_at"] as Int64? == nil {
                sum.count -= 1
                sum.bytes -= try row["size"]
            } else {
                sum.removed -= 1
            }
        }
        guard rows.count == 256 else {
            try sql.run("DELETE FROM relay_document_sum WHERE account = ?", account)
            return true
        }
        try sum.save(account: account, seenAt: nil, in: sql)
        return false
    }

    private static func document(
        _ key: [UInt8], of account: [UInt8], _ sql: any SQLConnection
    ) throws -> RelayDocumentAnswer {
        let row = try sql.row(present, account, key)
        return .documents(try row.map { [try sealed($0)] } ?? [], isAll: true, last: try last(of: account, sql))
    }

    private static func documents(
        after number: Int64, of account: [UInt8], _ sql: any SQLConnection
    ) throws -> RelayDocumentAnswer {
        let (count, bytes) = DocumentLimits.page
        var documents: [RelaySealedDocument] = []
        var size = 0
        for row in try sql.rows(documentPage, account, number, count + 1) {
            let document = try sealed(row)
            size += document.body.count
            guard documents.count < count, documents.isEmpty || size <= bytes else {
                return .documents(documents, isAll: false, last: try last(of: account, sql))
            }
            documents.append(document)
        }
        return .documents(documents, isAll: true, last: try last(of: account, sql))
    }

    /// The highest number of a document of the account.
    private static func last(of account: [UInt8], _ sql: any SQLConnection) throws -> Int64 {
        try sql.row("SELECT last FROM relay_document_sum WHERE account = ?", account)?["last"] ?? 0
    }

    private static func sealed(_ row: any SQLRow) throws -> RelaySealedDocument {
        RelaySealedDocument(
            key: try row["key"], revision: try row["revision"], body: try row["body"],
            isRemoved: try row["removed_at"] as Int64? != nil, number: try row["number"])
    }
}

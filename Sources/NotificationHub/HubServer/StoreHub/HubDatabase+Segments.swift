import Foundation
import GRDB
import HubProtocol
import PushCore

/// Broadcast parts of sends, and their members.
extension HubDatabase {

    /// Reads the first part without a broadcast, or without a successor.
    package func nextPart(ofSend send: Int64) async throws -> SendSegment? {
        try await pool.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    \(Self.parts) WHERE send = ? AND withdrawn_at IS NULL AND (broadcast IS NULL OR closure = ?)
                    ORDER BY number LIMIT 1
                    """, arguments: [send, PartClosure.closed.rawValue]
            ).map(SendSegment.init)
        }
    }

    /// Reads the rows, without the audiences.
    package func parts(ofSend send: Int64) async throws -> [SendSegment] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "\(Self.parts) WHERE send = ? ORDER BY number", arguments: [send])
                .map(SendSegment.init)
        }
    }

    /// Searches the hub's parts that make copies now. A part that cannot be read may contain any installation.
    package func openParts(with installation: UInt32, hub: Int64, at now: Timestamp) async throws -> [SendSegment] {
        try await pool.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    \(Self.parts) WHERE send IN (SELECT number FROM send WHERE hub = ?)
                        AND broadcast IS NOT NULL AND withdrawn_at IS NULL AND expires_at > ?
                    """, arguments: [hub, now.rawValue]
            ).map(SendSegment.init).filter { part in
                do {
                    return try self.audience(ofPart: part.number, database).contains(installation)
                } catch is UnreadableSend { return true }
            }
        }
    }

    private static let parts = """
        SELECT number, send, locale, variant, count, broadcast, expires_at, withdrawn_at, followed, closure
        FROM send_part
        """

    /// Reads the audience; those of recently used parts are cached.
    package func audience(of part: SendSegment) async throws -> Bitmap {
        try await pool.read { try self.audience(ofPart: part.number, $0) }
    }

    func audience(ofPart number: Int64, _ database: Database) throws -> Bitmap {
        // The count of a part decreases each time that members are moved out.
        let statement = try database.cachedStatement(sql: "SELECT count FROM send_part WHERE number = ?")
        let count = try Int.fetchOne(statement, arguments: [number])
        if let known = partAudiences.withLock({ $0[number] }), known.count == count { return known.audience }
        let blob = try Data.fetchOne(
            database, sql: "SELECT audience FROM send_part WHERE number = ?", arguments: [number])
        let audience = try blob.map { try Bitmap(stored: $0, of: "part") } ?? Bitmap()
        partAudiences.withLock { known in
            if known.count >= Self.mostPartAudiences { known.removeAll() }
            known[number] = (count, audience)
        }
        return audience
    }

    /// Records the broadcast's id.
    package func setBroadcast(_ broadcast: TakenBroadcast, of part: SendSegment) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send_part SET broadcast = ?, expires_at = ? WHERE number = ?",
                arguments: [broadcast.id.rawValue, broadcast.expiresAt.rawValue, part.number])
        }
    }

    /// Checks each member without a row.
    package func remaining(of part: SendSegment) async throws -> Bitmap {
        try await pool.read { database in
            let members = try self.audience(ofPart: part.number, database)
                .subtracting(try RecipientRows.installationsWithRow(ofSend: part.send, database))
            let statement = try database.cachedStatement(
                sql: """
                    SELECT 1 FROM installation WHERE number = ? AND platform = 'aldaba' AND channel IS NOT NULL
                        AND fault IS NULL AND channel_moment < (SELECT moment FROM send_part WHERE number = ?)
                    """)
            var found = Bitmap()
            var next: UInt32? = 0
            while let start = next {
                let numbers = members.numbers(from: start, limit: 10_000)
                for number in numbers
                where try Int.fetchOne(statement, arguments: [Int64(number), part.number]) != nil {
                    found.insert(number)
                }
                next = numbers.last.flatMap { $0 < .max ? $0 + 1 : nil }
            }
            return found
        }
    }

    /// Updates the row and adds another.
    package func divide(_ part: SendSegment, leaving rest: Bitmap) async throws {
        try await pool.write { database in
            let left = try self.audience(ofPart: part.number, database).subtracting(rest)
            try database.execute(
                sql: "UPDATE send_part SET closure = ?, audience = ?, count = ? WHERE number = ? AND closure = ?",
                arguments: [
                    PartClosure.succeeded.rawValue, Data(left.portable), left.count, part.number,
                    PartClosure.closed.rawValue,
                ])
            guard database.changesCount == 1, !rest.isEmpty else { return }
            try database.execute(
                sql: """
                    INSERT INTO send_part(send, moment, locale, variant, audience, count, expires_at)
                    SELECT send, moment, locale, variant, ?, ?, expires_at FROM send_part WHERE number = ?
                    """, arguments: [Data(rest.portable), rest.count, part.number])
        }
    }

    /// Deletes the row.
    package func drop(_ part: SendSegment) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM send_part WHERE number = ? AND broadcast IS NULL", arguments: [part.number])
        }
    }

    /// Records the time of the withdrawal.
    package func noteWithdrawn(_ part: SendSegment, at now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send_part SET withdrawn_at = ? WHERE number = ?", arguments: [now.rawValue, part.number])
        }
    }

    /// Writes the rows, unless a concurrent call has gone further.
    package func storeRecipients(
        _ recipients: [SendRecipient], of part: SendSegment, upTo copy: NotificationID
    ) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE send_part SET followed = ? WHERE number = ? AND followed IS ?",
                arguments: [copy.rawValue, part.number, part.followed?.rawValue])
            guard database.changesCount == 1 else { return }
            try RecipientRows.write(recipients, of: part.send, database)
        }
    }

    // MARK: Owners of device tokens

    /// Reads one installation for each token.
    package func owners(_ tokens: [String], hub: Int64) async throws -> [String: StoredInstallation] {
        try await pool.read { database in
            let statement = try database.cachedStatement(sql: "SELECT * FROM installation \(Self.ofToken)")
            var owners: [String: StoredInstallation] = [:]
            for token in tokens {
                owners[token] = try Row.fetchOne(statement, arguments: [hub, String(token.prefix(16)), token])
                    .flatMap(StoredInstallation.init)
            }
            return owners
        }
    }

    /// A condition that uses the index of the first 16 digits, which contain 64 bits of a sealed token.
    private static let ofToken = """
        WHERE hub = ? AND platform = 'aldaba' AND channel IS NOT NULL AND lower(substr(channel, 1, 16)) = ?
            AND lower(channel) = ?
        """

    /// Finds each token in every hub. The entity tags stay the same.
    package func see(_ tokens: [String], at now: Timestamp) async throws -> [Int64: [UInt32]] {
        guard !tokens.isEmpty else { return [:] }
        let minute = now.rawValue / 60_000 * 60_000
        return try await pool.write { database in
            let statement = try database.cachedStatement(
                sql: """
                    UPDATE installation SET seen_at = ? \(Self.ofToken)
                        AND fault IS NULL AND MAX(updated_at, COALESCE(seen_at, 0)) < ? RETURNING number
                    """)
            var seen: [Int64: [UInt32]] = [:]
            for hub in try Int64.fetchAll(database, sql: "SELECT number FROM hub") {
                for token in tokens {
                    let numbers = try Int64.fetchAll(
                        statement, arguments: [now.rawValue, hub, String(token.prefix(16)), token, minute])
                    seen[hub, default: []] += numbers.compactMap { UInt32(exactly: $0) }
                }
            }
            return seen
        }
    }

    /// Reads each row, and its audience unless that is cached.
    package func openLists(_ parts: [Int64]) throws -> [Int64: OpenList] {
        try listReader.read { database in
            let statement = try database.cachedStatement(
                sql: """
                    SELECT hub.number, generation, send_part.moment, state FROM send_part
                    JOIN send ON send.number = send JOIN hub ON hub.number = send.hub
                    WHERE send_part.number = ? AND withdrawn_at IS NULL AND closure = \(PartClosure.open.rawValue)
                    """)
            var lists: [Int64: OpenList] = [:]
            for part in parts {
                guard let row = try Row.fetchOne(statement, arguments: [part]),
                    let state = SendState(rawValue: row[3]), ![.canceled, .abandoned, .paused].contains(state)
                else { continue }
                do {
                    lists[part] = OpenList(
                        hub: row[0], generation: row[1], moment: row[2], audience: try audience(ofPart: part, database))
                } catch is UnreadableSend {
                    // An unreadable list has no members: the runner gives the send up.
                    continue
                }
            }
            return lists
        }
    }

    /// Reads one row for each token.
    package func tokenOwners(_ registrations: [[String]], hub: Int64) throws -> [[TokenOwner]] {
        try listReader.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT number, channel_moment, expires_at FROM installation \(Self.ofToken) AND fault IS NULL")
            return try registrations.map { tokens in
                var owners: [TokenOwner] = []
                for token in tokens {
                    let rows = try Row.fetchCursor(statement, arguments: [hub, String(token.prefix(16)), token])
                    while let row = try rows.next() {
                        guard let number = UInt32(exactly: row[0] as Int64) else { continue }
                        owners.append(
                            TokenOwner(
                                number: number, moment: row[1],
                                expiresAt: (row[2] as Int64?).map { Timestamp(rawValue: $0) }))
                    }
                }
                return owners
            }
        }
    }
}

extension SendSegment {
    fileprivate init(_ row: Row) {
        func id(_ column: String) -> NotificationID? { (row[column] as Int64?).map { NotificationID(rawValue: $0) } }
        func instant(_ column: String) -> Timestamp? { (row[column] as Int64?).map { Timestamp(rawValue: $0) } }
        self.init(
            number: row["number"], send: row["send"], locale: row["locale"], variant: row["variant"],
            count: row["count"], broadcast: id("broadcast"), expiresAt: instant("expires_at"),
            withdrawnAt: instant("withdrawn_at"), followed: id("followed"))
        closure = PartClosure(rawValue: row["closure"]) ?? .closed
    }
}

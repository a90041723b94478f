import Crypto

/// A value of a column, as it moves from one database to another.
package enum StoredValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A number; truth values are 0 and 1.
    case integer(Int64)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])
}

/// A table of a server's database whose rows move to another database as they are. The other tables are made from these.
package struct StoredTable: Hashable, Sendable {
    /// The table's name.
    package var name: String
    /// The columns, which are the same in every database.
    package var columns: [String]

    private init(_ name: String, _ columns: String) {
        self.name = name
        self.columns = columns.split(separator: " ").map(String.init)
    }

    /// All tables, in an order in which each row is there before another refers to it.
    package static let all = [
        StoredTable("app", "id topic team mailbox_limit overflow created_at removed_at name push_enabled"),
        StoredTable("provider_key", "key_id team public_key created_at revoked_at"),
        StoredTable("team", "id name created_at"),
        StoredTable("provider_certificate", "id fingerprint team der created_at revoked_at"),
        StoredTable("certificate_authority", "id fingerprint team der created_at revoked_at"),
        StoredTable("device", "id secret_hash enrolled_at revoked_at seen_at blocked_at"),
        StoredTable("registration", "device app environment generation registered_at ended_at previous_ended_at"),
        StoredTable("encryption_key", "device app environment point authentication_secret published_at"),
        StoredTable("ended_registration", "number app environment device generation ended_at"),
        StoredTable("service_account", "key_id team email public_key created_at revoked_at"),
        StoredTable("device_group", "key team name created_at"),
        StoredTable("device_group_member", "group_key token"),
        StoredTable(
            "web_registration",
            "device app environment category subtype sender point authentication_secret installation registered_at"),
        // A key's count of installations moves with the key, which therefore comes after them.
        StoredTable("installation", "team id app_id refresh_hash created_at enrolment_key"),
        StoredTable("enrolment_key", "id secret_hash quota used installations expires_at created_at revoked_at"),
        StoredTable(
            "app_message",
            """
            number device app message_id team environment generation data raw received_at expires_at ended_at ending
            """),
        StoredTable("webhook", "app url secret set_at"),
        StoredTable(
            "message",
            """
            id app device environment generation lane apns_id push_type priority collapse_id accepted_at expires_at stored \
            payload team topic code note
            """),
        StoredTable("timeline", "id at state source note"),
        StoredTable("pending", "device id app environment lane expires_at collapse_id"),
        StoredTable("refusal", "apns_id team id"), StoredTable("payload", "id lane content checked_at"),
        StoredTable("payload_use", "message payload"),
        StoredTable("tombstone", "device app environment lane id count since"),
        StoredTable("recall", "device id message at"),
        StoredTable("missed", "device app environment lane count since"),
        StoredTable("unrecorded", "team first last count"), StoredTable("lingering", "id checked_at"),
        StoredTable("meta", "key value"), StoredTable("topic", "id team name"),
        StoredTable("subscription", "device app environment topic generation joined subscribed_at"),
        StoredTable("past_subscription", "device app environment topic generation joined ended"),
        StoredTable(
            "broadcast",
            """
            id sequence team name audience written push_type priority collapse_id accepted_at expires_at is_attempt \
            looks_back withdrawn_at ended_at
            """),
        StoredTable("broadcast_topic", "topic sequence broadcast"),
        StoredTable("expired_broadcast", "topic expires_at id sequence team audience accepted_at is_attempt lane"),
        StoredTable("fanout_cursor", "device sequence"),
        StoredTable("report", "number app day lane label " + ReportCounts.names.joined(separator: " ")),
        StoredTable("report_counted", "id report outcome"), StoredTable("sync_member", "id app device name"),
        StoredTable("sync_clearing", "id device"),
        StoredTable("person", "id name password issuer subject created_at"),
        StoredTable("membership", "person place role team device"),
        StoredTable("console_session", "hash person created_at confirmed_at used_at address agent team"),
        StoredTable("person_link", "hash person expires_at"),
        StoredTable("audit", "number at origin actor_kind actor actor_id action object team before"),
        StoredTable("audit_end", "number at outcome object after"),
    ]

    /// The tables whose first column is numbered by the database, never twice.
    package static let numbered: Set<String> = ["app", "topic", "ended_registration", "app_message", "audit"]
}

/// A database whose tables are read or written whole, in one transaction.
package protocol TableStore {
    /// Whether the database has neither apps nor devices nor notifications.
    func isNew() throws -> Bool

    /// Calls a closure with each row of a table, in no order.
    func forEachRow(of table: StoredTable, _ body: ([StoredValue]) throws -> Void) throws

    /// Inserts rows into a table.
    func insert(_ rows: [[StoredValue]], into table: StoredTable) throws

    /// The last number that the database gave in a table of ``StoredTable/numbered``; 0 for none.
    func lastNumber(in table: StoredTable) throws -> Int64

    /// Has the database continue after a number in a table of ``StoredTable/numbered``.
    func continueNumbers(in table: StoredTable, after number: Int64) throws

    /// Makes the tables that are no ``StoredTable`` from those that are.
    func makeOtherTables() throws
}

/// The number of rows and a digest that does not depend on their order.
package struct RowDigest: Hashable, Sendable {
    /// The number of rows.
    package private(set) var count = 0
    private var sum: UInt64 = 0
    private var other: UInt64 = 0

    /// Creates the digest of no row.
    package init() {}

    /// Adds a row.
    package mutating func add(_ row: [StoredValue]) {
        var bytes: [UInt8] = []
        for value in row {
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
            case .text(let text): Self.append(2, Array(text.withoutNUL.utf8), to: &bytes)
            case .bytes(let content): Self.append(3, content, to: &bytes)
            }
        }
        let words = SHA256.hash(data: bytes).withUnsafeBytes { $0.bindMemory(to: UInt64.self).prefix(2).map(\.self) }
        count += 1
        sum &+= words[0]
        other &+= words[1]
    }

    private static func append(_ tag: UInt8, _ content: [UInt8], to bytes: inout [UInt8]) {
        bytes.append(tag)
        withUnsafeBytes(of: UInt64(content.count).littleEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: content)
    }
}

extension String {
    /// The text with U+FFFD in the place of NUL, which PostgreSQL's texts cannot have.
    package var withoutNUL: String {
        utf8.contains(0) ? String(unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : Character($0) }) : self
    }
}

/// Moves all tables of a server's database into another.
package struct TableMove {
    /// Why the tables were not moved; the other database is as it was.
    package enum Fault: Error, Hashable, CustomStringConvertible {
        /// The other database is in use.
        case notNew
        /// A table has other rows than those that were read.
        case different(String)

        /// The fault, and the remedy.
        package var description: String {
            switch self {
            case .notNew: "the database has the data of a server; name an empty one"
            case .different(let table): "the rows of \(table) are not those that were read; nothing was moved"
            }
        }
    }

    private static let batch = 4000

    /// Moves the tables, and compares what is there then with what was read.
    ///
    /// Both databases are in transactions that the caller ends.
    /// - Parameter moved: Called after each table, with the number of its rows.
    /// - Throws: ``Fault``, or the error of a database.
    package static func move(
        from source: some TableStore, to target: some TableStore, moved: (StoredTable, Int) -> Void
    ) throws {
        guard try target.isNew() else { throw Fault.notNew }
        var digests: [String: RowDigest] = [:]
        for table in StoredTable.all {
            var digest = RowDigest()
            var rows: [[StoredValue]] = []
            try source.forEachRow(of: table) { row in
                digest.add(row)
                rows.append(row)
                guard rows.count == batch else { return }
                try target.insert(rows, into: table)
                rows.removeAll(keepingCapacity: true)
            }
            if !rows.isEmpty { try target.insert(rows, into: table) }
            if StoredTable.numbered.contains(table.name) {
                try target.continueNumbers(in: table, after: try source.lastNumber(in: table))
            }
            digests[table.name] = digest
            moved(table, digest.count)
        }
        try target.makeOtherTables()
        for table in StoredTable.all {
            var digest = RowDigest()
            try target.forEachRow(of: table) { digest.add($0) }
            guard digest == digests[table.name] else { throw Fault.different(table.name) }
        }
    }
}

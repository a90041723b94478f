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
    /// The column, a number with an index, by which changed rows are found; `nil` for a table that is written again whole.
    package var owner: String?

    private init(_ name: String, _ columns: String, owner: String? = nil) {
        self.name = name
        self.columns = columns.split(separator: " ").map(String.init)
        self.owner = owner
    }

    /// All tables, in an order in which each row is there before another refers to it.
    package static let all = [
        StoredTable("app", "id topic team mailbox_limit overflow created_at removed_at name push_enabled", owner: "id"),
        StoredTable("provider_key", "key_id team public_key created_at revoked_at"),
        StoredTable("team", "id name created_at"),
        StoredTable("provider_certificate", "id fingerprint team der created_at revoked_at"),
        StoredTable("certificate_authority", "id fingerprint team der created_at revoked_at"),
        StoredTable("device", "id secret_hash enrolled_at revoked_at seen_at blocked_at", owner: "id"),
        StoredTable(
            "registration", "device app environment generation registered_at ended_at previous_ended_at",
            owner: "device"),
        StoredTable(
            "encryption_key", "device app environment point authentication_secret published_at", owner: "device"),
        StoredTable("ended_registration", "number app environment device generation ended_at", owner: "number"),
        StoredTable("service_account", "key_id team email public_key created_at revoked_at"),
        StoredTable("device_group", "key team name created_at"),
        StoredTable("device_group_member", "group_key token"),
        StoredTable(
            "web_registration",
            "device app environment category subtype sender point authentication_secret installation registered_at",
            owner: "device"),
        // A key's count of installations moves with the key, which therefore comes after them.
        StoredTable("installation", "team id app_id refresh_hash created_at enrolment_key"),
        StoredTable("enrolment_key", "id secret_hash quota used installations expires_at created_at revoked_at"),
        StoredTable(
            "app_message",
            """
            number device app message_id team environment generation data raw received_at expires_at ended_at ending
            """, owner: "number"),
        StoredTable("webhook", "app url secret set_at"),
        StoredTable(
            "message",
            """
            id app device environment generation lane apns_id push_type priority collapse_id accepted_at expires_at stored \
            payload team topic code note
            """, owner: "id"),
        StoredTable("timeline", "id at state source note", owner: "id"),
        StoredTable("pending", "device id app environment lane expires_at collapse_id", owner: "device"),
        StoredTable("refusal", "apns_id team id", owner: "id"),
        StoredTable("payload", "id lane content checked_at", owner: "id"),
        StoredTable("payload_use", "message payload", owner: "message"),
        StoredTable("tombstone", "device app environment lane id count since", owner: "device"),
        StoredTable("recall", "device id message at", owner: "device"),
        StoredTable("missed", "device app environment lane count since", owner: "device"),
        StoredTable("unrecorded", "team first last count"), StoredTable("lingering", "id checked_at", owner: "id"),
        StoredTable("meta", "key value"), StoredTable("topic", "id team name", owner: "id"),
        StoredTable("subscription", "device app environment topic generation joined subscribed_at", owner: "device"),
        StoredTable("past_subscription", "device app environment topic generation joined ended", owner: "device"),
        StoredTable(
            "broadcast",
            """
            id sequence team name audience written push_type priority collapse_id accepted_at expires_at is_attempt \
            looks_back withdrawn_at ended_at
            """, owner: "id"),
        StoredTable("broadcast_topic", "topic sequence broadcast", owner: "topic"),
        StoredTable(
            "expired_broadcast", "topic expires_at id sequence team audience accepted_at is_attempt lane",
            owner: "topic"),
        StoredTable("fanout_cursor", "device sequence", owner: "device"),
        StoredTable(
            "report", "number app day lane label " + ReportCounts.names.joined(separator: " "), owner: "number"),
        StoredTable("report_counted", "id report outcome", owner: "id"),
        StoredTable("sync_member", "id app device name", owner: "id"),
        StoredTable("sync_clearing", "id device", owner: "id"),
        StoredTable("person", "id name password issuer subject created_at"),
        StoredTable("membership", "person place role team device"),
        StoredTable("console_session", "hash person created_at confirmed_at used_at address agent team"),
        StoredTable("person_link", "hash person expires_at"),
        StoredTable("audit", "number at origin actor_kind actor actor_id action object team before", owner: "number"),
        StoredTable("audit_end", "number at outcome object after", owner: "number"),
    ]

    /// The tables whose first column is numbered by the database, never twice.
    package static let numbered: Set<String> = ["app", "topic", "ended_registration", "app_message", "audit"]
}

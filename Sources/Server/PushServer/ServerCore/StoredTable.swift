/// A value of a column, as it moves from one database to another.
package enum ColumnValue: Hashable, Sendable {
    /// NULL.
    case null
    /// A number; truth values are 0 and 1.
    case integer(Int64)
    /// A text.
    case text(String)
    /// Bytes.
    case bytes([UInt8])

    /// The bytes of a text or of bytes; 0 for other values.
    var byteCount: Int {
        switch self {
        case .null, .integer: 0
        case .text(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        }
    }
}

/// A table of a server's database whose rows move to another database as they are. The other tables are made from these.
package struct StoredTable: Hashable, Sendable {
    /// The table's name; those of the hubs and the relay with the name of their schema, under which a file of theirs is attached.
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
    package static let all = ofServer + ofHubs + ofRelay

    private static let ofServer = [
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
        StoredTable(
            "web_channel", "device channel app environment generation sender registered_at", owner: "device"),
        StoredTable("broadcast_channel", "app environment channel policy created_at", owner: "app"),
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

    /// The database counts a hub's installations when they are inserted.
    private static let ofHubs = [
        StoredTable(
            "hub.hub",
            """
            number name team topic is_strict created_at generation moment version most_installations most_tags \
            writes_per_second picture_keys
            """, owner: "number"),
        StoredTable("hub.hub_key", "hub name rights primary_key secondary_key created_at", owner: "hub"),
        StoredTable("hub.backend_key", "hash hub name created_at", owner: "hub"),
        StoredTable("hub.api_key", "hash hub name rights expires_at created_at", owner: "hub"),
        StoredTable(
            "hub.push_credential",
            "number hub service kind environment address name owner secret authority expires_at created_at",
            owner: "number"),
        StoredTable(
            "hub.installation",
            """
            number hub id user channel document platform tags template_tags locale country app_version version created_at \
            updated_at expires_at fault fault_at time_zone channel_moment registered_at seen_at
            """, owner: "number"),
        StoredTable(
            "hub.send",
            """
            number id hub format body headers expression channels reads_fields due_at idempotency_key digest campaign state \
            enqueued_at started_at ended_at targeted cursor audience rate next_at plan reason step
            """, owner: "number"),
        StoredTable("hub.send_wave", "number send due_at opened_at ended_at audience", owner: "send"),
        StoredTable(
            "hub.send_part",
            "number send moment locale variant audience count broadcast expires_at withdrawn_at followed closure",
            owner: "send"),
        StoredTable("hub.send_count", "send name count", owner: "send"),
        StoredTable("hub.send_left_out", "send why audience", owner: "send"),
        StoredTable("hub.send_outcome", "send platform outcome count", owner: "send"),
        StoredTable("hub.send_fault", "number send installation name outcome at", owner: "send"),
        StoredTable(
            "hub.send_recipient",
            """
            send installation part name platform locale app_version outcome reason ending reached at attempts first_at \
            retry_at looked_up_at list notification variant
            """, owner: "installation"),
        StoredTable("hub.hub_webhook", "hub url secret set_at", owner: "hub"),
        StoredTable("hub.hub_event", "number hub kind data at", owner: "number"),
    ]

    private static let ofRelay = [
        StoredTable("relay.relay_device", "device account described wake seen_at"),
        StoredTable("relay.relay_letter", "number device account sender id deadline body", owner: "number"),
        StoredTable("relay.relay_letter_sum", "device count bytes"),
        StoredTable("relay.relay_document", "number account key revision body removed_at", owner: "number"),
        StoredTable("relay.relay_document_sum", "account count bytes removed seen_at last"),
    ]

    /// The tables whose first column is numbered by the database, never twice.
    package static let numbered: Set<String> = [
        "app", "topic", "ended_registration", "app_message", "audit", "hub.hub", "hub.push_credential",
        "hub.installation", "hub.send", "hub.send_wave", "hub.send_part", "hub.send_fault", "hub.hub_event",
        "relay.relay_letter", "relay.relay_document",
    ]

    /// Whether other rows are deleted with a row. Its ``owner`` is its key.
    package var hasDependents: Bool { ["hub.hub", "hub.send"].contains(name) }
}

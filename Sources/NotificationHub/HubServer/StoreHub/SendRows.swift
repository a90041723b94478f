import Crypto
import HubProtocol
import PushCore
import PushServer

/// The statements for new sends, and what is read of them.
enum SendRows {
    /// - Returns: The send, and whether it is new; `nil` where the key names another request.
    static func add(
        _ id: String, hub: Int64, request: SendRequest, state: SendState, at now: Timestamp, isTest: Bool,
        _ sql: any SQLConnection
    ) throws -> (record: SendRecord, isNew: Bool)? {
        let digest = Self.digest(request, isTest: isTest)
        if let key = request.idempotencyKey {
            // Two servers may have the same request.
            try HubDatabase.lock(hub: hub, sql)
            if let row = try sql.row("SELECT * FROM send WHERE hub = ? AND idempotency_key = ?", hub, key) {
                guard try row["digest"] == digest, let record = try SendRecord(row) else { return nil }
                return (record, false)
            }
        }
        var expression: String?
        var channels: String?
        switch request.target {
        case .audience(let text): expression = text
        case .channels(let list): channels = JSONValue.array(list.map { .string($0) }).json
        }
        let row = try sql.row(
            """
            INSERT INTO send(id, hub, format, body, headers, expression, channels, reads_fields, due_at,
                idempotency_key, digest, campaign, state, enqueued_at, rate, plan, targeted, cursor)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) RETURNING number
            """, id, hub, request.format.text, request.body, headers(request), expression, channels,
            request.readsFields, request.dueAt, request.idempotencyKey, digest, request.campaign, state, now,
            request.rate, request.plan.isEmpty ? nil : request.plan.tree.json)
        guard let row else { throw SQLColumnError(column: "number") }
        let record = SendRecord(
            number: try row["number"], id: id, hub: hub, request: request, state: state, enqueuedAt: now)
        return (record, true)
    }

    static func headers(_ request: SendRequest) -> String {
        JSONValue.object(request.headers.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }).json
    }

    /// A digest that distinguishes different requests with the same key.
    static func digest(_ request: SendRequest, isTest: Bool) -> [UInt8] {
        let parts: [String] =
            (isTest ? ["test"] : []) + [
                request.format.text, headers(request), "\(request.dueAt?.rawValue ?? 0)", request.campaign ?? "",
                "\(request.rate ?? 0)",
            ] + (request.plan.isEmpty ? [] : [request.plan.tree.json])
            + {
                switch request.target {
                case .audience(let text): ["audience", text ?? ""]
                case .channels(let list): ["channels"] + list
                }
            }()
        let text = JSONValue.array(parts.map { .string($0) }).bytes
        return Array(SHA256.hash(data: text + request.body))
    }
}

extension SendState: SQLValue {}

extension SendRecord {
    /// Creates the record from a row; `nil` for a row without a valid state. Other unreadable columns are reported in
    /// ``unreadable``.
    init?(_ row: any SQLRow) throws {
        guard let state = SendState(rawValue: try row["state"]) else { return nil }
        var unreadable: UnreadableSend?
        func read<Value>(_ what: String, _ value: Value?, or placeholder: Value) -> Value {
            if value == nil { unreadable = UnreadableSend(what) }
            return value ?? placeholder
        }
        let channels: [String]? = (try row["channels"] as String?).map {
            read("channels", JSONValue(stored: $0)?.items?.allMapped(\.text), or: [])
        }
        let request = SendRequest(
            format: read("format", SendFormat(try row["format"]), or: .content), body: try row["body"],
            headers: read("headers", Self.headers(try row["headers"]), or: [:]),
            target: try channels.map { .channels($0) } ?? .audience(row["expression"]), dueAt: try row["due_at"],
            idempotencyKey: try row["idempotency_key"], campaign: try row["campaign"],
            readsFields: try row["reads_fields"], rate: try row["rate"],
            plan: (try row["plan"] as String?).map { read("plan", Self.plan($0), or: CampaignPlan()) } ?? CampaignPlan()
        )
        self.init(
            number: try row["number"], id: try row["id"], hub: try row["hub"], request: request, state: state,
            enqueuedAt: try row["enqueued_at"], startedAt: try row["started_at"], endedAt: try row["ended_at"],
            targeted: try row["targeted"], cursor: UInt32(truncatingIfNeeded: try row["cursor"] as Int64),
            reason: try row["reason"])
        step = try row["step"]
        self.unreadable = unreadable
    }

    private static func headers(_ text: String) -> [String: String]? {
        guard let members = JSONValue(stored: text)?.members, let values = members.allMapped(\.value.text) else {
            return nil
        }
        return Dictionary(zip(members.map(\.name), values), uniquingKeysWith: { $1 })
    }

    private static func plan(_ text: String) -> CampaignPlan? {
        do { return try CampaignPlan(text: text) } catch { return nil }
    }
}

extension Array {
    /// The mapped elements; `nil` if one of them maps to `nil`.
    fileprivate func allMapped<Value>(_ value: (Element) -> Value?) -> [Value]? {
        let values = compactMap(value)
        return values.count == count ? values : nil
    }
}

extension Bitmap {
    /// Decodes a stored audience.
    ///
    /// - Throws: ``UnreadableSend`` where nothing is stored, or the value cannot be read.
    init(stored: [UInt8]?, of what: String) throws {
        guard let found = stored.flatMap({ Bitmap(portable: $0) }) else { throw UnreadableSend(what) }
        self = found
    }
}

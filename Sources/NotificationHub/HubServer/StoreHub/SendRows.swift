import Crypto
import Foundation
import GRDB
import HubProtocol
import PushCore

/// The statements for new sends, and what is read of them.
enum SendRows {
    /// - Returns: The send, and whether it is new; `nil` where the key names another request.
    static func add(
        _ id: String, hub: Int64, request: SendRequest, state: SendState, at now: Timestamp, isTest: Bool,
        database: Database
    ) throws -> (record: SendRecord, isNew: Bool)? {
        let digest = Data(Self.digest(request, isTest: isTest))
        if let key = request.idempotencyKey,
            let row = try Row.fetchOne(
                database, sql: "SELECT * FROM send WHERE hub = ? AND idempotency_key = ?", arguments: [hub, key])
        {
            guard row["digest"] == digest, let record = SendRecord(row) else { return nil }
            return (record, false)
        }
        var expression: String?
        var channels: String?
        switch request.target {
        case .audience(let text): expression = text
        case .channels(let list): channels = JSONValue.array(list.map { .string($0) }).json
        }
        try database.execute(
            sql: """
                INSERT INTO send(id, hub, format, body, headers, expression, channels, reads_fields, due_at,
                    idempotency_key, digest, campaign, state, enqueued_at, rate, plan, targeted, cursor)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)
                """,
            arguments: [
                id, hub, request.format.text, Data(request.body), headers(request), expression, channels,
                request.readsFields, request.dueAt?.rawValue, request.idempotencyKey, digest, request.campaign,
                state.rawValue, now.rawValue, request.rate, request.plan.isEmpty ? nil : request.plan.tree.json,
            ])
        let record = SendRecord(
            number: database.lastInsertedRowID, id: id, hub: hub, request: request, state: state, enqueuedAt: now)
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

extension SendRecord {
    /// Creates the record from a row; `nil` for a row without a valid state. Other unreadable columns are reported in
    /// ``unreadable``.
    init?(_ row: Row) {
        guard let state = SendState(rawValue: row["state"]) else { return nil }
        func instant(_ column: String) -> Timestamp? { (row[column] as Int64?).map { Timestamp(rawValue: $0) } }
        var unreadable: UnreadableSend?
        func read<Value>(_ what: String, _ value: Value?, or placeholder: Value) -> Value {
            if value == nil { unreadable = UnreadableSend(what) }
            return value ?? placeholder
        }
        let channels: [String]? = (row["channels"] as String?).map {
            read("channels", JSONValue(stored: $0)?.items?.allMapped(\.text), or: [])
        }
        let request = SendRequest(
            format: read("format", SendFormat(row["format"]), or: .content), body: Array(row["body"] as Data),
            headers: read("headers", Self.headers(row["headers"]), or: [:]),
            target: channels.map { .channels($0) } ?? .audience(row["expression"]), dueAt: instant("due_at"),
            idempotencyKey: row["idempotency_key"], campaign: row["campaign"], readsFields: row["reads_fields"],
            rate: row["rate"],
            plan: (row["plan"] as String?).map { read("plan", Self.plan($0), or: CampaignPlan()) } ?? CampaignPlan())
        self.init(
            number: row["number"], id: row["id"], hub: row["hub"], request: request, state: state,
            enqueuedAt: Timestamp(rawValue: row["enqueued_at"]), startedAt: instant("started_at"),
            endedAt: instant("ended_at"), targeted: row["targeted"],
            cursor: UInt32(truncatingIfNeeded: row["cursor"] as Int64), reason: row["reason"])
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

extension JSONValue {
    /// Parses a column; `nil` for a text that is no JSON.
    fileprivate init?(stored text: String) {
        do { try self.init(text: text) } catch { return nil }
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
    init(stored: Data?, of what: String) throws {
        guard let found = stored.flatMap({ Bitmap(portable: Array($0)) }) else { throw UnreadableSend(what) }
        self = found
    }
}

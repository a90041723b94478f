import HTTPTypes
import Hummingbird
import NIOCore
import PushCore

/// The routes `GET /v1/audit` and `GET /v1/audit/export`: the audit log, with filters. They are for callers who may act for
/// every team.
package struct AuditInterface: ControlInterface {
    private let store: any AuditStore
    private static let filters: Set = ["action", "object", "team", "actor", "origin", "from", "to"]

    /// Reads the log of a store.
    package init(store: any AuditStore) { self.store = store }

    /// Adds the routes where callers need no credential; elsewhere none.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        router.get("v1/audit") { request, _ in try await list(ListQuery(request, Self.filters)) }
        router.get("v1/audit/export") { request, _ in try export(ListQuery(request, Self.filters.union(["format"]))) }
    }

    private func list(_ query: ListQuery) async throws -> Response {
        let cursor = try query.value("after", "what an answer said as next") { Int64($0) }
        let page = try await store.auditEntries(try filter(query), before: cursor, limit: query.limit)
        var members: [JSONValue.Member] = [.init("entries", .array(page.items.map(\.json)))]
        if let next = page.next { members.append(.init("next", .string(String(next)))) }
        return .value(.object(members))
    }

    private func filter(_ query: ListQuery) throws -> AuditFilter {
        var filter = AuditFilter()
        filter.action = query.fields["action"]
        filter.object = query.fields["object"]
        // A person of the console sees one team, a caller on loopback all.
        filter.team = ConsoleScope.current?.rawValue ?? query.fields["team"]
        filter.actor = query.fields["actor"]
        filter.origin = try query.word("origin")
        let time = "a time in UTC such as 2026-11-21T04:05:06Z"
        filter.from = try query.value("from", time) { Timestamp(text: $0) }
        filter.to = try query.value("to", time) { Timestamp(text: $0) }
        return filter
    }

    /// All entries that match, the newest first, as one stream.
    private func export(_ query: ListQuery) throws -> Response {
        let (filter, format) = (try filter(query), try query.word("format") ?? ExportFormat.jsonl)
        return Response(
            status: .ok,
            headers: [
                .contentType: format.mediaType, .cacheControl: "no-store",
                .contentDisposition: "attachment; filename=\"audit.\(format.rawValue)\"",
            ],
            body: ResponseBody { writer in
                try await writer.write(ByteBuffer(string: format.heading(AuditEntry.columns)))
                var cursor: Int64?
                repeat {
                    let page = try await store.auditEntries(filter, before: cursor, limit: 500)
                    try await writer.write(ByteBuffer(string: page.items.map(format.line).joined()))
                    cursor = page.next
                } while cursor != nil
                try await writer.finish(nil)
            })
    }
}

extension AuditEntry {
    /// The columns of an export.
    fileprivate static let columns = [
        "number", "at", "origin", "actorKind", "actor", "actorId", "action", "object", "team", "outcome", "endedAt",
        "before", "after",
    ]
}

extension ExportFormat {
    /// An entry with its line's end.
    fileprivate func line(_ entry: AuditEntry) -> String {
        switch self {
        case .jsonl: entry.json.json + "\n"
        case .csv:
            CSVField.line([
                String(entry.number), entry.at.description, entry.origin.rawValue, entry.actor.kind, entry.actor.name,
                entry.actor.id ?? "", entry.action, entry.object, entry.team ?? "",
                entry.end?.outcome.rawValue ?? "unknown", entry.end?.at.description ?? "", entry.before ?? "",
                entry.end?.after ?? "",
            ])
        }
    }
}

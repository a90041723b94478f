import AldabaTestSupport
import PushCore
import PushServer
import StoreMemory
import Testing

@testable import ControlAPI

/// A server with faults and an audit log, in plain http.
private func withAuditedServer(_ body: (RunningListener, MemoryStore) async throws -> Void) async throws {
    let store = MemoryStore()
    var services = FakeServer().services(.open)
    services.audit = AuditLog(store: store, clock: services.clock)
    services.interfaces = [AuditInterface(store: store)]
    try await withListener(.development(services)) { try await body($0, store) }
}

private func entries(_ store: MemoryStore) async throws -> [AuditEntry] {
    try await store.auditEntries(AuditFilter(), before: nil, limit: 10).items
}

@Test func `a change has an entry with its outcome and the object before and after it`() async throws {
    try await withAuditedServer { listener, store in
        #expect(try await listener.send("DELETE", "/v1/notifications/5").status == 200)
        let entry = try #require(try await entries(store).first)
        #expect(entry.action == "notification.withdraw" && entry.object == "5" && entry.actor == .development)
        #expect(entry.before?.contains("an-id") == true && entry.end?.outcome == .done)
        #expect(entry.end?.after?.contains("withdrawn") == true)
        #expect(try await listener.send("DELETE", "/v1/notifications/6").status == 404)
        #expect(try await entries(store).map(\.end?.outcome) == [.refused, .done])
    }
}

@Test func `a request of a command has that origin`() async throws {
    try await withAuditedServer { listener, store in
        _ = try await listener.send(
            "DELETE", "/v1/notifications/5", headers: ["user-agent": AuditOrigin.commandAgent])
        #expect(try await entries(store).first?.origin == .command)
    }
}

@Test func `what changes nothing has no entry`() async throws {
    try await withAuditedServer { (listener, store) async throws in
        #expect(try await listener.send("GET", "/v1/notifications/5").status == 200)
        #expect(try await listener.send("DELETE", "/v1/nothing").status == 404)
        #expect(try await entries(store).isEmpty)
    }
}

@Test func `the log is read by the API, and a wrong field is refused`() async throws {
    try await withAuditedServer { listener, _ in
        _ = try await listener.send("DELETE", "/v1/notifications/5")
        let answer = try await listener.send("GET", "/v1/audit?action=notification&limit=1")
        let entry = try #require(try JSONValue(answer.bytes)["entries"]?.items?.first)
        #expect(entry["actor"]?["kind"] == .string("development") && entry["origin"] == .string("api"))
        #expect(try await listener.send("GET", "/v1/audit?verb=x").status == 400)
        #expect(try await listener.send("GET", "/v1/audit?from=yesterday").status == 400)
        let lines = try await listener.send("GET", "/v1/audit/export?format=csv").body
        #expect(lines.hasPrefix("number,at,origin,") && lines.contains("notification.withdraw"))
    }
}

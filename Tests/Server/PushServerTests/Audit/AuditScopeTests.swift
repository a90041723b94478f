import PushCore
import PushServer
import StoreMemory
import Testing

/// A log that cannot be written.
private struct FullStore: AuditStore {
    struct Full: Error {}

    func beginAudit(_ entry: AuditEntry) async throws -> Int64 { throw Full() }
    func endAudit(_ number: Int64, _ end: AuditEnd) async throws { throw Full() }
    func auditEntries(
        _ filter: AuditFilter, before: Int64?, limit: Int
    ) async throws -> InventoryPage<AuditEntry, Int64> { throw Full() }
}

@Suite struct AuditScopeTests {
    private let store = MemoryStore()
    private let team = TeamID(rawValue: "TEAM123456")

    private func scope(_ store: any AuditStore, keyID: String? = nil) -> AuditScope {
        AuditScope(
            AuditChange(.deleteMedia, "a"), log: AuditLog(store: store, clock: { Timestamp(rawValue: 5) }), keyID: keyID
        ) { .object([.init("bytes", .number("1"))]) }
    }

    private func entries() async throws -> [AuditEntry] {
        try await store.auditEntries(AuditFilter(), before: nil, limit: 10).items
    }

    @Test func `a request without a valid credential leaves no entry`() async throws {
        try await scope(store).end(.refused)
        #expect(try await entries().isEmpty)
    }

    @Test func `a credential begins one entry, with its team and its key`() async throws {
        let scope = scope(store, keyID: "KEY1234567")
        try await AuditScope.$current.withValue(scope) {
            try await RequestScope.prove(.team(team))
            try await RequestScope.prove(.team(team), key: "another")
        }
        let begun = try #require(try await entries().first)
        #expect(begun.end == nil && begun.before == #"{"bytes":1}"# && begun.team == team.rawValue)
        #expect(begun.actor == .credential(team: team.rawValue, key: "KEY1234567") && begun.origin == .api)
        try await scope.end(.done, made: "b", after: .object([.init("token", .string("x"))]))
        let found = try await entries()
        #expect(found.count == 1 && found.first?.object == "a/b")
        #expect(found.first?.end?.after == #"{"token":"(removed)"}"#)
    }

    @Test func `the key that a check knows counts, and a person of the console before all`() async throws {
        try await scope(store, keyID: "x").begin(.clients(of: team), key: "sender")
        try await AuditActor.$current.withValue(.person("Ana")) { try await scope(store).begin(.development) }
        #expect(
            try await entries().map(\.actor) == [.person("Ana"), .credential(team: team.rawValue, key: "sender")])
        #expect(try await entries().map(\.origin) == [.console, .api])
    }

    @Test(arguments: [
        ("aldaba-command" as String?, AuditOrigin.command), ("curl/8.5.0", .api), ("Mozilla (aldaba-command)", .api),
        (nil, .api),
    ])
    func `a request of a command is told by its agent`(agent: String?, origin: AuditOrigin) {
        #expect(AuditOrigin(agent: agent) == origin)
    }

    @Test func `a request whose entry cannot be written is refused`() async throws {
        await #expect(throws: FullStore.Full.self) {
            try await AuditScope.$current.withValue(scope(FullStore())) { try await RequestScope.prove(.team(team)) }
        }
    }
}

import PushCore
import PushServer
import Testing

/// What every ``AuditStore`` must do; a store's test suite runs each rule against a fresh store.
package struct AuditStoreContract<Store: AuditStore> {
    let store: Store
    private let now = Timestamp(seconds: 1_780_272_000)

    /// The rules for a store.
    package init(_ store: Store) { self.store = store }

    private func begin(
        _ action: String, _ object: String, by actor: AuditActor = .development, at seconds: Int64 = 0,
        change: (inout AuditEntry) -> Void = { _ in }
    ) async throws -> Int64 {
        var entry = AuditEntry(
            at: now + .seconds(seconds), actor: actor, origin: .api, action: action, object: object)
        change(&entry)
        return try await store.beginAudit(entry)
    }

    private func objects(_ change: (inout AuditFilter) -> Void = { _ in }) async throws -> [String] {
        var filter = AuditFilter()
        change(&filter)
        return try await store.auditEntries(filter, before: nil, limit: 100).items.map(\.object)
    }

    package func `an entry and its end are read back as they were`() async throws {
        let actors: [AuditActor] = [
            .person("Ana"), .console, .credential(team: "TEAM123456", key: "KEY1234567"),
            .credential(team: "TEAM123456", key: nil), .user(name: "root", number: 0), .development,
        ]
        for actor in actors {
            let number = try await begin("app.add", "", by: actor) {
                ($0.team, $0.before, $0.origin) = ("TEAM123456", "{}", .command)
            }
            let found = try #require(try await store.auditEntries(AuditFilter(), before: nil, limit: 1).items.first)
            #expect(found.number == number && found.end == nil && found.actor == actor)
            let end = AuditEnd(at: now + .seconds(1), outcome: .done, object: "com.example.a", after: #"{"limit":1}"#)
            try await store.endAudit(number, end)
            let ended = try #require(try await store.auditEntries(AuditFilter(), before: nil, limit: 1).items.first)
            #expect(ended.end == end && ended.object == "com.example.a" && ended.before == "{}")
            #expect(ended.origin == .command && ended.team == "TEAM123456" && ended.at == now)
        }
    }

    package func `an end is written once, and of an entry`() async throws {
        let number = try await begin("app.add", "a")
        try await store.endAudit(number, AuditEnd(at: now, outcome: .done))
        await #expect(throws: (any Error).self) {
            try await store.endAudit(number, AuditEnd(at: now, outcome: .refused))
        }
        await #expect(throws: (any Error).self) {
            try await store.endAudit(number + 1, AuditEnd(at: now, outcome: .done))
        }
        #expect(try await store.auditEntries(AuditFilter(), before: nil, limit: 9).items.map(\.end?.outcome) == [.done])
    }

    package func `entries are listed the newest first, by every filter`() async throws {
        _ = try await begin("app.add", "com.example.A", by: .user(name: "root", number: 0)) { $0.origin = .command }
        _ = try await begin("app.remove", "com.example.b", by: .credential(team: "T", key: "K"), at: 10) {
            $0.team = "T"
        }
        _ = try await begin("apple.add", "c", by: .person("Ana"), at: 20) { $0.origin = .console }
        #expect(try await objects() == ["c", "com.example.b", "com.example.A"])
        #expect(try await objects { $0.action = "app" } == ["com.example.b", "com.example.A"])
        #expect(try await objects { $0.action = "app.add" } == ["com.example.A"])
        #expect(try await objects { $0.object = "EXAMPLE.a" } == ["com.example.A"])
        #expect(try await objects { $0.team = "T" } == ["com.example.b"])
        #expect(try await objects { $0.actor = "Ana" } == ["c"])
        #expect(try await objects { $0.actor = "user" } == ["com.example.A"])
        #expect(try await objects { $0.actor = "K" } == ["com.example.b"])
        #expect(try await objects { $0.origin = .console } == ["c"])
        #expect(try await objects { ($0.from, $0.to) = (now + .seconds(10), now + .seconds(20)) } == ["com.example.b"])
    }

    package func `pages hold every entry once, and a slice says where the next begins`() async throws {
        let number = try await begin("app.add", "first")
        for place in 0..<2000 { _ = try await begin("key.add", String(place)) }
        var filter = AuditFilter()
        filter.action = "app.add"
        let first = try await store.auditEntries(filter, before: nil, limit: 10)
        #expect(first.items.isEmpty && first.next == number + 1)
        let second = try await store.auditEntries(filter, before: first.next, limit: 10)
        #expect(second.items.map(\.number) == [number] && second.next == nil)
        let page = try await store.auditEntries(AuditFilter(), before: number + 3, limit: 1)
        #expect(page.items.map(\.number) == [number + 2] && page.next == number + 2)
    }

    /// All that an ``AuditStore`` must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("entries") { try await $0.`an entry and its end are read back as they were`() },
            ContractRule("ends") { try await $0.`an end is written once, and of an entry`() },
            ContractRule("filters") { try await $0.`entries are listed the newest first, by every filter`() },
            ContractRule("pages") {
                try await $0.`pages hold every entry once, and a slice says where the next begins`()
            },
        ]
    }
}

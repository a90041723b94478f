import GRDB
import HubProtocol
import PushCore
import SQLiteStore
import Testing

@testable import HubServer

/// Bounds on what a key that is in every copy of an app can put into a hub.
private struct QuotaWorld {
    let world: HubWorld
    let hub: HubRecord

    init(installations: Int = 1000, tags: Int = 1000) async throws {
        world = try await HubWorld()
        try await world.database.setLimits(
            HubLimits(installations: installations, tags: tags), of: world.hub.number)
        hub = try #require(try await world.database.hub(named: "todo"))
    }

    /// Puts an installation; the quota that refused it, or `nil`.
    func put(_ id: String, _ more: String = "", channel: String? = nil, isRegistration: Bool = false) async throws
        -> HubQuota?
    {
        let text = """
            {"installationId":"\(id)","platform":"apns","pushChannel":"\(channel ?? "token of \(id)")"\(more)}
            """
        var installation = try InstallationJSON.read(try JSONValue(text: text), id: id)
        installation.isRegistration = isRegistration
        do { _ = try await world.hubs.put(installation, of: hub) } catch HubError.quota(let quota) { return quota }
        return nil
    }

    /// Installations that the store holds, as it counts them and one by one.
    func rows() async throws -> Int {
        let counted = try await world.database.size(of: hub.number).installations
        #expect(try await world.hubs.list(.init(limit: 1000), of: hub).count == counted)
        return counted
    }

    /// Distinct tags in the audiences.
    func tags() async throws -> Int { try await world.hubs.size(of: hub).tags }
}

@Test(arguments: [false, true])
func `a hub holds as many installations or registrations as it may`(isRegistration: Bool) async throws {
    let world = try await QuotaWorld(installations: 5)
    var refused = 0
    for number in 0..<20 where try await world.put("a\(number)", isRegistration: isRegistration) != nil { refused += 1 }
    #expect(refused == 15)
    #expect(try await world.rows() == 5)
    #expect(try await world.put("a4", #","tags":["new"]"#, isRegistration: isRegistration) == nil, "it is there")
    #expect(try await world.put("more", isRegistration: isRegistration) == .installations(5))
    try await world.world.hubs.delete("a0", of: world.hub)
    #expect(try await world.put("more", isRegistration: isRegistration) == nil)
    #expect(try await world.rows() == 5)
}

@Test func `many at once pass no quota either`() async throws {
    let world = try await QuotaWorld(installations: 10, tags: 15)
    let refused = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<50 {
            group.addTask { try await world.put("a\(number)", #","tags":["x\#(number)","y\#(number)"]"#) != nil }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(refused == 43)
    #expect(try await world.rows() == 7)
    #expect(try await world.tags() == 14)
}

@Test func `installations that lost their channel and those that are over count until they are deleted`() async throws {
    let world = try await QuotaWorld(installations: 3)
    for id in ["a", "b"] { #expect(try await world.put(id, channel: "same") == nil) }
    #expect(try await world.put("c", #","expirationTime":"2026-06-01T00:00:01Z""#) == nil)
    #expect(try await world.put("d") == .installations(3))
    world.world.clock.advance(milliseconds: 2000)
    try await world.world.hubs.deleteExpired()
    #expect(try await world.rows() == 2)
    #expect(try await world.put("d") == nil)
}

@Test func `new tags are refused where there are as many as there may be, and known ones are not`() async throws {
    let world = try await QuotaWorld(tags: 5)
    #expect(try await world.put("a", #","tags":["1","2","3"]"#) == nil)
    #expect(try await world.put("b", #","tags":["4","5","6"]"#) == .values(.tag, 5))
    #expect(try await world.put("b", #","tags":["1","4"]"#) == nil)
    #expect(try await world.put("c", #","templates":{"t":{"body":"{}"}}"#) == nil)
    #expect(try await world.put("d", #","templates":{"u":{"body":"{}"}}"#) == .values(.tag, 5))
    #expect(try await world.tags() == 5)
    #expect(try await world.put("a", #","tags":["3","2","7"]"#) == .values(.tag, 5), "another has the tag 1")
    #expect(try await world.put("a", #","tags":["1","2","8"]"#) == nil, "nobody else has the tag 3")
    #expect(try await world.put("c", #","tags":["1","2","8"]"#) == nil)
    #expect(try await world.tags() == 4)
    #expect(try await world.put("d", #","tags":["9"]"#) == nil)
    #expect(try await world.tags() == 5)
    #expect(try await world.rows() == 4)
}

@Test func `values of languages and versions are bounded, too`() async throws {
    let world = try await QuotaWorld(installations: 100_000)
    let read = try (0..<IndexedProperty.mostValues).map { number in
        ReadInstallation(
            try InstallationJSON.read(
                try JSONValue(
                    text: """
                        {"installationId":"i\(number)","platform":"apns","pushChannel":"c\(number)","locale":"l\(number)",
                         "appVersion":"1.\(number)","country":"c\(number)"}
                        """), id: nil))
    }
    _ = try await world.world.database.importAll(read, hub: world.hub.number, at: world.world.clock.now)
    for (member, property) in [
        ("locale\":\"new", IndexedProperty.locale), ("appVersion\":\"7.7.7", .appVersion),
        ("country\":\"new", .country),
    ] {
        #expect(try await world.put("more", #","\#(member)""#) == .values(property, IndexedProperty.mostValues))
    }
    #expect(try await world.put("more", #","locale":"l7","country":"c7","appVersion":"1.7""#) == nil)
}

@Test func `documents take as many bytes as they may, and a short one is always replaced`() async throws {
    let world = try await QuotaWorld(installations: 4)
    let long = String(repeating: "x", count: 1500)
    func variables(_ text: String) -> String { #","pushVariables":{"v":"\#(text)"}"# }
    for id in ["a", "b"] { #expect(try await world.put(id, variables(long)) == nil) }
    #expect(try await world.put("c", variables(long)) == .documents(4096))
    #expect(try await world.put("c") == nil)
    #expect(try await world.put("c", variables(long)) == .documents(4096))
    #expect(try await world.put("a", variables(long.replacing("x", with: "y"))) == nil)
    #expect(try await world.put("c", variables(String(repeating: "x", count: 900))) == nil)
    let size = try await world.world.database.size(of: world.hub.number)
    let documents = try await world.world.hubs.list(.init(limit: 10), of: world.hub)
        .map { InstallationJSON.document($0.installation).json.utf8.count }
    #expect(size.documentBytes == documents.reduce(0, +) && size.installations == 3)
}

@Test func `patches make no document longer than a request can bring`() async throws {
    let world = try await QuotaWorld()
    #expect(try await world.put("a") == nil)
    var longest = 0
    for number in 0..<10 {
        let text = String(repeating: "x", count: 20_000)
        do {
            let stored = try await world.world.hubs.change("a", of: world.hub) { tree throws(InstallationError) in
                var tree = tree
                var variables = tree["pushVariables"] ?? .object([])
                variables.set("v\(number)", .string(text))
                tree.set("pushVariables", variables)
                return tree
            }
            longest = InstallationJSON.document(stored.installation).json.utf8.count
        } catch HubError.document { continue }
    }
    #expect(longest > 60_000 && longest <= 65_536)
}

@Test func `an import is the operator's own, and counts`() async throws {
    let world = try await QuotaWorld(installations: 3)
    let read = try (0..<5).map { number in
        ReadInstallation(
            try InstallationJSON.read(
                try JSONValue(
                    text: #"{"installationId":"i\#(number)","platform":"apns","pushChannel":"c\#(number)"}"#), id: nil))
    }
    for _ in 0..<2 {
        _ = try await world.world.database.importAll(read, hub: world.hub.number, at: world.world.clock.now)
        #expect(try await world.rows() == 5)
    }
    #expect(try await world.put("i4", #","tags":["a"]"#) == nil)
    #expect(try await world.put("more") == .installations(3))
}

@Test func `a hub that was large before it had quotas is allowed twice its size`() throws {
    let database = try DatabaseQueue()
    let migrator = HubSchema.migrator
    try migrator.migrate(database, upTo: try #require(migrator.migrations.first { $0.hasPrefix("13 ") }))
    try database.write { database in
        for name in ["small", "large", "empty"] {
            try database.execute(
                sql: "INSERT INTO hub(name, team, topic, is_strict, created_at) VALUES (?, 'T', 'x', 0, 0)",
                arguments: [name])
        }
        try database.execute(
            sql: """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600003)
                INSERT INTO installation(hub, id, document, platform, tags, version, created_at, updated_at)
                SELECT CASE WHEN i <= 3 THEN 1 ELSE 2 END, i, '{"ü":1}', 'apns', '', 1, 0, 0 FROM n
                """)
    }
    try migrator.migrate(database)
    let rows = try database.read { try Row.fetchAll($0, sql: "SELECT * FROM hub ORDER BY number") }
    #expect(rows.map { $0["installations"] as Int } == [3, 600_000, 0])
    #expect(rows.map { $0["document_bytes"] as Int } == [24, 4_800_000, 0])
    #expect(
        try rows.map { try HubRecord(SQLiteRow($0)).limits } == [
            HubLimits(), HubLimits(installations: 1_200_000, tags: 1_200_000), HubLimits(),
        ])
}

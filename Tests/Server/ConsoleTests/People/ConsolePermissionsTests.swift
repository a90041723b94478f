import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer
import StoreMemory
import Testing

@testable import Console

@Suite struct ConsolePermissionsTests {
    private typealias Rule = ConsolePermissions.Rule

    /// The routes of a console with people, as the table names them.
    private func routes() throws -> [String] {
        let router = Router(context: ControlContext.self)
        let api = ConsoleAPI(Router(context: ControlContext.self).buildResponder())
        let service = PeopleService(
            store: MemoryStore(), checks: PasswordChecks(cost: .init(rounds: 2, blockSize: 1, parallelism: 1)),
            clock: { Timestamp(seconds: 0) })
        try Console().add(to: router, api: api, access: .people(ConsolePeople(service)))
        return router.routes.compactMap { route in
            let path = route.path.description.dropFirst("/console".count).drop { $0 == "/" }
                .replacing("{", with: ":").replacing("}", with: "")
            let isFile = path.hasSuffix(".css") || path.hasSuffix(".js") || path.hasSuffix(".svg")
            return isFile || route.method == .head ? nil : "\(route.method.rawValue) \(path)"
        }
    }

    @Test func `every route of the console has a row, and every row a route`() throws {
        let (routes, rows) = (Set(try routes()), Set(ConsolePermissions.rules.map(\.route)))
        #expect(routes.subtracting(rows) == [])
        #expect(rows.subtracting(routes) == [])
    }

    @Test func `no row is there twice`() {
        #expect(Set(ConsolePermissions.rules.map(\.route)).count == ConsolePermissions.rules.count)
    }

    private func admits(_ rule: Rule, _ role: PersonRole, team: TeamID? = nil) -> Bool {
        rule.admits(PersonMembership(role, team: team, device: role == .support ? DeviceID(7) : nil)) { _ in "8" }
    }

    @Test func `a reader changes nothing`() {
        for rule in ConsolePermissions.rules where rule.route.hasPrefix("POST") {
            guard rule.need != .anyone, rule.need != .person else { continue }
            #expect(!admits(rule, .reader), "\(rule.route)")
            #expect(!admits(rule, .support), "\(rule.route)")
        }
    }

    @Test func `each role includes those below it`() {
        let order: [PersonRole] = [.reader, .sender, .admin, .owner]
        for rule in ConsolePermissions.rules {
            for (lower, higher) in zip(order, order.dropFirst()) where admits(rule, lower) {
                #expect(admits(rule, higher), "\(rule.route)")
            }
        }
    }

    @Test func `a person in support sees one device`() throws {
        let rule = try #require(ConsolePermissions.rule("GET devices/:id"))
        let membership = PersonMembership(.support, device: DeviceID(7))
        #expect(rule.admits(membership) { _ in "7" })
        #expect(!rule.admits(membership) { _ in "8" })
        #expect(!rule.admits(PersonMembership(.support)) { _ in "7" })
        let inbox = try #require(ConsolePermissions.rule("GET "))
        #expect(!inbox.admits(membership) { _ in "7" })
    }

    @Test func `only owners of all teams remove people`() throws {
        let rule = try #require(ConsolePermissions.rule("POST accounts/:id/remove"))
        #expect(admits(rule, .owner))
        #expect(!admits(rule, .admin))
        #expect(!admits(rule, .owner, team: TeamID(rawValue: "TEAM123456")))
    }

    @Test func `a person without a role is let in nowhere but to the sessions`() {
        for rule in ConsolePermissions.rules where rule.need != .anyone && rule.need != .person {
            #expect(!rule.admits(nil) { _ in nil }, "\(rule.route)")
        }
    }
}

@Suite struct PayloadFilterTests {
    @Test func `texts and payloads are taken out, at any depth`() throws {
        let text = #"""
            {"notifications":[{"id":"1","title":"Hello","body":"You","state":"ended","timeline":[{"state":"acked"}],
            "content":{"priority":10,"payload":{"aps":{"alert":"Hello"}}}}],"text":"Hello","next":"2"}
            """#
        let filtered = PayloadFilter.filtered(try JSONValue(text: text))
        #expect(
            filtered.json
                == #"{"notifications":[{"id":"1","state":"ended","timeline":[{"state":"acked"}],"content":{"priority":10}}],"next":"2"}"#
        )
    }
}

@Suite struct FormTokenTests {
    @Test func `tokens of two sessions differ`() {
        let (first, second) = (OneSecret(), OneSecret())
        #expect(first.derived(for: "form") == OneSecret(text: first.text).derived(for: "form"))
        #expect(first.derived(for: "form") != second.derived(for: "form"))
        #expect(first.derived(for: "form") != first.text)
    }
}

import PushCore
import PushServer
import Testing

/// What every ``AppMessageStore`` must do; a store's test suite runs each rule against a fresh store.
package struct AppMessageStoreContract {
    let store: any AppMessageStore
    let register: any RegisterStore
    private let now = Timestamp(seconds: 1_780_272_000)
    private let team = TeamID(rawValue: "TEAM123456")

    /// The rules for a store and the register in the same database.
    package init(_ store: any AppMessageStore, register: any RegisterStore) {
        self.store = store
        self.register = register
    }

    private func app(_ topic: String = "com.example.todo", team: String = "TEAM123456") async throws -> RegisteredApp {
        try await register.addApp(
            topic: Topic(rawValue: topic), team: TeamID(rawValue: team), policy: MailboxPolicy(), at: now)
    }

    private func register(_ app: RegisteredApp, on devices: [UInt64]) async throws {
        for number in devices {
            _ = try await register.register(
                device: try #require(DeviceID(number)), app: app.id, environment: .sandbox, at: now)
        }
    }

    private func message(
        _ name: String, of app: RegisteredApp, device: UInt64 = 1, seconds: Int64 = 60
    ) throws -> AppMessage {
        AppMessage(
            device: try #require(DeviceID(device)), app: app.id, team: app.team, messageID: name,
            data: ["name": name, "ñ": "\"\n"], raw: [0, 255], expiresAt: now + .seconds(seconds))
    }

    private func keep(
        _ messages: [AppMessage], limits: MessageLimits = MessageLimits()
    ) async throws -> [MessageInsertion] {
        try await store.save(messages, limits: limits, at: now)
    }

    private func waiting(
        _ scope: MessageScope = MessageScope(), after number: Int64 = 0, limit: Int = 100, at: Timestamp? = nil
    ) async throws -> [WaitingMessage] {
        try await store.waitingMessages(scope, after: number, limit: limit, at: at ?? now)
    }

    package func `messages wait in order, whole`() async throws {
        let app = try await app()
        try await register(app, on: [1, 2])
        let messages = [
            try message("a", of: app), try message("b", of: app, device: 2), try message("c", of: app),
        ]
        #expect(try await keep(Array(messages.prefix(2))) == [.kept, .kept])
        #expect(try await keep([messages[2]]) == [.kept])
        let found = try await waiting()
        #expect(found.map(\.message) == messages)
        #expect(found.map(\.number) == found.map(\.number).sorted())
        #expect(found.allSatisfy { $0.topic == app.topic && $0.receivedAt == now && $0.environment == .sandbox })
        #expect(try await waiting(limit: 2).map(\.message) == Array(messages.prefix(2)))
        #expect(try await waiting(after: found[0].number).map(\.message) == Array(messages.dropFirst()))
        #expect(try await waiting(at: now + .seconds(60)).isEmpty)
    }

    package func `a message is one by its name, its app and its device, also after its end`() async throws {
        let (app, other) = (try await app(), try await self.app("com.example.other"))
        try await register(app, on: [1, 2])
        try await register(other, on: [1])
        let first = try message("a", of: app)
        #expect(
            try await keep([first, first, try message("a", of: app, device: 2), try message("a", of: other)])
                == [.kept, .known, .kept, .kept])
        let number = try #require(try await waiting().first).number
        #expect(try await store.takeMessage(number, at: now))
        #expect(try await !store.takeMessage(number, at: now))
        #expect(try await keep([first]) == [.known])
        #expect(try await waiting().count == 2)
        let ends = try await store.messageEnds(app: app.id, messageID: "a")
        let expected: [DeviceID: MessageEnd?] = [
            try #require(DeviceID(1)): .taken, try #require(DeviceID(2)): MessageEnd?.none,
        ]
        #expect(ends == expected)
    }

    package func `only apps that are registered on the device may send`() async throws {
        let app = try await app()
        try await register(app, on: [1])
        #expect(
            try await keep([try message("a", of: app, device: 2), try message("b", of: app)])
                == [.notRegistered, .kept])
        let device = try #require(DeviceID(1))
        _ = try await register.endRegistration(device: device, app: app.id, environment: .sandbox, at: now)
        #expect(try await keep([try message("c", of: app)]) == [.notRegistered])
    }

    package func `no device and no app fills the store`() async throws {
        let (app, other) = (try await app(), try await self.app("com.example.other"))
        try await register(app, on: [1, 2])
        try await register(other, on: [1])
        var limits = MessageLimits()
        (limits.device, limits.app) = (2, 3)
        func names(_ device: UInt64, _ names: String) throws -> [AppMessage] {
            try names.map { try message(String($0), of: app, device: device) }
        }
        #expect(try await keep(try names(1, "abc"), limits: limits) == [.kept, .kept, .full])
        #expect(try await keep(try names(2, "ab"), limits: limits) == [.kept, .full])
        #expect(try await keep([try message("a", of: other)], limits: limits) == [.kept])
        _ = try await store.takeMessage(try #require(try await waiting().first).number, at: now)
        #expect(try await keep(try names(1, "cd"), limits: limits) == [.kept, .full])
    }

    package func `a team takes its own messages, up to a number`() async throws {
        let (app, foreign) = (try await app(), try await self.app("com.example.other", team: "OTHER12345"))
        try await register(app, on: [1])
        try await register(foreign, on: [1])
        let messages = try ["a", "b", "c"].map { try message($0, of: app) } + [try message("d", of: foreign)]
        _ = try await keep(messages)
        let mine = MessageScope(team: team)
        let found = try await waiting(mine)
        #expect(found.map(\.message) == Array(messages.prefix(3)))
        #expect(try await waiting(MessageScope(team: foreign.team, app: foreign.id)).count == 1)
        #expect(try await store.takeMessages(mine, through: found[1].number, limit: 1, at: now) == 1)
        #expect(try await store.takeMessages(mine, through: found[1].number, limit: 10, at: now) == 1)
        #expect(try await waiting(mine).map(\.message.messageID) == ["c"])
        #expect(try await store.takeMessages(mine, through: .max, limit: 10, at: now) == 1)
        #expect(try await waiting().map(\.message.messageID) == ["d"])
    }

    package func `what has expired ends as such, and is forgotten later`() async throws {
        let app = try await app()
        try await register(app, on: [1])
        let brief = try message("brief", of: app, seconds: 10)
        _ = try await keep([brief, try message("long", of: app, seconds: 60)])
        #expect(try await store.expireMessages(at: now + .seconds(9), limit: 10) == 0)
        #expect(try await store.expireMessages(at: now + .seconds(10), limit: 10) == 1)
        #expect(
            try await store.messageEnds(app: app.id, messageID: "brief") == [brief.device: .some(.expired)])
        #expect(try await waiting().map(\.message.messageID) == ["long"])
        #expect(try await store.forgetMessages(endedBefore: now + .seconds(10), limit: 10) == 0)
        #expect(try await store.forgetMessages(endedBefore: now + .seconds(11), limit: 10) == 1)
        #expect(try await store.messageEnds(app: app.id, messageID: "brief").isEmpty)
        #expect(try await keep([brief]) == [.kept])
    }

    package func `what waits for a webhook is in no other stream`() async throws {
        let (app, other) = (try await app(), try await self.app("com.example.other"))
        try await register(app, on: [1])
        try await register(other, on: [1])
        _ = try await keep([try message("a", of: app), try message("b", of: other)])
        let version = register.registerVersion
        let webhook = Webhook(app: app.id, url: "https://example.com/", secret: "s", setAt: now)
        try await store.setWebhook(webhook, app: app.id)
        #expect(register.registerVersion != version)
        #expect(try await store.webhooks() == [webhook])
        #expect(try await waiting(MessageScope(team: team)).map(\.message.messageID) == ["b"])
        #expect(try await store.takeMessages(MessageScope(team: team), through: .max, limit: 10, at: now) == 1)
        #expect(try await waiting(MessageScope(app: app.id)).map(\.message.messageID) == ["a"])
        try await store.setWebhook(nil, app: app.id)
        #expect(try await store.webhooks().isEmpty)
        #expect(try await waiting().map(\.message.messageID) == ["a"])
    }

    package func `the messages and the webhook of a removed app are gone`() async throws {
        let app = try await app()
        try await register(app, on: [1])
        _ = try await keep([try message("a", of: app)])
        try await store.setWebhook(Webhook(app: app.id, url: "u", secret: "s", setAt: now), app: app.id)
        _ = try await register.removeApp(topic: app.topic, at: now)
        #expect(try await waiting(MessageScope(app: app.id)).isEmpty)
        #expect(try await store.webhooks().isEmpty)
    }

    /// All that a store of apps' messages must do.
    package static var rules: [ContractRule<Self>] {
        [
            ContractRule("order") { try await $0.`messages wait in order, whole`() },
            ContractRule("name") {
                try await $0.`a message is one by its name, its app and its device, also after its end`()
            },
            ContractRule("registration") { try await $0.`only apps that are registered on the device may send`() },
            ContractRule("limits") { try await $0.`no device and no app fills the store`() },
            ContractRule("taking") { try await $0.`a team takes its own messages, up to a number`() },
            ContractRule("expiry") { try await $0.`what has expired ends as such, and is forgotten later`() },
            ContractRule("webhook") { try await $0.`what waits for a webhook is in no other stream`() },
            ContractRule("removal") { try await $0.`the messages and the webhook of a removed app are gone`() },
        ]
    }
}

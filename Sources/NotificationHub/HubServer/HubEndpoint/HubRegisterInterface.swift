import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

/// The routes by which hubs, their keys and their credentials are made, listed and revoked. Only listeners whose callers may
/// act for every team have them.
package struct HubRegisterInterface: ControlInterface {
    let database: HubDatabase
    /// The apps of the server's register.
    let apps: @Sendable () async throws -> [RegisteredApp]
    let answers: WebhookAnswers
    /// The host and port in the connection strings of keys.
    let authority: @Sendable () -> String
    /// Called after each change.
    let changed: @Sendable () -> Void
    let changes: AuditedChanges
    let clock: @Sendable () -> Timestamp

    /// Creates an instance from its properties.
    package init(
        database: HubDatabase, apps: @escaping @Sendable () async throws -> [RegisteredApp],
        answers: WebhookAnswers,
        authority: @escaping @Sendable () -> String,
        changed: @escaping @Sendable () -> Void, changes: AuditedChanges,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.database = database
        self.apps = apps
        self.answers = answers
        self.authority = authority
        self.changed = changed
        self.changes = changes
        self.clock = clock
    }

    /// Adds the routes.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        guard !isSecured else { return }
        router.get(
            "v1/hubs",
            use: handler { _, _ in
                let hubs = try await database.hubs().filter { Self.isInScope($0) }
                return .json(HubsAnswer(hubs: hubs.map(HubsAnswer.Item.init)))
            })
        router.post("v1/hubs", use: handler(createHub))
        router.get("v1/hubs/:hub/keys", use: handler(listKeys))
        router.post("v1/hubs/:hub/keys", use: handler(createKey))
        router.delete("v1/hubs/:hub/keys/:id", use: handler(revokeKey))
        router.get("v1/hubs/:hub/credentials", use: handler(listCredentials))
        router.post("v1/hubs/:hub/credentials", use: handler(addCredential))
        router.delete("v1/hubs/:hub/credentials/:id", use: handler(removeCredential))
        router.get("v1/hubs/:hub/webhook/answers", use: handler(listWebhookAnswers))
    }

    private func handler(
        _ answer: @escaping @Sendable (Request, ControlContext) async throws -> Response
    ) -> @Sendable (Request, ControlContext) async throws -> Response {
        { request, context in
            do { return try await answer(request, context) } catch {
                guard let problem = HubProblem(error) else { throw error }
                return problem.response
            }
        }
    }

    /// Makes a change, and notes it in the server's logs.
    func change<Document: Encodable>(
        _ change: AuditChange, before: (any Encodable)? = nil, _ body: () async throws -> Document
    ) async throws -> Document {
        let document = try await changes.make(change, before: before, body)
        changed()
        return document
    }

    /// The hub that the path names.
    func hub(_ context: ControlContext) async throws -> HubRecord {
        let name = Request.plain(try context.parameters.require("hub"))
        guard let hub = try await database.hub(named: name), Self.isInScope(hub) else {
            throw HubError.missing("the hub \(name)")
        }
        return hub
    }

    /// Whether the person of the console acts for the hub's team.
    private static func isInScope(_ hub: HubRecord) -> Bool {
        ConsoleScope.current.map { $0 == hub.team } ?? true
    }

    /// How clients get a hub and a key.
    func connection(_ key: HubKey) -> String {
        HubConnectionString(authority: authority(), keyName: key.name, key: key.primary).description
    }

    private func listWebhookAnswers(_ request: Request, _ context: ControlContext) async throws -> Response {
        let hub = try await hub(context)
        guard let webhook = try await database.webhooks().first(where: { $0.hub == hub.number }) else {
            throw HubError.missing("the webhook")
        }
        return .json(answers.list(of: webhook.url))
    }

    private func createHub(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(request, members: ["name", "topic", "azureLimits"])
        let name = try document.text(required: "name", "letters, digits, - _ and .")
        if let fault = HubRecord.fault(inName: name) { throw ControlError.invalid(fault) }
        let topic = try document.text(required: "topic", "the topic of the hub's app")
        guard let app = try await apps().first(where: { $0.topic.rawValue == topic }) else {
            throw ControlError.invalid("the register has no app \(topic.prefix(255)); GET /v1/apps shows those it has")
        }
        let isStrict = try document.flag("azureLimits") ?? false
        let answer = try await change(AuditChange(.addHub, name, team: app.team.rawValue)) {
            try await addHub(name, app: app, isStrict: isStrict)
        }
        return .json(answer, status: .created)
    }

    private func addHub(_ name: String, app: RegisteredApp, isStrict: Bool) async throws -> HubsAnswer.Item {
        let keys = HubKey.first(at: clock())
        let made = try await database.addHub(
            name: name, team: app.team, topic: app.topic, isStrict: isStrict, keys: keys, at: clock())
        guard let made else {
            throw ControlError(
                status: .conflict, code: "conflict", message: "there already is a hub \(name); choose another name")
        }
        var answer = HubsAnswer.Item(made)
        answer.full = connection(keys[0])
        answer.listen = connection(keys[1])
        return answer
    }
}

/// The hubs of a server in the form of the API.
struct HubsAnswer: Encodable {
    var hubs: [Item]

    struct Item: Encodable {
        var name: String
        var team: String
        var topic: String
        var createdAt: String
        /// Whether expressions have Azure's limits.
        var azureLimits: Bool
        /// The connection strings of the first keys, in the answer to the hub's creation alone.
        var full: String?
        var listen: String?

        init(_ hub: HubRecord) {
            name = hub.name
            team = hub.team.rawValue
            topic = hub.topic.rawValue
            createdAt = hub.createdAt.description
            azureLimits = hub.isStrict
        }
    }
}

import FCMProtocol
import HTTPTypes
import Hummingbird
import PushCore

extension RegisterInterface {
    /// A team in the form of the API, with how much it owns.
    private struct TeamAnswer: Encodable {
        var id: String
        var name: String?
        /// The team as FCM's project.
        var projectId: String
        /// The project's number.
        var senderId: String?
        var apps = 0
        var keys = 0
        var certificates = 0
        var serviceAccounts = 0

        init(_ id: TeamID) {
            self.id = id.rawValue
            projectId = ProjectName.id(of: id)
            senderId = ProjectNumber(id)?.description
        }
    }

    private struct TeamsAnswer: Encodable {
        var teams: [TeamAnswer]
    }

    func listTeams(_ request: Request, _ context: ControlContext) async throws -> Response {
        var teams: [TeamID: TeamAnswer] = [:]
        func change(_ team: TeamID, _ body: (inout TeamAnswer) -> Void) {
            body(&teams[team, default: TeamAnswer(team)])
        }
        for team in try await register.teams() { change(team.id) { $0.name = team.name } }
        for app in try await register.apps() { change(app.team) { $0.apps += 1 } }
        for key in try await register.providerKeys() { change(key.team) { $0.keys += 1 } }
        for entry in try await register.providerCertificates() where entry.revokedAt == nil {
            change(entry.team) { $0.certificates += 1 }
        }
        for account in try await register.serviceAccounts() where account.revokedAt == nil {
            change(account.team) { $0.serviceAccounts += 1 }
        }
        return .json(TeamsAnswer(teams: teams.values.sorted { $0.id < $1.id }))
    }

    func addTeam(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(request, members: ["id", "name"])
        let name = try document.text(required: "name", "1 to 255 bytes")
        guard name.utf8.count <= 255 else { throw ControlError.invalid("a team's name has 1 to 255 bytes") }
        let id = try document.text("id") ?? RegisterID.random()
        guard TeamID.hasShape(id) else {
            throw ControlError.invalid("id is \"\(id.prefix(40))\"; ten characters A-Z0-9 would be right")
        }
        let team = RegisteredTeam(id: TeamID(rawValue: id), name: name, createdAt: clock())
        let answer = try await changes.make(AuditChange(.addTeam, id, team: id)) {
            try await register.addTeam(team)
            var answer = TeamAnswer(team.id)
            answer.name = name
            return answer
        }
        return .json(answer, status: .created)
    }

    func addApp(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(
            request, members: ["topic", "team", "name", "push", "limit", "overflow"])
        let topic = try document.text(required: "topic", "the app's bundle id, com.example.app")
        guard Topic.hasShape(topic) else {
            throw ControlError.invalid(
                "\"\(topic.prefix(40))\" cannot name an app; letters, digits, dots, - and _, at most 255")
        }
        guard !Topic.isReserved(topic) else {
            throw ControlError.invalid(
                "\"\(topic)\" cannot name an app: `web-push` and names that begin with `aldaba.` are the program's own")
        }
        let team = try document.team()
        let (name, push) = (try document.text("name"), try document.flag("push"))
        let policy = MailboxPolicy(
            limit: try document.number("limit", in: 1...1_000_000) ?? 1000,
            overflow: try document.word("overflow") ?? .dropOldest)
        let answer = try await changes.make(AuditChange(.addApp, topic, team: team.rawValue)) {
            let app = try await register.addApp(
                topic: Topic(rawValue: topic), team: team, policy: policy, at: clock())
            guard name != nil || push == false else { return AppsAnswer.Item(app) }
            return AppsAnswer.Item(
                try await register.updateApp(topic: app.topic, name: name, isPushEnabled: push) ?? app)
        }
        return .json(answer, status: .created)
    }

    func changeApp(_ request: Request, _ context: ControlContext) async throws -> Response {
        let app = try await app(context)
        let document = try await RequestDocument(request, members: ["name", "push", "limit", "overflow"])
        let (name, push) = (try document.text("name"), try document.flag("push"))
        let policy = MailboxPolicy(
            limit: try document.number("limit", in: 1...1_000_000) ?? app.policy.limit,
            overflow: try document.word("overflow") ?? app.policy.overflow)
        let answer = try await changes.make(
            AuditChange(.updateApp, app.topic.rawValue, team: app.team.rawValue), before: AppsAnswer.Item(app)
        ) {
            let changed = try await register.updateApp(
                topic: app.topic, name: name, isPushEnabled: push, policy: policy == app.policy ? nil : policy)
            guard let changed else { throw missing("app \(app.topic)", list: "/v1/apps") }
            return AppsAnswer.Item(changed)
        }
        return .json(answer)
    }

    func removeApp(_ request: Request, _ context: ControlContext) async throws -> Response {
        let app = try await app(context)
        _ = try await changes.make(
            AuditChange(.removeApp, app.topic.rawValue, team: app.team.rawValue), before: AppsAnswer.Item(app)
        ) {
            guard try await register.removeApp(topic: app.topic, at: clock()) != nil else {
                throw missing("app \(app.topic)", list: "/v1/apps")
            }
            return DeletedObject()
        }
        return Response(status: .noContent)
    }

    /// The app that the path names.
    func app(_ context: ControlContext) async throws -> RegisteredApp {
        let topic = try component("topic", context)
        guard let app = try await register.apps().first(where: { $0.topic.rawValue == topic }) else {
            throw missing("app \(topic.prefix(255))", list: "/v1/apps")
        }
        return app
    }
}

import HTTPTypes
import Hummingbird
import PushCore
import PushServer

extension HubRegisterInterface {
    /// The kinds of a hub's keys.
    enum KeyKind: String, CaseIterable {
        /// Signs requests to Azure's interface; has a connection string.
        case signature
        /// A bearer token of the hub's own API.
        case api
        /// The key of the tutorial's backend, which has no rights to choose.
        case backend
    }

    /// A key in the form of the API.
    struct KeyAnswer: Encodable {
        var name: String
        var kind: String
        var rights: String?
        var createdAt: String?
        var expiresAt: String?
        /// The key itself, in the answer to its creation alone.
        var connectionString: String?
        var key: String?
    }

    private struct KeysAnswer: Encodable {
        var keys: [KeyAnswer]
    }

    func listKeys(_ request: Request, _ context: ControlContext) async throws -> Response {
        .json(KeysAnswer(keys: try await keys(of: try await hub(context))))
    }

    private func keys(of hub: HubRecord) async throws -> [KeyAnswer] {
        let signing = try await database.keys(of: hub.number).map(Self.answer)
        let backend = try await database.backendKeys(of: hub.number).map {
            KeyAnswer(name: $0, kind: KeyKind.backend.rawValue)
        }
        return try await signing + backend + database.apiKeys(of: hub.number).map(Self.answer)
    }

    private static func answer(_ key: HubKey) -> KeyAnswer {
        KeyAnswer(
            name: key.name, kind: KeyKind.signature.rawValue, rights: key.rights.text,
            createdAt: key.createdAt.description)
    }

    private static func answer(_ key: HubAPIKey) -> KeyAnswer {
        KeyAnswer(
            name: key.name, kind: KeyKind.api.rawValue, rights: key.rights.text, createdAt: key.createdAt.description,
            expiresAt: key.expiresAt?.description)
    }

    /// Makes a key, in place of one of its name and kind.
    func createKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let hub = try await hub(context)
        let document = try await RequestDocument(request, members: ["name", "kind", "rights", "days"])
        let name = try document.text(required: "name", "1 to 256 bytes without a semicolon")
        guard name.utf8.count <= 256, !name.contains(";") else {
            throw ControlError.invalid("a key's name has 1 to 256 bytes, without a semicolon")
        }
        let kind: KeyKind = try document.word("kind") ?? .signature
        guard let rights = HubRights(text: try document.text("rights") ?? "Listen") else {
            throw ControlError.invalid("rights: there are Listen, Send, Manage and Report, separated by commas")
        }
        let days = try document.number("days", in: 1...3650)
        guard kind == .api || (days == nil && !rights.contains(.report)) else {
            throw ControlError.invalid("days and the right Report go with the kind api")
        }
        let earlier = try await keys(of: hub).first { $0.name == name && $0.kind == kind.rawValue }
        let answer = try await change(
            AuditChange(.addHubKey, "\(hub.name)/\(name)", team: hub.team.rawValue), before: earlier
        ) {
            try await store(kind, name: name, rights: rights, days: days, of: hub)
        }
        return .json(answer, status: .created)
    }

    private func store(
        _ kind: KeyKind, name: String, rights: HubRights, days: Int?, of hub: HubRecord
    ) async throws -> KeyAnswer {
        let now = clock()
        switch kind {
        case .signature:
            let key = HubKey.make(name: name, rights: rights, at: now)
            try await database.setKey(key, of: hub.number)
            var answer = Self.answer(key)
            answer.connectionString = connection(key)
            return answer
        case .api:
            let key = HubAPIKey(
                hub: hub.number, name: name, rights: rights,
                expiresAt: days.map { now.adding(milliseconds: Int64($0) * 86_400_000) }, createdAt: now)
            let text = HubAPIKey.makeText()
            try await database.addAPIKey(key, hash: HubAPIKey.hash(text))
            var answer = Self.answer(key)
            answer.key = text
            return answer
        case .backend:
            let text = HubKey.makeSecret()
            try await database.addBackendKey(name: name, hash: HubAPIKey.hash(text), of: hub.number, at: now)
            return KeyAnswer(name: name, kind: kind.rawValue, createdAt: now.description, key: text)
        }
    }

    func revokeKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let hub = try await hub(context)
        let name = Request.plain(try context.parameters.require("id"))
        let earlier = try await keys(of: hub).first { $0.name == name }
        guard let earlier else { throw HubError.missing("the key \(name) of the hub \(hub.name)") }
        _ = try await change(
            AuditChange(.revokeHubKey, "\(hub.name)/\(name)", team: hub.team.rawValue), before: earlier
        ) {
            guard try await database.removeKey(name, of: hub.number) else { throw ControlError.notFound }
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}

import HTTPTypes
import Hummingbird
import PushCore
import PushServer

extension HubRegisterInterface {
    /// A credential in the form of the API, without its secret.
    private struct CredentialAnswer: Encodable {
        var number: Int64
        var kind: String
        var name: String
        var owner: String
        var environment: String?
        var address: String
        var expiresAt: String?
        var daysLeft: Int?
        var createdAt: String
        var warning: String?

        init(_ credential: PushCredential, at now: Timestamp) {
            number = credential.number
            kind = credential.kind.rawValue
            name = credential.name
            owner = credential.owner
            environment = credential.environment?.rawValue
            address = credential.address
            expiresAt = credential.expiresAt?.description
            daysLeft = credential.expiresAt?.days(since: now)
            createdAt = credential.createdAt.description
            warning = credential.warning(at: now)
        }
    }

    private struct CredentialsAnswer: Encodable {
        var credentials: [CredentialAnswer]
    }

    func listCredentials(_ request: Request, _ context: ControlContext) async throws -> Response {
        let found = try await database.credentials(of: try await hub(context).number)
        return .json(CredentialsAnswer(credentials: found.map { CredentialAnswer($0, at: clock()) }))
    }

    /// Adds a credential, in place of the one for the same push service and environment.
    func addCredential(_ request: Request, _ context: ControlContext) async throws -> Response {
        let hub = try await hub(context)
        let document = try await RequestDocument(
            request,
            members: [
                "kind", "key", "keyId", "team", "environment", "subject", "address", "authority", "replace",
            ])
        guard let kind: PushCredential.Kind = try document.word("kind") else {
            let kinds = PushCredential.Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError.invalid("kind is missing: \(kinds)")
        }
        var credential: PushCredential
        do { credential = try Self.read(document, kind, of: hub, at: clock()) } catch let fault
            as CredentialReader.Fault
        {
            throw ControlError.invalid(fault.description)
        }
        let present = try await database.credentials(of: hub.number).first {
            $0.kind.service == kind.service && $0.environment == credential.environment
        }
        if kind == .webpush, let present, present.name != credential.name, try document.flag("replace") != true {
            throw ControlError(
                status: .conflict, code: "conflict",
                message:
                    "the hub \(hub.name) has the VAPID key \(present.name) already: with another one every browser "
                    + "that subscribed with it is lost; \"replace\": true does it anyway")
        }
        credential.authority = try document.text("authority")
        let found = credential
        let answer = try await change(
            AuditChange(.setHubCredential, "\(hub.name)/\(kind.rawValue)", team: hub.team.rawValue),
            before: present.map { CredentialAnswer($0, at: clock()) }
        ) {
            var added = found
            added.number = try await database.setCredential(found)
            return CredentialAnswer(added, at: clock())
        }
        return .json(answer, status: .created)
    }

    private static func read(
        _ document: RequestDocument, _ kind: PushCredential.Kind, of hub: HubRecord, at now: Timestamp
    ) throws -> PushCredential {
        let key = try document.text("key")
        let address = try document.text("address")
        let environment: PushEnvironment = try document.word("environment") ?? .production
        switch kind {
        case .webpush:
            let subject = try document.text(required: "subject", "mailto:ADDRESS or https://HOST")
            return try CredentialReader.webPush(key: key, subject: subject, hub: hub, at: now)
        case .apnsCertificate:
            return try CredentialReader.apple(
                certificate: try document.text(required: "key", "certificate, chain and private key in PEM"),
                environment: environment, address: address, hub: hub, at: now)
        case .fcm:
            return try CredentialReader.google(
                try document.text(required: "key", "the service account's JSON as text"), address: address, hub: hub,
                at: now)
        case .apns:
            return try CredentialReader.apple(
                pem: try document.text(required: "key", "the text of AuthKey_KEYID.p8"),
                keyID: try document.text("keyId") ?? "", team: try document.text("team") ?? hub.team.rawValue,
                environment: environment, address: address, hub: hub, at: now)
        }
    }

    func removeCredential(_ request: Request, _ context: ControlContext) async throws -> Response {
        let hub = try await hub(context)
        let text = Request.plain(try context.parameters.require("id"))
        let present = try await database.credentials(of: hub.number).first { String($0.number) == text }
        guard let present else { throw HubError.missing("the credential \(text) of the hub \(hub.name)") }
        _ = try await change(
            AuditChange(.removeHubCredential, "\(hub.name)/\(present.kind.rawValue)", team: hub.team.rawValue),
            before: CredentialAnswer(present, at: clock())
        ) {
            guard try await database.removeCredential(present.number, of: hub.number) else {
                throw ControlError.notFound
            }
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}

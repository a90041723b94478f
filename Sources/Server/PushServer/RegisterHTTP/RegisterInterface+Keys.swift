import Crypto
import HTTPTypes
import Hummingbird
import PushCore

extension RegisterInterface {
    /// A provider key in the form of the API.
    private struct KeyAnswer: Encodable {
        var keyId: String
        var team: String
        var createdAt: String
        var publicKey: String?
        /// The private half, in the answer to the key's creation alone.
        var privateKey: String?

        init(_ key: ProviderKey) {
            keyId = key.keyID.rawValue
            team = key.team.rawValue
            createdAt = key.createdAt.description
            publicKey = key.publicKeyPEM
        }
    }

    private struct KeysAnswer: Encodable {
        var keys: [KeyAnswer]
    }

    func listKeys(_ request: Request, _ context: ControlContext) async throws -> Response {
        .json(KeysAnswer(keys: try await register.providerKeys().map(KeyAnswer.init)))
    }

    /// Makes a key; with `keyId` and `key` it adds one that was made elsewhere.
    func addKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(request, members: ["team", "keyId", "key"])
        let team = try document.team()
        if let pem = try document.text("key") {
            return try await importKey(pem, id: try document.text("keyId") ?? "", team: team)
        }
        guard try document.text("keyId") == nil else {
            throw ControlError.invalid("keyId goes with key, the text of AuthKey_KEYID.p8; without both a key is made")
        }
        let answer = try await changes.make(AuditChange(.addKey, "", team: team.rawValue), naming: \.keyId) {
            let made = try await files.addKey(team: team)
            var answer = KeyAnswer(made.key)
            answer.privateKey = made.privateKey
            return answer
        }
        return .json(answer, status: .created)
    }

    /// Adds the public half of a key that was made elsewhere, such as at Apple.
    private func importKey(_ pem: String, id: String, team: TeamID) async throws -> Response {
        guard KeyID.hasShape(id) else {
            throw ControlError.invalid("keyId is \"\(id.prefix(40))\"; ten characters A-Z0-9 would be right")
        }
        let read =
            (try? P256.Signing.PrivateKey(pemRepresentation: pem))?.publicKey
            ?? (try? P256.Signing.PublicKey(pemRepresentation: pem))
        guard let read else {
            throw ControlError.invalid("key is no P-256 key in PEM, as Apple's AuthKey_KEYID.p8 is")
        }
        let key = ProviderKey(
            keyID: KeyID(rawValue: id), team: team, publicKeyPEM: read.pemRepresentation, createdAt: clock())
        let answer = try await changes.make(AuditChange(.importKey, id, team: team.rawValue)) {
            try await register.addProviderKey(key)
            return KeyAnswer(key)
        }
        return .json(answer, status: .created)
    }

    func revokeKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let id = try component("id", context)
        guard let key = try await register.providerKeys().first(where: { $0.keyID.rawValue == id }) else {
            throw missing("key \(id.prefix(40)) that could be revoked", list: "/v1/keys")
        }
        _ = try await changes.make(AuditChange(.revokeKey, id, team: key.team.rawValue), before: KeyAnswer(key)) {
            guard try await register.revokeProviderKey(key.keyID, at: clock()) != nil else {
                throw missing("key \(id) that could be revoked", list: "/v1/keys")
            }
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}

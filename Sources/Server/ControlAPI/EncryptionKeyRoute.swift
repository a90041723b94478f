import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The route `GET /v1/registrations/{token}/encryption-key`: the public key to which a sender encrypts for a device
/// token.
///
/// The member `keys` has the two members of a Web Push subscription, so that libraries for Web Push accept it as it is.
struct EncryptionKeyRoute: Sendable {
    let keys: any EncryptionKeyService
    let access: ProviderAccess

    private struct Answer: Encodable {
        struct Keys: Encodable {
            var p256dh: String
            var auth: String
        }
        var keyId: String
        var topic: String
        var keys: Keys
    }

    func respond(_ request: Request, token: String) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        switch try await keys.encryptionKey(of: token, team: team) {
        case .key(let key, let topic):
            return .json(
                Answer(keyId: key.id, topic: topic.rawValue, keys: .init(p256dh: key.p256dh, auth: key.auth)))
        case .none:
            throw ControlError(
                status: .notFound, code: "noEncryptionKey",
                message: "the app has published no key on that device: its manifest leaves encrypted payloads to an "
                    + "extension, or its agent does not know of keys")
        case .unregistered:
            throw ControlError(
                status: .gone, code: "unregistered", message: "the registration of that device token has ended")
        case .unknownToken: throw ControlError.notFound
        }
    }
}

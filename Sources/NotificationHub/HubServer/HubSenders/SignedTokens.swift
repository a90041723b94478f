import Crypto
import Foundation
import HubProtocol
import PushCore
import Synchronization

/// A JSON Web Token signed by ES256 (RFC 7515, RFC 7518).
enum ES256 {
    static func token(
        header: [JSONValue.Member], claims: [JSONValue.Member], key: P256.Signing.PrivateKey
    ) throws -> String {
        try JSONWebToken.signed(
            header: [.init("alg", .string("ES256"))] + header, claims: claims,
            by: { try Array(key.signature(for: $0).rawRepresentation) })
    }
}

/// The tokens of VAPID keys (RFC 8292): one for each key and push service, used for six of their twelve hours.
final class VAPIDTokens: Sendable {
    private struct Key: Hashable {
        var credential: Int64
        var origin: String
    }

    private let made = Mutex<[Key: (value: Secret<String>, at: Timestamp)]>([:])
    private let clock: @Sendable () -> Timestamp
    private static let lifetime: Int64 = 6 * 3_600_000
    private static let most = 1024

    init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// The value of the field `Authorization` for a push service.
    func authorization(_ credential: PushCredential, origin: String) throws -> String {
        let now = clock()
        let key = Key(credential: credential.number, origin: origin)
        if let found = made.withLock({ $0[key] }), now.milliseconds(since: found.at) < Self.lifetime {
            return found.value.wrappedValue
        }
        let secret = try P256.Signing.PrivateKey(pemRepresentation: credential.secret)
        let token = try ES256.token(
            header: [.init("typ", .string("JWT"))],
            claims: [
                .init("aud", .string(origin)), .init("exp", .number(String(now.rawValue / 1000 + 12 * 3600))),
                .init("sub", .string(credential.owner)),
            ], key: secret)
        let value = "vapid t=\(token),k=\(Base64URL.encode(Array(secret.publicKey.x963Representation)))"
        made.withLock { made in
            if made.count >= Self.most { made.removeAll() }
            made[key] = (Secret(value), now)
        }
        return value
    }
}

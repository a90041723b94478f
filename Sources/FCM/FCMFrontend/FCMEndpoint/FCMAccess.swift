import FCMProtocol
import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The access check of FCM's API: it requires an access token of a service account that was not revoked.
package struct FCMAccess: Sendable {
    let accounts: ServiceAccountDirectory
    let sealer: AccessTokenSealer
    let clock: @Sendable () -> Timestamp

    /// Creates the check for some accounts and a sealer.
    package init(
        accounts: ServiceAccountDirectory, sealer: AccessTokenSealer, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.accounts = accounts
        self.sealer = sealer
        self.clock = clock
    }

    /// The account of a request's access token.
    func account(_ request: Request) async throws -> ServiceAccount {
        try await account(request.headers[.authorization])
    }

    /// The account of the value of a field `Authorization`.
    func account(_ authorization: String?) async throws -> ServiceAccount {
        func refused(_ reason: String, _ message: String) -> FCMRejection {
            FCMRejection(.unauthenticated, message, reason: reason)
        }
        let field = authorization ?? ""
        guard field.utf8.count > 7, field.prefix(7).lowercased() == "bearer " else {
            throw refused(
                "CREDENTIALS_MISSING",
                "an access token is missing: Authorization: Bearer TOKEN, which a service account gets at /token")
        }
        guard let grant = sealer.open(String(field.dropFirst(7)).trimmingPrefix(" ").description) else {
            throw refused(
                "ACCESS_TOKEN_TYPE_UNSUPPORTED",
                "the access token was not made here; a service account gets one at /token")
        }
        guard grant.expiresAt > clock() else {
            throw refused("ACCESS_TOKEN_EXPIRED", "the access token has ended; get another at /token")
        }
        guard let account = try await accounts.account(keyID: grant.keyID) else {
            throw refused("ACCOUNT_STATE_INVALID", "the service account of the access token was revoked")
        }
        try await RequestScope.prove(.team(account.team), key: account.keyID)
        return account
    }
}

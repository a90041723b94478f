import FCMProtocol
import PushServer

/// Accepts access tokens of service accounts in addition to providers' own tokens, for endpoints that both may use.
package struct AccountAuthentication: ProviderAuthentication {
    private let accounts: FCMAccess
    private let providers: any ProviderAuthentication

    /// Creates an authentication for both kinds of credentials.
    package init(accounts: FCMAccess, providers: any ProviderAuthentication) {
        self.accounts = accounts
        self.providers = providers
    }

    /// The team of a valid access token; otherwise the verdict on it as a provider's token.
    package func team(authorization: String) async throws -> ProviderVerdict {
        do { return .team(try await accounts.account(authorization).team) } catch is FCMRejection {
            return try await providers.team(authorization: authorization)
        }
    }
}

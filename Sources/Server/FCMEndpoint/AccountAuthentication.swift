import FCMWire
import RegisterCore

/// Takes access tokens of service accounts beside providers' own tokens, where a door is for both.
package struct AccountAuthentication: ProviderAuthentication {
    private let accounts: FCMAccess
    private let providers: any ProviderAuthentication

    /// Judges both kinds of credentials.
    package init(accounts: FCMAccess, providers: any ProviderAuthentication) {
        self.accounts = accounts
        self.providers = providers
    }

    /// The team of an access token that counts; else what the providers' judge says.
    package func team(authorization: String) async throws -> ProviderVerdict {
        do { return .team(try await accounts.account(authorization).team) } catch is FCMRefusal {
            return try await providers.team(authorization: authorization)
        }
    }
}

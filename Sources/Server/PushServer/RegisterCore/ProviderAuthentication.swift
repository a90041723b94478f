import PushCore

/// Checks a provider's bearer token for the APIs other than APNs' own.
package protocol ProviderAuthentication: Sendable {
    /// The team of a valid token. `authorization` is the header's value, `bearer JWT`.
    ///
    /// - Throws: An error when the store cannot be read; whether the token is valid is not known then.
    func team(authorization: String) async throws -> ProviderVerdict
}

/// The verdict on a provider's credential.
package enum ProviderVerdict: Hashable, Sendable {
    /// The token is valid, and belongs to this team.
    case team(TeamID)
    /// There is no token: the header does not begin with `bearer`.
    case missing
    /// The token is genuine, and older than an hour.
    case expired
    /// The token is not genuine: malformed, of an unknown or revoked key, wrongly signed, or made in the future.
    case invalid
}

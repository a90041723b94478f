import PushModel

/// Checks a provider's bearer token for the APIs that take it beside APNs' own.
public protocol ProviderAuthentication: Sendable {
    /// The team of a valid token. `authorization` is the header's value, `bearer JWT`.
    ///
    /// - Throws: when the store cannot be read; whether the token is valid is not known then.
    func team(authorization: String) async throws -> ProviderVerdict
}

/// What a provider's credential is worth.
public enum ProviderVerdict: Hashable, Sendable {
    /// The token is valid, and of this team.
    case team(TeamID)
    /// There is no token: the header does not begin with `bearer`.
    case missing
    /// The token is genuine, and older than an hour.
    case expired
    /// The token is not genuine: malformed, of an unknown or revoked key, wrongly signed, or made in the future.
    case invalid
}

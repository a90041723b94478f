import PushCore
import PushServer

/// The access check for projects, each of which is a team; the port of components that issue access tokens.
package protocol ProjectAuthentication: Sendable {
    /// The team of the value of a field `Authorization`; `nil` for a caller that may act for every team.
    ///
    /// - Throws: ``ControlError`` for an invalid credential, with the values that are right.
    func team(authorization: String?) async throws -> TeamID?
}

extension ProviderAccess: ProjectAuthentication {
    /// The team of a provider token.
    package func team(authorization: String?) async throws -> TeamID? { try await team(authorization) }
}

/// The access check of the development listener: whoever shows a valid credential acts for its team, everybody else for every
/// team.
struct DevelopmentAccess: ProjectAuthentication {
    private let credentials: any ProjectAuthentication

    init(_ credentials: any ProjectAuthentication) { self.credentials = credentials }

    func team(authorization: String?) async throws -> TeamID? {
        if authorization != nil {
            // A refused credential counts as none. That the register cannot be read is thrown.
            do { return try await credentials.team(authorization: authorization) } catch is ControlError {}
        }
        return try await ProviderAccess(authentication: nil).team(nil)
    }
}

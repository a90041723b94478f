import ControlHTTP
import PushModel

/// Judges who may act for a project, that is for a team; the port of whoever issues access tokens.
package protocol ProjectAuthentication: Sendable {
    /// The team of a field `Authorization`; `nil` for a caller who may act for every team.
    ///
    /// - Throws: ``ControlError`` for what is no valid credential, with what would be right.
    func team(authorization: String?) async throws -> TeamID?
}

extension ProviderAccess: ProjectAuthentication {
    /// Takes provider tokens.
    package func team(authorization: String?) async throws -> TeamID? { try await team(authorization) }
}

import PushModel
import RegisterCore

/// Which team a request may act for.
package struct ProviderAccess: Sendable {
    /// Judges provider tokens; `nil` where whoever reaches the listener may act for every team.
    private let authentication: (any ProviderAuthentication)?

    /// Makes the access of a listener.
    ///
    /// - Parameter authentication: `nil` where whoever reaches the listener may act for every team.
    package init(authentication: (any ProviderAuthentication)?) { self.authentication = authentication }

    /// The team of a field `Authorization`; `nil` for every team.
    ///
    /// - Throws: a refusal, with what would be right.
    package func team(_ authorization: String?) async throws -> TeamID? {
        guard let authentication else {
            await RequestScope.prove(.development)
            return nil
        }
        guard let authorization else {
            throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        }
        switch try await authentication.team(authorization: authorization) {
        case .team(let team):
            await RequestScope.prove(.team(team))
            return team
        case .missing: throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        case .expired: throw ControlError.notAuthorized("the provider token is older than one hour")
        case .invalid: throw ControlError.notAuthorized("the provider token is not valid")
        }
    }
}

import PushCore

/// The access check for requests, which determines the caller's team.
package struct ProviderAccess: Sendable {
    /// The check of provider tokens; `nil` where every caller may act for every team.
    private let authentication: (any ProviderAuthentication)?

    /// Creates the access check of a listener.
    ///
    /// - Parameter authentication: The check of provider tokens; `nil` where every caller may act for every team.
    package init(authentication: (any ProviderAuthentication)?) { self.authentication = authentication }

    /// The team of the value of a field `Authorization`; `nil` for every team.
    ///
    /// - Throws: A refusal, with the values that are right.
    package func team(_ authorization: String?) async throws -> TeamID? {
        guard let authentication else {
            // A person of the console acts for one team, a caller on loopback for all.
            let team = ConsoleScope.current
            try await RequestScope.prove(team.map { .team($0) } ?? .development)
            return team
        }
        guard let authorization else {
            throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        }
        switch try await authentication.team(authorization: authorization) {
        case .team(let team):
            try await RequestScope.prove(.team(team))
            return team
        case .missing: throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        case .expired: throw ControlError.notAuthorized("the provider token is older than one hour")
        case .invalid: throw ControlError.notAuthorized("the provider token is not valid")
        }
    }
}

import APNsProtocol
import PushCore

/// Finds the devices on demand of registration tokens, for FCM's interfaces.
package struct OnDemandTokens: Sendable {
    private let register: OnDemandRegister
    private let accounts: ServiceAccountDirectory
    private let tokens: TokenDirectory

    /// Uses a register that adds devices, and the accounts that know the projects of their apps.
    ///
    /// - Returns: `nil` for a register that adds no devices.
    package init?(_ register: OnDemandRegister, accounts: ServiceAccountDirectory, tokens: TokenDirectory) {
        guard register.kinds.contains(.tokens) else { return nil }
        self.register = register
        self.accounts = accounts
        self.tokens = tokens
    }

    /// The answer that a token stands for; `nil` for most.
    package func refusing(_ text: String) -> RefusingToken? {
        OnDemandRegister.token(of: text).flatMap(RefusingToken.init)
    }

    /// The registration of a token that was not made here, on a device of its own; `nil` for other tokens.
    ///
    /// The app is the one of the team's project. A token that was seen before may be one of another app.
    package func registration(of text: String, team: TeamID) async throws -> (
        subject: TokenSubject, app: RegisteredApp
    )? {
        guard let token = OnDemandRegister.token(of: text), case .bad = try await resolution(of: token) else {
            return nil
        }
        let app = try await register.app(Topic(rawValue: accounts.projectName(of: team)), of: team)
        return (try await register.subject(of: token, text: text, app: app), app)
    }

    /// Whether a name is the project of a team's accounts.
    package func isProject(_ name: String, of team: TeamID) -> Bool { accounts.unknownProject(of: team) == name }

    private func resolution(of token: DeviceToken) async throws -> TokenDirectory.Resolution {
        let known = tokens.known(token)
        guard case .needsLookUp = known else { return known }
        return try await tokens.find(token)
    }
}

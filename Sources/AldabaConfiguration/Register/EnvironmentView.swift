import PushCore

/// An environment as commands show it; the members are those of the JSON.
package struct EnvironmentView: Encodable, Sendable, Equatable {
    /// `sandbox` or `production`.
    package var environment: String
    /// The host of Apple's that the address replaces.
    package var insteadOf: String
    /// The value of `aps-environment` in an app's entitlements.
    package var entitlement: String
    /// The address of the provider API; `nil` when no server of the folder has this environment now.
    package var address: String?

    /// Shows an environment beside the server that runs, if one does.
    package init(_ environment: PushEnvironment, running: ServerAddresses?) {
        self.environment = environment.rawValue
        insteadOf = environment == .sandbox ? "api.sandbox.push.apple.com" : "api.push.apple.com"
        entitlement = environment == .sandbox ? "development" : "production"
        address = running?.environment == environment.rawValue ? running?.apns : nil
    }

    /// The environment on one line, for people.
    package var line: String {
        "\(environment)  aps-environment \(entitlement)  instead of \(insteadOf)  "
            + (address ?? "no server of this folder has it now")
    }
}

import AldabaConfiguration
import Console
import Networking
import PushCore
import PushServer

extension ServerParts {
    /// The people of the console, as the settings have it.
    ///
    /// - Parameter http: Asks the OpenID provider.
    /// - Throws: ``CommandError`` for a provider that is described in part.
    func consolePeople(
        _ values: ConfigurationValues, http: GuardedHTTP, names: @escaping @Sendable () -> ServerNames, audit: AuditLog?
    ) throws -> ConsolePeople {
        ConsolePeople(
            PeopleService(store: store.people, checks: PasswordChecks(), clock: clock),
            payloads: values.text(.consolePayloads).flatMap(PersonRole.init(rawValue:)),
            provider: try openIDProvider(values, http), names: names, audit: audit)
    }

    private func openIDProvider(_ values: ConfigurationValues, _ http: GuardedHTTP) throws -> OpenIDProvider? {
        guard let issuer = values.text(.consoleIssuer) else { return nil }
        guard let client = values.text(.consoleClientID) else {
            throw CommandError(
                .invalidInput,
                "\(values.origin(.consoleIssuer)) names an OpenID provider; console-oidc-client-id is missing")
        }
        guard issuer.hasPrefix("https://") || values.flag(.development) else {
            throw CommandError(
                .invalidInput, "\(values.origin(.consoleIssuer)): \(issuer) does not begin with https://")
        }
        return OpenIDProvider(
            issuer: issuer, client: client, secret: try values.line(ofFile: .consoleClientSecretFile)?.wrappedValue,
            http: http, clock: clock)
    }
}

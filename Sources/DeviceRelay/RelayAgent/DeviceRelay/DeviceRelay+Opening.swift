import AgentProtocol
import RelayProtocol

extension DeviceRelay {
    /// Opens an address for an app of this device, by the rules for addresses of other devices: ``AddressRule``, and
    /// the schemes that the person allows. The desktop chooses the program.
    ///
    /// - Parameters:
    ///   - isTrial: Whether it is only examined.
    ///   - complete: Called once, on any thread.
    package func open(_ uri: String, isTrial: Bool, then complete: @escaping @Sendable (OpeningAnswer) -> Void) {
        let schemes = host.settings.schemes
        switch AddressRule.verdict(on: uri, isAllowed: { schemes.contains($0) }) {
        case .denied(let why): complete(.refused(why))
        case .notAllowed(let scheme):
            parts.opener.findProgram(for: scheme, app: nil) { hasOpener in
                complete(Self.answer(AddressDecision.outcome(forNotAllowed: scheme, hasOpener: hasOpener)))
            }
        case .allowed(let scheme) where isTrial && !AddressRule.always.contains(scheme):
            parts.opener.findProgram(for: scheme, app: nil) { hasOpener in
                complete(hasOpener ? .opened : .refused("no app here opens addresses of the scheme \(scheme)"))
            }
        case .allowed where isTrial: complete(.opened)
        case .allowed: parts.opener.open(uri, app: nil) { complete(Self.answer($0)) }
        }
    }

    private static func answer(_ outcome: RelayOutcome) -> OpeningAnswer {
        outcome.status == .success ? .opened : .refused(outcome.detail ?? outcome.status.rawValue)
    }
}

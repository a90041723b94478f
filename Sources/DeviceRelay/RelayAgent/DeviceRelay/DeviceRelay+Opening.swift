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
        if case .denied(let why) = AddressRule.verdict(on: uri, isAllowed: { schemes.contains($0) }) {
            return complete(.refused(why))
        }
        guard !isTrial else { return complete(.opened) }
        parts.opener.open(uri, app: nil) { outcome in
            let detail = outcome.detail ?? outcome.status.rawValue
            complete(outcome.status == .success ? .opened : .refused(detail))
        }
    }
}

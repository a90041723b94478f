import RelayProtocol

/// The decision about an address that another device wants to have opened here. A value.
enum AddressDecision {
    /// A connected app opens it.
    case tell(ClientNumber)
    /// An app opens it that is started for that.
    case start(app: String)
    /// The system opens it.
    case open
    /// The address is not opened.
    case refuse(RelayOutcome)
    /// The address is not opened either, for a reason that depends on the apps of this desktop.
    case findOpener(scheme: String)

    /// Decides about an address.
    init(_ launch: RelayLaunch, clients: RelayClients, settings: RelaySettings) {
        let named = launch.app.map { [$0] } ?? launch.preferredApps
        let offers = settings.offers
        let verdict = AddressRule.verdict(on: launch.uri) { scheme in
            // An app that opens everything opens it where it is named; it allows nothing to the system.
            settings.schemes.contains(scheme) || clients.anyOpener(of: scheme, remembered: offers) != nil
                || named.contains { clients.opener(of: scheme, app: $0, remembered: offers) != nil }
        }
        // An app that publishes names its schemes itself; any other may be one that the session bus starts.
        let publisher = launch.app.flatMap { clients.isPublished($0) || offers?[$0] != nil ? $0 : nil }
        switch verdict {
        case .denied(let why): self = .refuse(RelayOutcome(.denied, detail: why))
        case .notAllowed(let scheme):
            self = publisher.map { .refuse(Self.notOpened(scheme, by: $0)) } ?? .findOpener(scheme: scheme)
        case .allowed(let scheme):
            switch clients.opener(of: scheme, apps: named, mayBeOther: launch.app == nil, remembered: offers) {
            case .running(let client): self = .tell(client)
            case .remembered(let app): self = .start(app: app)
            case nil: self = publisher.map { .refuse(Self.notOpened(scheme, by: $0)) } ?? .open
            }
        }
    }

    /// The outcome for an address of a scheme that is not allowed: forbidden where an app could open it.
    static func outcome(forNotAllowed scheme: String, hasOpener: Bool) -> RelayOutcome {
        guard hasOpener else { return notOpened(scheme) }
        return RelayOutcome(
            .denied,
            detail: "addresses of the scheme \(scheme) are not allowed there; the device's owner allows them by "
                + "`aldaba relay allow \(scheme)`")
    }

    private static func notOpened(_ scheme: String, by app: String? = nil) -> RelayOutcome {
        let what = app.map { "\($0) does not open" } ?? "no app there opens"
        return RelayOutcome(.protocolUnavailable, detail: "\(what) addresses of the scheme \(scheme)")
    }
}

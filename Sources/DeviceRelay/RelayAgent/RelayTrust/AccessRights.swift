import RelayProtocol

/// The access of other devices to the services of this one, as the person's settings and the apps' offers have it now.
/// A value.
struct AccessRights {
    let settings: RelaySettings
    let others: OtherUsersDevices
    let clients: RelayClients
    /// The agent's own services, some of which the person may not have set up.
    let ownServices: Set<String>
    let isScreenUnlocked: Bool

    static var denied: RelayOutcome {
        RelayOutcome(.notAuthorized, detail: "the owner of the device has refused this")
    }

    static func notGranted(_ device: String, app: String, service: String) -> RelayOutcome {
        RelayOutcome(
            .notAuthorized,
            detail:
                "the owner of the device has not granted this; there: `aldaba relay grant \(device) \(app) \(service)`")
    }

    /// Why a device may not use a service of an app here; `nil` when it may.
    func refusal(of service: String, app: String, to device: String) -> RelayOutcome? {
        if let guest = others.guests[device] { return refusal(of: service, app: app, toGuest: guest) }
        if isDenied(device, app: app, service: service) { return Self.denied }
        if app == RelayHost.ownApp, service == RelayHost.pingService { return nil }
        if app == RelayHost.ownApp {
            guard ownServices.contains(service), settings.offersOwnService(service) else {
                return RelayOutcome(.serviceUnavailable, detail: "the device does not offer \(service)")
            }
            return obstacleToGrant(device, app: app, service: service)
        }
        guard clients.isPublished(app) else {
            return RelayOutcome(.appNotInstalled, detail: "no app \(app) offers anything there")
        }
        guard let offered = clients.provider(of: service, app: app), offered.service.access != .off else {
            return RelayOutcome(.serviceUnavailable, detail: "\(app) does not offer the service \(service)")
        }
        return offered.service.access == .granted ? obstacleToGrant(device, app: app, service: service) : nil
    }

    private func refusal(of service: String, app: String, toGuest guest: RelayDevice) -> RelayOutcome? {
        let offered = clients.provider(of: service, app: app)
        let isOpen =
            offered.map { $0.service.access == .anyone }
            ?? (settings.offers?[app]?.services[service] == RelayService.Access.anyone.rawValue)
        guard app != RelayHost.ownApp, isOpen else {
            return RelayOutcome(.serviceUnavailable, detail: "\(app) does not offer the service \(service)")
        }
        if isDenied(guest.id, app: app, service: service) { return Self.denied }
        if let obstacle = obstacleToGrant(others.grantee(guest.id), app: app, service: service, isGuests: true) {
            return obstacle
        }
        return offered == nil ? RelayOutcome(.appNotInstalled) : nil
    }

    /// Why a device may not use what it must be granted; `nil` where it may.
    ///
    /// - Parameter device: The device, or the grantee, that needs the grant.
    func obstacleToGrant(_ device: String, app: String, service: String, isGuests: Bool = false) -> RelayOutcome? {
        let isGranted =
            isGuests
            ? settings.isGrantedAlone(device, app: app, service: service)
            : settings.isGranted(device, app: app, service: service)
        guard isGranted else { return Self.notGranted(device, app: app, service: service) }
        guard !isScreenUnlocked, settings.needsUnlocked(device, app: app, service: service, isGuests: isGuests) else {
            return nil
        }
        return RelayOutcome(
            .denied, detail: "the owner has granted this while the screen there is unlocked, which it is not now")
    }

    /// Whether the person has denied a device a service; another person's device under its id alone, or with its key.
    func isDenied(_ device: String, app: String, service: String) -> Bool {
        settings.isDenied(others.grantee(device), app: app, service: service)
            || settings.isDeniedAlone(device, app: app, service: service)
    }

    /// Whether a connection that another device opened ends, since the person has taken back what it was opened by.
    ///
    /// - Parameter old: The settings before.
    func isTakenBack(_ connection: CallConnections.Connection, since old: RelaySettings) -> Bool {
        let (device, app, service) = (connection.device, connection.app, connection.service)
        let wasGranted = old.isGranted(others.grantee(device), app: app, service: service)
        return isDenied(device, app: app, service: service)
            || wasGranted && refusal(of: service, app: app, to: device)?.status == .notAuthorized
    }
}

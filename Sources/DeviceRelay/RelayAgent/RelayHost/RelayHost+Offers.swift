import RelayProtocol

/// The apps and services that this device offers, and the devices that its clients see.
extension RelayHost {
    /// The app that comes with every agent; it has the service ``pingService``.
    package static var ownApp: String { "aldaba.relay" }
    /// Answers a message of the type `ping` with one of the type `pong` and what else was in it.
    package static var pingService: String { "ping" }

    /// This device as its server describes it to others.
    var describedDevice: RelayDevice {
        let own = RelayApp(
            id: Self.ownApp, name: "Aldaba", services: [Self.pingService] + offeredOwnServices.sorted())
        var apps = [own.id: own]
        for (id, offer) in settings.offers ?? [:]
        where !members.values.contains(where: { $0.app == id && $0.isPublished }) {
            apps[id] = RelayApp(
                id: id, name: offer.name, services: offer.services.keys.sorted(), schemes: offer.schemes,
                attributes: offer.attributes, presence: .wakeable)
            apps[id]?.open = offer.services.filter { $0.value == RelayService.Access.anyone.rawValue }.keys.sorted()
        }
        for member in members.values where member.isPublished {
            let offered = member.services.filter { $0.access != .off }.map(\.name)
            var app = apps[member.app] ?? RelayApp(id: member.app, name: member.name)
            app.services += offered.filter { !app.services.contains($0) }
            app.open += member.services.filter { $0.access == .anyone && !app.open.contains($0.name) }.map(\.name)
            app.schemes += member.schemes.filter { !app.schemes.contains($0) }
            app.attributes.merge(member.attributes) { $1 }
            apps[member.app] = app
        }
        let all = apps.values.sorted { $0.id < $1.id }
        var device = RelayDevice(
            id: directory.ownID ?? "", name: settings.name, kind: settings.kind,
            apps: Array(all.prefix(RelayDevice.appLimit)))
        (device.manufacturer, device.model) = (manufacturer, model)
        return device
    }

    /// Handles the server's list of devices; sent when a session begins, and after the server could not send changes.
    mutating func welcomed(_ own: String, all: [RelayDevice], undescribed: [String], at now: Int64) {
        directory.ownID = own
        refusal = nil
        let told = Dictionary(all.map { ($0.id, $0) }) { $1 }
        for id in (directory.devices ?? [:]).keys where told[id] == nil { gone(id, now) }
        directory.devices = told
        directory.undescribed = Set(undescribed).intersection(told.keys).subtracting([own])
        offerAgain()
        joinList()
        tellQueuedMessageEnds()
        resumeLines(now)
        withDocuments { $0.resumeMove(at: now) }
        withDocuments { $0.changed(at: now) }
        for client in members.keys { tellWatcher(client) }
    }

    /// Sends a watcher the changes that it does not know.
    mutating func tellWatcher(_ client: ClientNumber) {
        guard var member = members[client], member.watches else { return }
        guard let known else {
            // While the server is unreachable nothing is known; the reported devices stay until there is a newer state.
            if member.isEnumerated {
                let (obstacle, why) = obstacle ?? (.notConnected, "this device is not connected to its server")
                directives.append(.tell(client, .watchFailed(obstacle, why)))
            }
            member.isEnumerated = false
            members[client] = member
            return
        }
        var others: [String: RelayDevice] = [:]
        for (id, var device) in known where id != directory.ownID {
            device.reach = reach(of: device)
            // A watcher keeps the known description of a device until its apps are received.
            let told = directory.undescribed.contains(id) ? member.seen[id] : device
            if member.filters.isEmpty || member.filters.contains(where: { $0.passes(device) }) { others[id] = told }
        }
        for id in member.seen.keys.sorted() where others[id] == nil {
            directives.append(.tell(client, .removed(device: id)))
            member.seen[id] = nil
        }
        for device in others.values.sorted(by: { $0.id < $1.id }) where member.seen[device.id] != device {
            directives.append(.tell(client, member.seen[device.id] == nil ? .added(device) : .updated(device)))
            member.seen[device.id] = device
        }
        if !member.isEnumerated, directory.undescribed.isEmpty {
            member.isEnumerated = true
            directives.append(.tell(client, .enumerationCompleted))
        }
        members[client] = member
    }

    /// The path by which a device is reached; `nil` while there is none.
    private func reach(of device: RelayDevice) -> RelayRouteKind? {
        switch device.presence {
        case .online: directory.direct.contains(device.id) ? .direct : .relay
        case .wakeable: .wake
        case .offline: nil
        }
    }

    /// A device's name; `nil` for one that is not known.
    package func name(of device: String) -> String? {
        (known(device) ?? directory.guests[device] ?? directory.hosts[device])?.name
    }

    /// The reason why devices cannot be found now; `nil` where they can.
    var obstacle: (kind: DiscoveryFailure, why: String)? {
        if settings.account == nil {
            let why =
                "this device belongs to no account; `aldaba relay account show` on a device of yours tells its key, and "
                + "`aldaba relay account join KEY` joins here"
            return (.noAccount, why)
        }
        if let refusal { return (.refused, refusal) }
        return knowsDevices ? nil : (.notConnected, "this device is not connected to its server")
    }

    /// The client that offers a service of an app on this device.
    func provider(of service: String, app: String) -> (client: ClientNumber, service: RelayService)? {
        for (client, member) in members where member.app == app && member.isPublished {
            if let offered = member.services.first(where: { $0.name == service }) { return (client, offered) }
        }
        return nil
    }

    /// The app that opens addresses here: one that has published an offer, or one that did earlier and is started for
    /// it.
    enum Opener {
        case running(ClientNumber)
        case remembered(app: String)
    }

    /// The app on this device that opens addresses of a scheme; `nil` for none.
    func opener(of scheme: String, app: String) -> Opener? {
        let running = members.filter { $0.value.app == app && $0.value.isPublished }
        if let client = running.first(where: { Self.opens(scheme, $0.value.schemes) })?.key { return .running(client) }
        guard running.isEmpty, let offer = settings.offers?[app], Self.opens(scheme, offer.schemes) else { return nil }
        return .remembered(app: app)
    }

    /// The first app here that names a scheme, of those that run where one does.
    func anyOpener(of scheme: String) -> Opener? {
        let running = members.filter { $0.value.isPublished && $0.value.schemes.contains(scheme) }
        if let client = running.min(by: { $0.value.app < $1.value.app })?.key { return .running(client) }
        return settings.offers?.filter { id, offer in
            offer.schemes.contains(scheme) && !members.values.contains { $0.app == id && $0.isPublished }
        }.keys.min().map { .remembered(app: $0) }
    }

    private static func opens(_ scheme: String, _ schemes: [String]) -> Bool {
        schemes.contains(scheme) || schemes.contains("*")
    }
}

import RelayProtocol

/// The clients of the host, apps and terminals, and what the apps offer to other devices. A value.
struct RelayClients {
    /// A client of the host: an app, or a terminal.
    struct Member {
        /// The app's bundle id, or the terminal's name.
        var app: String
        var name: String
        var isTerminal: Bool
        var services: [RelayService] = []
        var schemes: [String] = []
        var attributes: [String: String] = [:]
        var isPublished = false
        /// The number of its latest publication, among those of all clients.
        var publication = 0
        /// The devices that the client watches.
        var watcher = DeviceWatcher()

        /// The offer by which the app is started when another device calls it; `nil` where it offers nothing.
        fileprivate var remembered: RelaySettings.RememberedOffer? {
            let services = services.filter { $0.access != .off }
            guard !services.isEmpty || !schemes.isEmpty else { return nil }
            return RelaySettings.RememberedOffer(
                name: name, services: Dictionary(services.map { ($0.name, $0.access.rawValue) }) { $1 },
                schemes: schemes, attributes: attributes)
        }
    }

    /// The app that opens addresses here: one that has published an offer, or one that did earlier and is started for
    /// it.
    enum Opener {
        case running(ClientNumber)
        case remembered(app: String)
    }

    private(set) var members: [ClientNumber: Member] = [:]
    private var publications = 0

    /// How many apps' offers are remembered.
    static var offerLimit: Int { 64 }

    /// The client of a number; `nil` for none.
    subscript(client: ClientNumber) -> Member? {
        get { members[client] }
        set { members[client] = newValue }
    }

    /// The number of the next publication.
    mutating func nextPublication() -> Int {
        publications += 1
        return publications
    }

    /// Whether a client is known.
    func contains(_ client: ClientNumber) -> Bool { members.index(forKey: client) != nil }

    /// The client that published last of those of an app that have published and meet a condition: an app may have
    /// several processes.
    private func latest(of app: String, where isMeant: (Member) -> Bool) -> ClientNumber? {
        var latest: (client: ClientNumber, publication: Int)?
        for (client, member) in members where member.app == app && member.isPublished && isMeant(member) {
            if member.publication > latest?.publication ?? 0 { latest = (client, member.publication) }
        }
        return latest?.client
    }

    /// The clients that watch devices.
    var watchers: [ClientNumber] { members.compactMap { $1.watcher.isOn ? $0 : nil } }

    /// Whether an app has published an offer.
    func isPublished(_ app: String) -> Bool { members.values.contains { $0.app == app && $0.isPublished } }

    /// An app's name for people; `nil` where it does not run.
    func name(of app: String) -> String? { members.values.first { $0.app == app }?.name }

    // MARK: Services and addresses

    /// The client that offers a service of an app on this device: of several processes the one that published last.
    func provider(of service: String, app: String) -> (client: ClientNumber, service: RelayService)? {
        let client = latest(of: app) { member in member.services.contains { $0.name == service } }
        guard let client, let offered = members[client]?.services.first(where: { $0.name == service }) else {
            return nil
        }
        return (client, offered)
    }

    /// The app on this device that opens addresses of a scheme; `nil` for none.
    ///
    /// - Parameter remembered: The offers of apps when they last ran.
    func opener(
        of scheme: String, app: String, remembered: [String: RelaySettings.RememberedOffer]?
    ) -> Opener? {
        if let client = latest(of: app, where: { Self.opens(scheme, $0.schemes) }) { return .running(client) }
        guard !isPublished(app), let offer = remembered?[app], Self.opens(scheme, offer.schemes) else { return nil }
        return .remembered(app: app)
    }

    /// The first app here that names a scheme, of those that run where one does.
    func anyOpener(of scheme: String, remembered: [String: RelaySettings.RememberedOffer]?) -> Opener? {
        let running = members.filter { $0.value.isPublished && $0.value.schemes.contains(scheme) }
        let first = running.min { ($0.value.app, $1.value.publication) < ($1.value.app, $0.value.publication) }
        if let first { return .running(first.key) }
        return remembered?.filter { id, offer in offer.schemes.contains(scheme) && !isPublished(id) }.keys.min()
            .map { .remembered(app: $0) }
    }

    /// The app that opens an address here; `nil` where the system chooses.
    ///
    /// - Parameters:
    ///   - apps: The apps that the caller prefers.
    ///   - mayBeOther: Whether another app may open it. It has precedence over the system's choice; for a scheme that the
    ///     system always opens, only a running app has.
    func opener(
        of scheme: String, apps: [String], mayBeOther: Bool, remembered: [String: RelaySettings.RememberedOffer]?
    ) -> Opener? {
        var chosen = apps.lazy.compactMap { opener(of: scheme, app: $0, remembered: remembered) }.first
        if chosen == nil, mayBeOther { chosen = anyOpener(of: scheme, remembered: remembered) }
        if case .remembered(let app)? = chosen, AddressRule.always.contains(scheme), !apps.contains(app) { return nil }
        return chosen
    }

    private static func opens(_ scheme: String, _ schemes: [String]) -> Bool {
        schemes.contains(scheme) || schemes.contains("*")
    }

    // MARK: What other devices learn

    /// The apps as other devices see them: those that run, and those that are started when they are called.
    ///
    /// - Parameters:
    ///   - own: The app that comes with the agent.
    ///   - remembered: The offers of apps when they last ran.
    func described(with own: RelayApp, remembered: [String: RelaySettings.RememberedOffer]?) -> [RelayApp] {
        var apps = [own.id: own]
        for (id, offer) in remembered ?? [:] where !isPublished(id) {
            apps[id] = RelayApp(
                id: id, name: offer.name, services: offer.services.keys.sorted(), schemes: offer.schemes,
                attributes: offer.attributes, presence: .wakeable)
            apps[id]?.open = offer.services.filter { $0.value == RelayService.Access.anyone.rawValue }.keys.sorted()
        }
        let published = members.values.filter(\.isPublished).sorted { $0.publication < $1.publication }
        for member in published {
            let offered = member.services.filter { $0.access != .off }.map(\.name)
            var app = apps[member.app] ?? RelayApp(id: member.app, name: member.name)
            app.services += offered.filter { !app.services.contains($0) }
            app.open += member.services.filter { $0.access == .anyone && !app.open.contains($0.name) }.map(\.name)
            app.schemes += member.schemes.filter { !app.schemes.contains($0) }
            app.attributes.merge(member.attributes) { $1 }
            apps[member.app] = app
        }
        return Array(apps.values.sorted { $0.id < $1.id }.prefix(RelayDevice.appLimit))
    }

    /// The remembered offers, after a client has published its own.
    func offers(
        after client: ClientNumber, remembered: [String: RelaySettings.RememberedOffer]
    ) -> [String: RelaySettings.RememberedOffer] {
        guard let member = members[client], !member.isTerminal else { return remembered }
        var offers = remembered
        if let offer = member.remembered {
            if offers.count < Self.offerLimit || offers[member.app] != nil { offers[member.app] = offer }
        } else {
            offers[member.app] = nil
        }
        return offers
    }
}

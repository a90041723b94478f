import AgentProtocol

/// An app of this device.
package struct InstalledApp: Sendable {
    /// The manifest, as it was last read.
    package var manifest: AppManifest
    /// The stored authorization, settings and categories.
    package var record: AppNotificationRecord
    /// The file of its manifest.
    package var file: String?
    /// The app's texts in the person's language; `nil` where its manifest names no resources.
    package var strings: AppStrings?
    /// The delivery of notifications and responses to the app.
    package var delivery: AppDelivery
    /// The delivery of data messages over the app's direct channel.
    package var channel = ChannelDelivery()
    /// The start, wakes and state of the app.
    package var supervisor: AppSupervisor<AppConnectionID>
    /// The connections of companions in the app's name, and their roles; none of them is the app.
    package var companions: [AppConnectionID: ConnectionRole] = [:]
    /// The app's requests for its device token.
    package var tokens = DeviceTokenRequests()
    /// The runs of the app, and what they left unanswered.
    package var attempts = HandoverAttempts()
    /// The bounds of which the log says that they dropped something of the app's.
    private var reachedBounds: Set<Bound> = []
    /// Whether its answers are waited for.
    package var isWatched = false

    /// A number of an app's values that the agent keeps or gives at most.
    enum Bound { case categories, pendingRequests, listInAnswer }

    /// Returns whether the bound drops something of the app's for the first time in this run of the agent.
    mutating func reaches(_ bound: Bound) -> Bool { reachedBounds.insert(bound).inserted }

    /// An app that does not run, as far as the agent knows, unless one of the same name did.
    package init(
        manifest: AppManifest, record: AppNotificationRecord, strings: AppStrings? = nil,
        replacing known: InstalledApp? = nil
    ) {
        self.manifest = manifest
        self.record = record
        supervisor = AppSupervisor(replacing: known?.supervisor)
        self.strings = strings
        delivery = AppDelivery(mayShow: record.authorization(under: manifest.authorization).allows)
    }

    /// The app's own connection; `nil` while it is not connected.
    package var connection: AppConnectionID? { supervisor.run.connection }

    /// The number on its icon, as far as the person lets it be seen.
    package var shownBadge: Int { delivery.mayShow && record.settings.badges ? record.badge : 0 }

    /// The app's own connection and those of its companions.
    package var allConnections: [AppConnectionID] { [connection].compactMap(\.self) + companions.keys }

    /// Whether it is connected and in front of the person: then it is asked before something is shown.
    package var isInFront: Bool { supervisor.isInFront(manifest.lifecycle) }

    /// Whether the app is handed everything when it next connects, even after an absence: kiosks miss nothing.
    package var takesEverything: Bool { manifest.lifecycle == .always }

    /// The connection whose place another one in the same role takes; `nil` for none.
    ///
    /// Several processes of an app relay, each for itself: one that relays takes the place of its own process's
    /// connection, or of the oldest one beyond ``relayLimit``.
    func predecessor(of newer: AppConnectionID, as role: ConnectionRole) -> AppConnectionID? {
        guard role != .app else { return connection }
        let others = companions.filter { $0.value == role }.keys.sorted { $0.number < $1.number }
        guard role == .relayService else { return others.first }
        return others.first { $0.process == newer.process }
            ?? (others.count >= Self.relayLimit ? others.first : nil)
    }

    /// The most processes of one app that relay at a time.
    static let relayLimit = 16

    /// The hand-overs that the app has not answered.
    package var unanswered: UnansweredHandovers {
        UnansweredHandovers(
            notifications: delivery.unansweredNotifications, responses: delivery.unansweredResponses,
            message: channel.firstUnanswered)
    }

    /// Takes a manifest that has changed, where who proved to be the app is it still.
    package mutating func takes(_ new: AppManifest, strings: AppStrings?) -> Bool {
        guard new.executable == manifest.executable, new.provesBySecret == manifest.provesBySecret,
            new.team == manifest.team
        else { return false }
        self = InstalledApp(self, manifest: new, strings: strings)
        return true
    }

    private init(_ known: InstalledApp, manifest: AppManifest, strings: AppStrings?) {
        self = known
        self.manifest = manifest
        self.strings = strings
        refreshAuthorization()
        delivery.isInFront = isInFront
    }

    /// The app has another state now; its deliveries follow.
    package mutating func enter(_ new: AppState) {
        supervisor.enter(new)
        delivery.isInFront = isInFront
    }

    /// The app has connected. The focus decides its state, else the reason for which it was started.
    package mutating func setInitialState(byFocus: AppState?) {
        supervisor.setInitialState(byFocus: byFocus)
        delivery.isInFront = isInFront
    }

    /// The hand-over follows what was settled.
    package mutating func refreshAuthorization() {
        delivery.mayShow = record.authorization(under: manifest.authorization).allows
    }
}

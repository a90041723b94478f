import AgentWire
import AppConnections
import DeviceModel
import Foundation

/// An app of this device.
package struct InstalledApp: Sendable {
    /// Its manifest, as it was last read.
    package var manifest: AppManifest
    /// What the person and the app have settled, as the store has it.
    package var record: AppNotificationRecord
    /// The file of its manifest.
    package var file: String?
    /// Its texts in the person's language; `nil` where its manifest names no resources.
    package var strings: AppStrings?
    /// What it is handed and when.
    package var delivery: AppDelivery
    /// Which data messages it is given over its direct channel.
    package var channel = ChannelDelivery()
    /// When it is started, woken and given up, and where it stands.
    package var supervisor: AppSupervisor<AppConnection>
    /// Connections that others have in the app's name, by their roles; none of them is the app.
    package var companions: [ConnectionRole: AppConnection] = [:]
    /// Its requests for its device token.
    package var tokens = DeviceTokenRequests()
    /// Whether its answers are waited for.
    package var isWatched = false
    /// An app that does not run, as far as the agent knows, unless one of the same name did. Reads its string tables.
    package init(manifest: AppManifest, record: AppNotificationRecord, replacing known: InstalledApp? = nil) {
        self.manifest = manifest
        self.record = record
        supervisor = AppSupervisor(replacing: known?.supervisor)
        strings = manifest.resources.map {
            AppStrings(folder: $0, languages: AppStrings.languages(ProcessInfo.processInfo.environment))
        }
        delivery = AppDelivery(mayShow: record.authorization(under: manifest.authorization).allows)
    }

    /// The app's own connection; `nil` while it is not connected.
    package var connection: AppConnection? { supervisor.run.connection }

    /// The number on its icon, as far as the person lets it be seen.
    package var shownBadge: Int { delivery.mayShow && record.settings.badges ? record.badge : 0 }

    /// Its own connection and its companions.
    package var allConnections: [AppConnection] { [connection].compactMap(\.self) + companions.values }

    /// Whether it is connected and in front of the person: then it is asked before something is shown.
    package var isInFront: Bool { supervisor.isInFront(manifest.lifecycle) }

    /// Whether it is there or gone, it is handed everything when it next connects: kiosks miss nothing.
    package var takesEverything: Bool { manifest.lifecycle == .always }

    /// The connection that has this role.
    package subscript(role: ConnectionRole) -> AppConnection? { role == .app ? connection : companions[role] }

    /// Takes a manifest that has changed, where who proved to be the app is it still.
    package mutating func takes(_ new: AppManifest) -> Bool {
        guard new.executable == manifest.executable, new.provesBySecret == manifest.provesBySecret,
            new.team == manifest.team
        else { return false }
        self = InstalledApp(self, manifest: new)
        return true
    }

    private init(_ known: InstalledApp, manifest: AppManifest) {
        self = known
        self.manifest = manifest
        strings = InstalledApp(manifest: manifest, record: record).strings
        refreshAuthorization()
        delivery.isInFront = isInFront
    }

    /// The app stands elsewhere now; what it is handed follows.
    package mutating func enter(_ new: AppState) {
        supervisor.enter(new)
        delivery.isInFront = isInFront
    }

    /// The app has connected; it stands where the focus says, else where what it was started for puts it.
    package mutating func enterFirst(byFocus: AppState?) {
        supervisor.enterFirst(byFocus: byFocus)
        delivery.isInFront = isInFront
    }

    /// The hand-over follows what was settled.
    package mutating func refreshAuthorization() {
        delivery.mayShow = record.authorization(under: manifest.authorization).allows
    }
}

import AgentWire
import AppConnections
import DeviceModel
import Foundation

/// An app of this device.
package struct InstalledApp: Sendable {
    /// Its manifest, as it was last read.
    package var manifest: AppManifest
    /// What the person and the app have settled, as the store has it.
    package var standing: AppNotificationRecord
    /// The file of its manifest.
    package var file: String?
    /// Its texts in the person's language; `nil` where its manifest names no resources.
    package var strings: AppStrings?
    /// What it is handed and when.
    package var handOver: AppDelivery
    /// Whether it runs, and over which connection.
    package var run = AppRun<AppConnection>.stopped
    /// Connections that others have in the app's name, by their roles; none of them is the app.
    package var companions: [ConnectionRole: AppConnection] = [:]
    /// What the run of the app that is connected has asked, where it has a name.
    package var asked: AskedRequests?
    /// The app's questions for its token, until there is one.
    package var tokenRequests: [Int64] = []
    /// The token that the app was told on this connection; it hears of no other unasked.
    package var toldToken: String?
    /// Whether the token that the store has ends, or has ended: the app asked for that, and another one is not there yet.
    package var isTokenEnding = false
    /// Where it stands, while it is connected.
    package var state = AppState.active
    /// Where it will stand when the process that was started last connects.
    package var nextState = AppState.active
    /// How often it may still be woken for what nobody sees.
    package var budget = BackgroundBudget()
    /// Whether it is woken when its budget allows that again.
    package var isToBeWoken = false
    /// Whether its answers are waited for.
    package var isWatched = false
    /// What lets it take the focus for the last tap, until it answered one.
    package var activationToken: String?
    /// Whether it is being started to show its own settings.
    package var opensSettings = false
    /// How often it was started again for responses since it last answered one.
    package var startsForResponses = 0

    /// An app that does not run, as far as the agent knows. Reads its string tables.
    package init(manifest: AppManifest, standing: AppNotificationRecord) {
        self.manifest = manifest
        self.standing = standing
        strings = manifest.resources.map {
            AppStrings(folder: $0, languages: AppStrings.languages(ProcessInfo.processInfo.environment))
        }
        handOver = AppDelivery(mayShow: standing.authorization(under: manifest.authorization).allows)
    }

    /// The app's own connection; `nil` while it is not connected.
    package var connection: AppConnection? { run.connection }

    /// The number on its icon, as far as the person lets it be seen.
    package var shownBadge: Int { handOver.mayShow && standing.settings.badges ? standing.badge : 0 }

    /// Its own connection and its companions.
    package var allConnections: [AppConnection] { [connection].compactMap(\.self) + companions.values }

    /// Whether it is connected and in front of the person: then it is asked before something is shown.
    package var isInFront: Bool { connection != nil && (manifest.lifecycle == .always || state != .background) }

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
        strings = InstalledApp(manifest: manifest, standing: standing).strings
        refreshAuthorization()
        handOver.isInFront = isInFront
    }

    /// The app stands elsewhere now; what it is handed follows.
    package mutating func enter(_ new: AppState) {
        state = new
        handOver.isInFront = isInFront
    }

    /// The hand-over follows what was settled.
    package mutating func refreshAuthorization() {
        handOver.mayShow = standing.authorization(under: manifest.authorization).allows
    }
}

/// The requests of one run of an app that are done, as far back as it may ask them again.
package struct AskedRequests: Sendable {
    /// The name that the app gave the run.
    package let run: String
    /// The numbers of the requests that are done.
    package private(set) var done: Set<Int64>

    /// A run of which the store knows these requests to be done.
    package init(run: String, done: Set<Int64>) {
        self.run = run
        self.done = done
    }

    /// Counts a request as done from now on.
    ///
    /// - Returns: `nil` for one that is done.
    package mutating func begin(_ request: Int64) -> RequestMark? {
        guard done.insert(request).inserted else { return nil }
        if done.count > 2 * Int(RequestMark.remembered) {
            done = Set(done.sorted().suffix(Int(RequestMark.remembered)))
        }
        return RequestMark(run: run, request: request)
    }
}

import AgentWire
import DeviceModel
import Foundation

/// An app of this device.
struct InstalledApp: Sendable {
    var manifest: AppManifest
    var standing: AppNotificationRecord
    /// The file of its manifest.
    var file: String?
    var strings: AppStrings?
    var handOver: AppDelivery
    /// Whether it runs, and over which connection.
    var run = AppRun<AppConnection>.stopped
    /// Connections that others have in the app's name, by their roles; none of them is the app.
    var companions: [ConnectionRole: AppConnection] = [:]
    /// What the run of the app that is connected has asked, where it has a name.
    var asked: AskedRequests?
    /// The app's questions for its token, until there is one.
    var tokenRequests: [Int64] = []
    /// The token that the app was told on this connection; it hears of no other unasked.
    var toldToken: String?
    /// Whether the token that the store has ends, or has ended: the app asked for that, and another one is not there yet.
    var isTokenEnding = false
    /// Where it stands, while it is connected.
    var state = AppState.active
    /// Where it will stand when the process that was started last connects.
    var nextState = AppState.active
    var budget = BackgroundBudget()
    /// Whether it is woken when its budget allows that again.
    var isToBeWoken = false
    /// Whether its answers are waited for.
    var isWatched = false
    /// What lets it take the focus for the last tap, until it answered one.
    var activationToken: String?
    /// Whether it is being started to show its own settings.
    var opensSettings = false
    /// How often it was started again for responses since it last answered one.
    var startsForResponses = 0

    init(manifest: AppManifest, standing: AppNotificationRecord) {
        self.manifest = manifest
        self.standing = standing
        strings = manifest.resources.map {
            AppStrings(folder: $0, languages: AppStrings.languages(ProcessInfo.processInfo.environment))
        }
        handOver = AppDelivery(mayShow: standing.authorization(under: manifest.authorization).allows)
    }

    var connection: AppConnection? { run.connection }

    /// The number on its icon, as far as the person lets it be seen.
    var shownBadge: Int { handOver.mayShow && standing.settings.badges ? standing.badge : 0 }

    /// Its own connection and its companions.
    var allConnections: [AppConnection] { [connection].compactMap(\.self) + companions.values }

    /// Whether it is connected and in front of the person: then it is asked before something is shown.
    var isInFront: Bool { connection != nil && (manifest.lifecycle == .always || state != .background) }

    /// Whether it is there or gone, it is handed everything when it next connects: kiosks miss nothing.
    var takesEverything: Bool { manifest.lifecycle == .always }

    /// The connection that has this role.
    subscript(role: ConnectionRole) -> AppConnection? { role == .app ? connection : companions[role] }

    /// Takes a manifest that has changed, where who proved to be the app is it still.
    mutating func takes(_ new: AppManifest) -> Bool {
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

    mutating func enter(_ new: AppState) {
        state = new
        handOver.isInFront = isInFront
    }

    /// The hand-over follows what was settled.
    mutating func refreshAuthorization() {
        handOver.mayShow = standing.authorization(under: manifest.authorization).allows
    }
}

/// The requests of one run of an app that are done, as far back as it may ask them again.
struct AskedRequests: Sendable {
    let run: String
    private(set) var done: Set<Int64>

    init(run: String, done: Set<Int64>) {
        self.run = run
        self.done = done
    }

    /// - Returns: `nil` for one that is done.
    mutating func begin(_ request: Int64) -> RequestMark? {
        guard done.insert(request).inserted else { return nil }
        if done.count > 2 * Int(RequestMark.remembered) {
            done = Set(done.sorted().suffix(Int(RequestMark.remembered)))
        }
        return RequestMark(run: run, request: request)
    }
}

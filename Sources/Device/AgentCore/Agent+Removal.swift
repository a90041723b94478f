import AgentWire
import DeviceModel
import InstalledApps
import Logging
import Observability
import PushModel

/// Apps that are taken away: what waited for them ends with its reason, and the server forgets their tokens.
///
/// An app is removed when its manifest is missing at two looks, since it may be missing for a moment while it is written
/// anew. While the folder, or a file that may be the app's, cannot be read, the app is not removed.
extension Agent {
    func lookForRemovals(_ loaded: AppFolder.Content) throws {
        guard loaded.isReadable else { return }
        let known = try store.read { try $0.knownApps() }
        let gone = known.union(apps.keys).subtracting(loaded.apps.keys).subtracting([AppManifest.terminalID])
        for app in gone where !loaded.mayHave(app, in: apps[app]?.file) && registry.noteMissing(app) {
            enter(after: timing.removalPatience) { $0.removeIfGone(app) }
        }
        for app in try registeredAbsentees().keys
        where !loaded.mayHave(app, in: nil) { requestTokenEnd(app) }
    }

    private func removeIfGone(_ app: BundleID) {
        guard registry.isMissing(app) else { return }
        let isRegistered: Bool
        do {
            isRegistered = try registered().contains { $0.app == app && $0.team != nil }
        } catch {
            storeFailed(error)
            return enter(after: timing.storePause) { $0.removeIfGone(app) }
        }
        registry.endMissing(app)
        let loaded = AppFolder(path: configuration.appsFolder).load()
        guard loaded.isReadable, !loaded.mayHave(app, in: apps[app]?.file) else { return }
        settleQuestion(of: app)
        if let installed = apps[app] { part(from: installed) }
        apps[app] = nil
        onRelay { $0.removed(app) }
        onLink { $0.appRemoved(app) }
        enqueue(.appRemoved(app: app, at: parts.now()))
        attachments.remove(app)
        parts.media?.remove(app)
        if isRegistered { requestTokenEnd(app) }
        logger.notice("An app was removed.", metadata: [LogKey.topic: "\(app)"])
    }

    private func part(from installed: InstalledApp) {
        for connection in registry.releaseConnections(of: installed.manifest.id) {
            connection.refuse(
                code: "unknownApp", message: "\(installed.manifest.id) was removed from this device")
        }
        if installed.record.badge > 0 {
            parts.presenter.badge(0, desktopEntry: installed.manifest.desktopEntry ?? installed.manifest.id.rawValue)
        }
    }

    /// Apps that have device tokens and are not installed any more, with their teams.
    func registeredAbsentees() throws -> [BundleID: TeamID] {
        try registered().reduce(into: [:]) { absentees, entry in
            if apps[entry.app] == nil, let team = entry.team { absentees[entry.app] = team }
        }
    }

    private func registered() throws -> [(app: BundleID, team: TeamID?)] {
        try store.read { try $0.registeredApps(environment: configuration.environment) }
    }
}

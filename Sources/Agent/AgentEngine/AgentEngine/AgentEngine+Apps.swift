import AgentProtocol
import PushCore

/// Installation, changes and removal of apps.
///
/// An app is removed when its manifest is missing at two checks, since it may be missing for a moment while it is
/// rewritten. While the folder, or a file that may be the app's, cannot be read, the app is not removed. On removal its
/// queued notifications end with a reason, and the server deletes its token.
extension AgentEngine {
    /// The manifests were read. Known apps keep their state, and tokens are requested for new ones.
    ///
    /// - Throws: when the store cannot be read; the app concerned is not installed then.
    package mutating func manifestsLoaded(_ loaded: InstalledManifests, _ context: Context) throws {
        for (file, fault) in loaded.faults {
            log(.error, "A manifest cannot be used.", [LogKey.path: "\(file)", LogKey.error: "\(fault)"])
        }
        try installTerminal(context)
        for (id, manifest) in loaded.apps where apps[id]?.manifest != manifest && id != AppManifest.terminalID {
            if apps[id]?.takes(manifest) != true { try install(manifest, as: id, context) }
        }
        for (id, file) in loaded.files { apps[id]?.file = file }
        if loaded.mayChangeUnseen { registry.forgetManifests() }
        try lookForRemovals(loaded, context)
    }

    /// The terminal is an app whose notifications a person makes.
    private mutating func installTerminal(_ context: Context) throws {
        let id = AppManifest.terminalID
        guard apps[id] == nil else { return }
        let manifest = AppManifest(id: id, name: "aldaba", team: "", executable: "", authorization: .granted)
        apps[id] = InstalledApp(manifest: manifest, record: try context.store.record(of: id))
    }

    private mutating func install(_ manifest: AppManifest, as id: BundleID, _ context: Context) throws {
        let known = apps[id]
        let record = try known?.record ?? context.store.record(of: id)
        let registration = try context.store.registration(app: id, environment: settings.environment)
        for connection in registry.releaseConnections(of: id) {
            refuse(
                connection, code: "manifestChanged", "the manifest of \(id) has another program or team now")
        }
        apps[id] = InstalledApp(manifest: manifest, record: record, replacing: known)
        emit(.link(.appInstalled(id, team: TeamID(rawValue: manifest.team))))
        if registration != .ended, known?.tokens.isEnding != true { requestToken(id) }
        emit(.rereadRequests(id))
    }

    // MARK: Removal

    private mutating func lookForRemovals(_ loaded: InstalledManifests, _ context: Context) throws {
        guard loaded.isReadable else { return }
        let known = try context.store.knownApps()
        let gone = known.union(apps.keys).subtracting(loaded.apps.keys).subtracting([AppManifest.terminalID])
        for app in gone where !loaded.mayHave(app, in: apps[app]?.file) && registry.noteMissing(app) {
            emit(.wait(timing.removalTimeout, then: .lookForApp(app)))
        }
        // Apps that have device tokens and are not installed any more.
        for (app, team) in try context.store.registeredApps(environment: settings.environment)
        where apps[app] == nil && team != nil && !loaded.mayHave(app, in: nil) {
            emit(.link(.requestTokenEnd(app)))
        }
    }

    /// Removes an app whose manifest is missing at the second look, too.
    ///
    /// - Parameter load: Reads the manifests.
    package mutating func lookForApp(_ app: BundleID, _ context: Context, load: () -> InstalledManifests) {
        guard registry.isMissing(app) else { return }
        let isRegistered: Bool
        do {
            isRegistered = try context.store.registeredApps(environment: settings.environment).contains {
                $0.app == app && $0.team != nil
            }
        } catch {
            fail(error)
            return emit(.wait(timing.storePause, then: .lookForApp(app)))
        }
        registry.endMissing(app)
        let loaded = load()
        guard loaded.isReadable, !loaded.mayHave(app, in: apps[app]?.file) else { return }
        closeQuestion(of: app)
        if let installed = apps[app] { part(from: installed) }
        apps[app] = nil
        enqueue(.appRemoved(app: app, at: context.now))
        emit(.removed(app))
        if isRegistered { emit(.link(.requestTokenEnd(app))) }
        log(.notice, "An app was removed.", [LogKey.topic: "\(app)"])
    }

    private mutating func part(from installed: InstalledApp) {
        let id = installed.manifest.id
        for connection in registry.releaseConnections(of: id) {
            refuse(connection, code: "unknownApp", "\(id) was removed from this device")
        }
        if installed.record.badge > 0 {
            emit(.badge(0, desktopEntry: installed.manifest.desktopEntry ?? id.rawValue))
        }
    }
}

import AgentWire
import AppConnections
import DeviceModel
import InstalledApps
import Logging
import Observability
import PushModel

extension Agent {
    /// Reads the manifests where any has changed. Known apps keep their state, and tokens are requested for new ones.
    ///
    /// - Throws: when the store cannot be read. The app concerned is not installed then; the manifests are read again soon.
    func loadApps() throws {
        let folder = AppFolder(path: configuration.appsFolder)
        guard registry.manifestsChanged(folder.mark()) else { return }
        do {
            try applyManifests(folder.load())
        } catch {
            registry.forgetManifests()
            loadAppsLater()
            throw error
        }
    }

    private func loadAppsLater() {
        guard registry.scheduleLook() else { return }
        enter(after: timing.storePause) { agent in
            agent.registry.beginLook()
            do {
                try agent.loadApps()
            } catch {
                agent.storeFailed(error)
            }
        }
    }

    private func applyManifests(_ loaded: AppFolder.Content) throws {
        for (file, fault) in loaded.faults {
            logger.error(
                "A manifest cannot be used.",
                metadata: [
                    LogKey.path: "\(file)", LogKey.error: "\(fault)",
                ])
        }
        try installShell()
        for (id, manifest) in loaded.apps where apps[id]?.manifest != manifest && id != AppManifest.terminalID {
            if apps[id]?.takes(manifest) != true { try install(manifest, as: id) }
        }
        for (id, file) in loaded.files { apps[id]?.file = file }
        if loaded.mayChangeUnseen { registry.forgetManifests() }
        try lookForRemovals(loaded)
        watchFocus()
    }

    private func install(_ manifest: AppManifest, as id: BundleID) throws {
        let known = apps[id]
        let record = try known?.record ?? store.read { try $0.standing(app: id) }
        let registration = try store.read { try $0.registration(app: id, environment: configuration.environment) }
        for connection in registry.releaseConnections(of: id) {
            connection.refuse(code: "manifestChanged", message: "the manifest of \(id) has another program or team now")
        }
        apps[id] = InstalledApp(manifest: manifest, record: record, replacing: known)
        onLink { $0.appInstalled(id, team: TeamID(rawValue: manifest.team)) }
        if registration != .ended { requestToken(id) }
        rescheduleRequests(id)
    }
}

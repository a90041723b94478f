import Logging
import Observability
import PushModel

/// Apps that are taken away: what waited for them ends with its reason, and the server forgets their tokens.
extension Agent {
    /// Removes the apps whose manifests are gone. While any file of the folder cannot be read nobody is: it may be theirs.
    func removeApps(notIn loaded: AppFolder.Content) {
        guard loaded.isComplete else { return }
        for app in apps.keys where loaded.apps[app] == nil && app != Self.shell { remove(app) }
        // What an agent before this one did not get to do.
        let known = (try? store.read { try $0.knownApps() }) ?? []
        for app in known where apps[app] == nil && app != Self.shell {
            enqueue(.appRemoved(app: app, at: parts.now()))
            attachments.remove(app)
        }
        for app in registeredAbsentees().keys where registrationWishes[app] == nil { wishForEnd(app) }
    }

    private func remove(_ app: String) {
        settlePrompt(of: app)
        apps[app]?.connection?.refuse(code: "unknownApp", message: "\(app) was removed from this device")
        if let installed = apps[app], installed.standing.badge > 0 {
            parts.presenter.badge(0, desktopEntry: installed.manifest.desktopEntry ?? app)
        }
        apps[app] = nil
        logger.notice("An app was removed.", metadata: [LogKey.topic: "\(app)"])
    }

    /// Apps that the server has tokens of and that are not here any more, with their teams.
    func registeredAbsentees() -> [String: TeamID] {
        let registered = (try? store.read { try $0.registeredApps(environment: configuration.environment) }) ?? []
        return registered.reduce(into: [:]) { absentees, entry in
            if apps[entry.app] == nil, let team = entry.team { absentees[entry.app] = team }
        }
    }
}

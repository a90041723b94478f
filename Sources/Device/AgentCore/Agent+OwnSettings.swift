import AgentWire
import DeviceModel

/// What apps show of their own settings, to a person who wants to see them.
extension Agent {
    /// Has an app show its own notification settings; one that does not run is started for that.
    func openSettings(of app: String) -> ManagementAnswer {
        guard let installed = apps[app] else { return Self.unknown(app) }
        guard installed.standing.options & AuthorizationOption.providesAppNotificationSettings != 0 else {
            return .failed(
                message: "\(app) has not said that it shows settings of its own; `aldaba settings \(app)` shows what "
                    + "you can change")
        }
        if let connection = installed.connection {
            connection.send([.openSettings(nil)])
        } else {
            apps[app]?.opensSettings = true
            apps[app]?.nextState = .active
            start(app)
        }
        return .done
    }

    /// An app that was started for it is ready.
    func handSettingsWish(to app: String) {
        guard apps[app]?.opensSettings == true else { return }
        apps[app]?.opensSettings = false
        apps[app]?.startsForResponses = 0
        apps[app]?.connection?.send([.openSettings(nil)])
    }

    /// Whether an app has settings of its own may be different with each request for authorization; the person is
    /// not asked about that.
    func noteOwnSettings(_ options: UInt, of app: String) {
        change(app) {
            $0.options &= ~AuthorizationOption.providesAppNotificationSettings
            $0.options |= options & AuthorizationOption.providesAppNotificationSettings
        }
    }
}

import AgentWire
import DeviceModel

/// The settings that an app itself shows to a person.
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

    /// Has an app that is ready show its settings, where it was started for that.
    func handSettingsWish(to app: String) {
        guard apps[app]?.opensSettings == true else { return }
        apps[app]?.opensSettings = false
        apps[app]?.startsForResponses = 0
        apps[app]?.connection?.send([.openSettings(nil)])
    }

    /// Notes whether an app shows settings of its own, as it says with each request for authorization. The person is not
    /// asked about that.
    func noteOwnSettings(_ options: UInt, of app: String) {
        change(app) {
            $0.options &= ~AuthorizationOption.providesAppNotificationSettings
            $0.options |= options & AuthorizationOption.providesAppNotificationSettings
        }
    }
}

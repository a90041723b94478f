import AgentWire
import AppConnections
import DeviceModel

/// What notifications say, and which buttons they have, by what their apps have settled. An app that is not installed has
/// settled nothing.
extension AppRegistry {
    /// Content with the texts of its app's string tables.
    package func localized(_ content: NotificationContent, app: BundleID) -> NotificationContent {
        guard content.needsLocalization else { return content }
        let tables = apps[app]?.strings
        return content.localized { tables?.text($0) }
    }

    /// The form in which an app gets a notification: with the texts of its string tables.
    package func delivered(_ notification: WaitingNotification) -> DeliveredNotification {
        var delivered = notification.delivered
        let content = notification.says
        if content.needsLocalization { delivered.content = localized(content, app: notification.app) }
        return delivered
    }

    /// The buttons of a notification: its own, else those of its category.
    package func actions(of content: NotificationContent, app: BundleID) -> [NotificationActionDescription] {
        guard content.actions.isEmpty else { return content.actions }
        return apps[app]?.record.category(content.categoryIdentifier)?.actions ?? []
    }

    /// What an action of a notification asks for (`UNNotificationActionOptions`, raw value); 0 for one that it does not have.
    package func options(ofAction action: String, of notification: WaitingNotification) -> UInt {
        actions(of: notification.says, app: notification.app).first { $0.identifier == action }?.options ?? 0
    }

    /// What a response means for its app: a tap brings it to the front, and a button that says so.
    package func effect(of response: WaitingResponse) -> AppSupervisor<AppConnection>.Effect {
        if response.action == NotificationAction.open { return .opened }
        let options = options(ofAction: response.action, of: response.notification)
        return options & NotificationActionDescription.foreground != 0 ? .foreground : .none
    }
}

import AgentProtocol

/// The texts and buttons of notifications, by the categories and string tables of their apps. An app that is not
/// installed has none.
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
        let content = notification.effectiveContent
        if content.needsLocalization { delivered.content = localized(content, app: notification.app) }
        return delivered
    }

    /// The buttons of a notification: its own, else those of its category.
    package func actions(of content: NotificationContent, app: BundleID) -> [NotificationActionDescription] {
        guard content.actions.isEmpty else { return content.actions }
        return apps[app]?.record.category(content.categoryIdentifier)?.actions ?? []
    }

    /// The options of a notification's action (`UNNotificationActionOptions`, raw value); 0 for an unknown action.
    package func options(ofAction action: String, of notification: WaitingNotification) -> UInt {
        actions(of: notification.effectiveContent, app: notification.app).first { $0.identifier == action }?.options
            ?? 0
    }

    /// The effect of a response on its app: a tap, or a foreground button, brings the app to the front.
    package func effect(of response: WaitingResponse) -> AppSupervisor<AppConnectionID>.Effect {
        if response.action == NotificationAction.open { return .opened }
        let options = options(ofAction: response.action, of: response.notification)
        return options & NotificationActionDescription.foreground != 0 ? .foreground : .none
    }
}

/// A notification of the list, with what can be done with it.
public struct ListedNotification: Codable, Hashable, Sendable {
    /// The name of the app that people see.
    public var appName: String
    /// The notification, as its app gets it.
    public var notification: DeliveredNotification
    /// The content, with every text looked up.
    public var content: NotificationContent
    /// The buttons that it has now: its own, else those of its category.
    public var actions: [NotificationActionDescription]

    /// Makes an item of the list for a person to read.
    public init(
        appName: String, notification: DeliveredNotification, content: NotificationContent,
        actions: [NotificationActionDescription]
    ) {
        self.appName = appName
        self.notification = notification
        self.content = content
        self.actions = actions
    }
}

import UserNotifications

/// The content of a notification, part by part.
public enum LessonContent {
    /// Something to do, as a notification.
    ///
    /// - Parameters:
    ///   - open: How many things are to be done: the number on the app's icon.
    ///   - picture: Shown beside the text.
    public static func make(
        toDo title: String, list: String, open: Int, picture: UNNotificationAttachment? = nil
    ) -> UNMutableNotificationContent {
        let content = UNMutableNotificationContent()
        content.title = title
        content.subtitle = list
        content.body = open == 1 ? "It is the last one." : "One of \(open) things to do."
        content.badge = NSNumber(value: open)
        content.sound = .default
        // Those of one list stand together.
        content.threadIdentifier = list
        content.categoryIdentifier = Categories.toDo
        // Comes back with the answer; a person never sees it.
        content.userInfo = ["item": title]
        content.attachments = [picture].compactMap { $0 }
        return content
    }
}

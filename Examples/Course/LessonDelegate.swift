import UserNotifications

/// What a person did with a notification.
public enum Choice: Hashable, Sendable {
    /// They opened it.
    case opened
    /// They put it away; told only where its category asks for that.
    case dismissed
    /// They pressed a button.
    case pressed(String)
    /// They wrote something.
    case wrote(String, action: String)

    /// Reads an answer.
    public init(_ response: UNNotificationResponse) {
        switch (response.actionIdentifier, response) {
        case (UNNotificationDefaultActionIdentifier, _): self = .opened
        case (UNNotificationDismissActionIdentifier, _): self = .dismissed
        case (let action, let reply as UNTextInputNotificationResponse): self = .wrote(reply.userText, action: action)
        case (let action, _): self = .pressed(action)
        }
    }
}

/// The delegate: set it before the application has finished launching, or the answer that started the app is not heard.
@MainActor
public final class LessonDelegate: NSObject, UNUserNotificationCenterDelegate {
    private let chosen: (Choice, [AnyHashable: Any]) -> Void

    /// - Parameter chosen: Gets every choice, with what the content's `userInfo` kept.
    public init(chosen: @escaping (Choice, [AnyHashable: Any]) -> Void) { self.chosen = chosen }

    /// While the app is in front: without this method nothing is shown.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification
    ) async -> UNNotificationPresentationOptions {
        [.banner, .list, .sound]
    }

    /// What a person chose, also where that started the app.
    public func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
    ) async {
        chosen(Choice(response), response.notification.request.content.userInfo)
    }
}

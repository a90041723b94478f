import Foundation

/// What makes a notification appear.
public class UNNotificationTrigger: NSObject, NSCopying, @unchecked Sendable {
    // Sendable is unchecked because the class has subclasses in this module; all are immutable.

    /// Whether it fires again and again.
    public let repeats: Bool

    init(repeats: Bool) { self.repeats = repeats }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

/// The trigger of every notification that came from a provider.
public final class UNPushNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    // Immutable, as its base class.
    override init(repeats: Bool = false) { super.init(repeats: repeats) }
}

/// A notification's content with its identifier and trigger. Immutable.
public final class UNNotificationRequest: NSObject, NSCopying, @unchecked Sendable {
    // `content` is a private immutable copy that nobody changes, so sharing it is safe.

    /// Of a remote notification the collapse id, else the `apns-id`. A later one with the same identifier
    /// replaces an earlier one on the screen.
    public let identifier: String
    public let content: UNNotificationContent
    /// `nil` for "at once".
    public let trigger: UNNotificationTrigger?

    /// Keeps a copy of the content as it is now.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.identifier = identifier
        self.content = UNNotificationContent(values: content.values)
        self.trigger = trigger
    }

    public func copy(with zone: NSZone? = nil) -> Any { self }
}

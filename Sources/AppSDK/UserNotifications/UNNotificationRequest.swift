import AgentProtocol
import Foundation

/// A notification's content with its identifier and trigger. Immutable.
///
/// Sendable is unchecked because the class is open. `storedContent` is a private immutable copy, so sharing it is safe;
/// so are the constants.
open class UNNotificationRequest: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private let storedIdentifier: String
    private let storedContent: UNNotificationContent
    private let storedTrigger: UNNotificationTrigger?

    /// Keeps a copy of the content as it is now.
    public init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        storedIdentifier = identifier
        storedContent = UNNotificationContent(values: content.spokenValues)
        storedTrigger = trigger
    }

    convenience init(identifier: String, values: UNNotificationContent.Values, trigger: UNNotificationTrigger?) {
        self.init(identifier: identifier, content: UNNotificationContent(values: values), trigger: trigger)
    }

    /// Creates a request from the agent's description.
    convenience init(_ wire: NotificationRequest) {
        self.init(
            identifier: wire.identifier, values: .init(wire.content),
            trigger: wire.trigger.map { UNNotificationTrigger.made(of: $0) })
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let archive = WireCoding.decode(Archive.self, with: coder) else { return nil }
        storedIdentifier = archive.request.identifier
        storedContent = UNNotificationContent(values: .init(archive.request.content))
        storedTrigger =
            archive.isPush
            ? UNPushNotificationTrigger() : archive.request.trigger.map { UNNotificationTrigger.made(of: $0) }
    }

    /// Archives everything but those members of the user info that no property list can hold.
    open func encode(with coder: NSCoder) {
        let request = NotificationRequest(
            identifier: identifier, content: content.spokenValues.forArchive(), trigger: trigger?.wire)
        WireCoding.encode(
            Archive(request: request, isPush: trigger is UNPushNotificationTrigger), with: coder)
    }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The identifier: of a remote notification the collapse id, else the `apns-id`. A later one with the same identifier
    /// replaces an earlier one, whether that waits or is on the screen.
    open var identifier: String { storedIdentifier }
    /// The content of the notification; a copy that does not change.
    open var content: UNNotificationContent { storedContent }
    /// `nil` for "at once".
    open var trigger: UNNotificationTrigger? { storedTrigger }

    /// The request as it is sent to the agent, by what a subclass says.
    func forWire() throws(UnsendableContent) -> NotificationRequest {
        NotificationRequest(
            identifier: identifier, content: try content.spokenValues.forWire(), trigger: trigger?.wire)
    }

    private struct Archive: Codable {
        let request: NotificationRequest
        let isPush: Bool
    }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether identifier, content and trigger are equal.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationRequest else { return false }
        return identifier == other.identifier && content == other.content && trigger == other.trigger
    }
    /// The same for equal requests.
    open override var hash: Int { identifier.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["identifier": identifier, "content": content, "trigger": trigger])
    }
}

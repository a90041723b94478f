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
    public convenience init(identifier: String, content: UNNotificationContent, trigger: UNNotificationTrigger?) {
        self.init(identifier: identifier, values: content.values, trigger: trigger)
    }

    init(identifier: String, values: UNNotificationContent.Values, trigger: UNNotificationTrigger?) {
        storedIdentifier = identifier
        storedContent = UNNotificationContent(values: values)
        storedTrigger = trigger
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
            identifier: storedIdentifier, content: storedContent.values.forArchive(), trigger: storedTrigger?.wire)
        WireCoding.encode(
            Archive(request: request, isPush: storedTrigger is UNPushNotificationTrigger), with: coder)
    }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// Of a remote notification the collapse id, else the `apns-id`. A later one with the same identifier
    /// replaces an earlier one, whether that waits or is on the screen.
    open var identifier: String { storedIdentifier }
    /// The content of the notification; a copy that does not change.
    open var content: UNNotificationContent { storedContent }
    /// `nil` for "at once".
    open var trigger: UNNotificationTrigger? { storedTrigger }

    /// The request as it is sent to the agent.
    func forWire() throws(UnsendableContent) -> NotificationRequest {
        NotificationRequest(
            identifier: storedIdentifier, content: try storedContent.values.forWire(), trigger: storedTrigger?.wire)
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
        return storedIdentifier == other.storedIdentifier && storedContent == other.storedContent
            && storedTrigger == other.storedTrigger
    }
    /// The same for equal requests.
    open override var hash: Int { storedIdentifier.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["identifier": identifier, "content": content, "trigger": trigger])
    }
}

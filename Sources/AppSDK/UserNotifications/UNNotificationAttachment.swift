import AgentProtocol
import Foundation

/// The option for the type of a file: a uniform type identifier, as a `String`.
public let UNNotificationAttachmentOptionsTypeHintKey = "UNNotificationAttachmentOptionsTypeHintKey"
/// The option that keeps a file out of the small picture: a `Bool`.
public let UNNotificationAttachmentOptionsThumbnailHiddenKey = "UNNotificationAttachmentOptionsThumbnailHiddenKey"
/// The option for the part that is shown small: a `CGRect`, or a dictionary with the members `X`, `Y`, `Width` and
/// `Height`, each `0 ... 1`. It is kept and not applied: desktops show the whole.
public let UNNotificationAttachmentOptionsThumbnailClippingRectKey =
    "UNNotificationAttachmentOptionsThumbnailClippingRectKey"
/// The option for the moment that is shown small: the number of a frame, seconds, or a dictionary with the members
/// `value` and `timescale`.
public let UNNotificationAttachmentOptionsThumbnailTimeKey = "UNNotificationAttachmentOptionsThumbnailTimeKey"

/// A file that belongs to a notification. Immutable.
///
/// The agent takes the file when the notification is added, and reads its content only then. A file that the app came
/// with, such as one of `Bundle.module`, is copied; any other file is moved.
///
/// Sendable is unchecked because the class is open. It has one constant, of a value type or of an immutable class. A
/// subclass with variables of its own must ensure that it is safe.
open class UNNotificationAttachment: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    let wire: NotificationAttachment

    init(_ wire: NotificationAttachment) { self.wire = wire }

    /// Creates an attachment of a file on this machine.
    ///
    /// - Parameters:
    ///   - identifier: The identifier; an empty one is replaced by a generated one.
    ///   - options: Members under the four `UNNotificationAttachmentOptions…Key`s; others are ignored.
    /// - Throws: `UNError.attachmentInvalidURL` when it is not a file that can be read.
    ///   `UNError.attachmentUnrecognizedType` when the type follows neither from the hint nor from the name's extension
    ///   nor, for a name without a known extension, from the first bytes: on Linux a download has no name of its own.
    public convenience init(identifier: String, url: URL, options: [AnyHashable: Any]? = nil) throws {
        var isFolder: ObjCBool = false
        guard url.isFileURL, FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
            !isFolder.boolValue, FileManager.default.isReadableFile(atPath: url.path)
        else {
            throw UNError(.attachmentInvalidURL, "An attachment must be a file that can be read, not \(url).")
        }
        let hint = options?[UNNotificationAttachmentOptionsTypeHintKey] as? String
        guard
            let type = hint.flatMap(AttachmentType.init(identifier:)) ?? AttachmentType(extension: url.pathExtension)
                ?? AttachmentType(content: url)
        else {
            throw UNError(
                .attachmentUnrecognizedType,
                "What \(url.lastPathComponent) is cannot be told from its name and its first bytes; give it one of the extensions "
                    + AttachmentType.extensions.joined(separator: ", ") + ", or a type hint.")
        }
        self.init(
            NotificationAttachment(
                identifier: identifier.isEmpty ? UUID().uuidString : identifier,
                path: url.standardizedFileURL.path, type: type.identifier,
                hidesThumbnail: options?[UNNotificationAttachmentOptionsThumbnailHiddenKey] as? Bool,
                thumbnailClippingRect: Self.rectangle(
                    options?[UNNotificationAttachmentOptionsThumbnailClippingRectKey]),
                thumbnailTime: Self.moment(options?[UNNotificationAttachmentOptionsThumbnailTimeKey])))
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationAttachment.self, with: coder) else { return nil }
        self.wire = wire
    }

    /// Archives where the file is, not the file.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// Unique within the notification.
    open var identifier: String { wire.identifier }
    /// The URL of the file.
    open var url: URL { URL(fileURLWithPath: wire.path) }
    /// A uniform type identifier, such as `public.png`.
    open var type: String { wire.type }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same file with the same identifier and options.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationAttachment)?.wire == wire }
    /// The same for equal attachments.
    open override var hash: Int { wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing(["identifier": identifier, "url": url, "type": type])
    }

    private static func rectangle(_ value: Any?) -> [Double]? {
        var numbers: [Double]
        switch value {
        case let rectangle as CGRect:
            numbers = [rectangle.minX, rectangle.minY, rectangle.width, rectangle.height].map { Double($0) }
        case let members as [String: Any]:
            numbers = ["X", "Y", "Width", "Height"].compactMap { number(members[$0]) }
        default: return nil
        }
        guard numbers.count == 4, numbers.allSatisfy({ (0...1).contains($0) }) else { return nil }
        return numbers
    }

    private static func moment(_ value: Any?) -> Double? {
        var moment = number(value)
        if let members = value as? [String: Any], let count = number(members["value"]),
            let scale = number(members["timescale"])
        {
            moment = count / scale
        }
        return moment.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
    }

    private static func number(_ value: Any?) -> Double? {
        (value as? NSNumber)?.doubleValue ?? value as? Double ?? (value as? Int).map(Double.init)
    }
}

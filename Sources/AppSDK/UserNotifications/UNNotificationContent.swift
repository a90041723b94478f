import AgentProtocol
import Foundation

/// The content of a notification. Two contents are equal when all their values are equal, mutable or not.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying, NSSecureCoding {
    /// The values of a notification's content.
    struct Values {
        /// All but the user info, which is kept with the types that the app gave it.
        var wire = NotificationContent()
        var userInfo: [AnyHashable: Any] = [:]
        var summaryArgument = ""
        var summaryArgumentCount = 1
    }

    var values: Values

    /// The values by what the members say: a subclass may override them. A text that is looked up at delivery stays so.
    final var spokenValues: Values {
        var said = values
        if title != said.title { said.setText(title, text: \.title, localization: \.titleLocalization) }
        if subtitle != said.subtitle { said.setText(subtitle, text: \.subtitle, localization: \.subtitleLocalization) }
        if body != said.body { said.setText(body, text: \.body, localization: \.bodyLocalization) }
        said.userInfo = userInfo
        said.wire.badge = badge?.intValue
        said.wire.sound = sound?.wire
        said.wire.launchImageName = launchImageName
        said.wire.attachments = attachments.map(\.wire)
        said.wire.categoryIdentifier = categoryIdentifier
        said.wire.threadIdentifier = threadIdentifier
        said.wire.targetContentIdentifier = targetContentIdentifier
        said.wire.interruptionLevel = interruptionLevel.wire
        said.wire.relevanceScore = relevanceScore > 0 ? min(1, relevanceScore) : 0
        said.wire.filterCriteria = filterCriteria
        return said
    }

    /// Empty content.
    public override init() { values = Values() }
    init(values: Values) { self.values = values }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationContent.self, with: coder) else { return nil }
        values = Values(wire)
    }

    /// Archives everything but those members of the user info that no property list can hold: a coder on Linux ends the
    /// program when it gets a failure.
    open func encode(with coder: NSCoder) { WireCoding.encode(spokenValues.forArchive(), with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The first line.
    open var title: String { values.title }
    /// The second line.
    open var subtitle: String { values.subtitle }
    /// The text itself.
    open var body: String { values.body }
    /// The number to show on the app's icon; `nil` leaves it, 0 takes it away.
    open var badge: NSNumber? { values.wire.badge.map { NSNumber(value: $0) } }
    /// The sound of the notification; `nil` for silence.
    open var sound: UNNotificationSound? { values.wire.sound.map { UNNotificationSound($0) } }
    /// Apple's launch image. Kept, and without effect here.
    open var launchImageName: String { values.wire.launchImageName }
    /// The app's own data; of a remote notification the whole payload, `aps` included.
    open var userInfo: [AnyHashable: Any] { values.userInfo }
    /// The files that belong to it.
    open var attachments: [UNNotificationAttachment] { values.wire.attachments.map { UNNotificationAttachment($0) } }
    /// The identifier of the notification's ``UNNotificationCategory``; empty for none.
    open var categoryIdentifier: String { values.wire.categoryIdentifier }
    /// The identifier of the conversation to which it belongs; empty for the app's own.
    open var threadIdentifier: String { values.wire.threadIdentifier }
    /// The identifier of the window that it is about; kept for the app.
    open var targetContentIdentifier: String? { values.wire.targetContentIdentifier }
    /// How much it may disturb.
    open var interruptionLevel: UNNotificationInterruptionLevel { .init(values.wire.interruptionLevel) }
    /// How it ranks among the app's notifications, `0 ... 1`.
    open var relevanceScore: Double { values.wire.relevanceScore }
    /// The value that a Focus filter compares; kept for the app.
    open var filterCriteria: String? { values.wire.filterCriteria }
    /// Kept, and without effect.
    @available(*, deprecated, message: "summaryArgument is ignored")
    open var summaryArgument: String { values.summaryArgument }
    /// Kept, and without effect.
    @available(*, deprecated, message: "summaryArgumentCount is ignored")
    open var summaryArgumentCount: Int { values.summaryArgumentCount }

    /// Always throws ``UNError/Code/contentProvidingObjectNotAllowed``: intents, which could provide content, do not
    /// exist on Linux.
    open func updating(from provider: any UNNotificationContentProviding) throws -> UNNotificationContent {
        throw UNError(.contentProvidingObjectNotAllowed, "Content cannot be updated: there are no intents on Linux.")
    }

    /// Always an immutable content.
    open func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) == UNNotificationContent.self ? self : UNNotificationContent(values: spokenValues)
    }

    /// Always a ``UNMutableNotificationContent``.
    open func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(values: spokenValues) }

    /// Whether the other is content, mutable or not, with the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = (object as? UNNotificationContent)?.spokenValues else { return false }
        let values = spokenValues
        return values.wire == other.wire && values.summaryArgument == other.summaryArgument
            && values.summaryArgumentCount == other.summaryArgumentCount
            && NotificationContent.UserInfo.areEqual(values.userInfo, other.userInfo)
    }

    /// The same for equal contents.
    open override var hash: Int { spokenValues.wire.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing([
            "title": title, "subtitle": subtitle, "body": body, "badge": badge, "sound": sound,
            "launchImageName": launchImageName, "categoryIdentifier": categoryIdentifier,
            "threadIdentifier": threadIdentifier, "targetContentIdentifier": targetContentIdentifier,
            "interruptionLevel": interruptionLevel, "relevanceScore": relevanceScore, "filterCriteria": filterCriteria,
            "attachments": attachments, "userInfo": userInfo,
        ])
    }
}

/// A source of content, such as Apple's intents, which give a notification a sender. No type conforms on Linux.
public protocol UNNotificationContentProviding: NSObjectProtocol {}

extension UNNotificationContent.Values {
    init(_ wire: NotificationContent) {
        self.wire = wire
        userInfo = wire.userInfo.dictionary
        self.wire.userInfo = .json("{}")
    }

    /// The content as it is sent to the agent.
    func forWire() throws(UnsendableContent) -> NotificationContent {
        var content = wire
        content.userInfo = try NotificationContent.UserInfo(userInfo)
        return content
    }

    /// The content as it is archived: without the values that ``forWire()`` would refuse.
    func forArchive() -> NotificationContent {
        if let content = try? forWire() { return content }
        var kept = self
        kept.userInfo = userInfo.filter { (try? NotificationContent.UserInfo([$0.key: $0.value])) != nil }
        return (try? kept.forWire()) ?? wire
    }

    /// Whether there is anything to show, hear or count.
    var isEmpty: Bool { !wire.showsText && wire.sound == nil && wire.badge == nil }

    var title: String { text(\.title, \.titleLocalization) }
    var subtitle: String { text(\.subtitle, \.subtitleLocalization) }
    var body: String { text(\.body, \.bodyLocalization) }

    private func text(
        _ text: KeyPath<NotificationContent, String>,
        _ localization: KeyPath<NotificationContent, NotificationContent.Localization?>
    ) -> String {
        guard let localization = wire[keyPath: localization] else { return wire[keyPath: text] }
        if let found = LocalizedText.text(localization) { return found }
        return wire[keyPath: text].isEmpty ? LocalizedText.fallback(localization) : wire[keyPath: text]
    }

    /// Takes a text, or the key and arguments that `localizedUserNotificationString` put into one.
    mutating func setText(
        _ value: String, text: WritableKeyPath<NotificationContent, String>,
        localization: WritableKeyPath<NotificationContent, NotificationContent.Localization?>
    ) {
        let marked = LocalizedText.localization(marked: value)
        wire[keyPath: localization] = marked
        wire[keyPath: text] = marked.map(LocalizedText.fallback) ?? value
    }
}

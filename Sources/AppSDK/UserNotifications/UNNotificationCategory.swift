import AgentProtocol
import Foundation
import Synchronization

/// A kind of notification with its buttons. Immutable.
///
/// Sendable is unchecked because the class is open. It has values only that initializers set. A subclass with variables of
/// its own must ensure that it is safe.
open class UNNotificationCategory: NSObject, NSCopying, NSSecureCoding, @unchecked Sendable {
    private static let made = Atomic<UInt64>(0)

    private final var stored: NotificationCategory
    /// The place among the categories that this process has made; 0 for those that the agent sent.
    private(set) final var order: UInt64

    /// A category that the agent sent.
    convenience init(_ wire: NotificationCategory) {
        self.init(identifier: wire.identifier, actions: [], intentIdentifiers: [])
        stored = wire
        order = 0
    }

    /// A kind of notification with these buttons.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers,
            hiddenPreviewsBodyPlaceholder: nil, categorySummaryFormat: nil, options: options)
    }

    /// Creates a category with a placeholder for hidden previews.
    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String, options: UNNotificationCategoryOptions = []
    ) {
        self.init(
            identifier: identifier, actions: actions, intentIdentifiers: intentIdentifiers,
            hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder, categorySummaryFormat: nil,
            options: options)
    }

    /// A kind of notification of which several are summed up by a text.
    public init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        hiddenPreviewsBodyPlaceholder: String?, categorySummaryFormat: String?,
        options: UNNotificationCategoryOptions = []
    ) {
        stored = NotificationCategory(
            identifier: identifier, actions: actions.map(\.wire), intentIdentifiers: intentIdentifiers,
            options: options.rawValue, hiddenPreviewsBodyPlaceholder: hiddenPreviewsBodyPlaceholder,
            categorySummaryFormat: categorySummaryFormat)
        order = Self.made.add(1, ordering: .relaxed).newValue
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) {
        guard let wire = WireCoding.decode(NotificationCategory.self, with: coder) else { return nil }
        stored = wire
        order = Self.made.add(1, ordering: .relaxed).newValue
    }

    /// The category as it is sent to the agent, by what a subclass says.
    var wire: NotificationCategory {
        var wire = stored
        wire.identifier = identifier
        wire.actions = actions.map(\.wire)
        wire.intentIdentifiers = intentIdentifiers
        wire.options = options.rawValue
        if !hiddenPreviewsBodyPlaceholder.isEmpty { wire.hiddenPreviewsBodyPlaceholder = hiddenPreviewsBodyPlaceholder }
        if !categorySummaryFormat.isEmpty { wire.categorySummaryFormat = categorySummaryFormat }
        return wire
    }

    /// Archives it.
    open func encode(with coder: NSCoder) { WireCoding.encode(wire, with: coder) }

    /// Always true.
    public class var supportsSecureCoding: Bool { true }

    /// The identifier that a notification's `categoryIdentifier` names.
    open var identifier: String { stored.identifier }
    /// The buttons, in their order.
    open var actions: [UNNotificationAction] { stored.actions.map { UNNotificationAction.made(of: $0) } }
    /// Kept, and without effect: there are no intents on Linux.
    open var intentIdentifiers: [String] { stored.intentIdentifiers }
    /// How its notifications behave.
    open var options: UNNotificationCategoryOptions { UNNotificationCategoryOptions(rawValue: stored.options) }
    /// The text that replaces the body where previews are hidden; empty for the agent's own text.
    open var hiddenPreviewsBodyPlaceholder: String { stored.hiddenPreviewsBodyPlaceholder ?? "" }
    /// The format of a summary of several notifications.
    open var categorySummaryFormat: String { stored.categorySummaryFormat ?? "" }

    /// Itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }
    /// Whether the other is the same in everything.
    open override func isEqual(_ object: Any?) -> Bool { (object as? UNNotificationCategory)?.wire == wire }
    /// The same for equal categories.
    open override var hash: Int { identifier.hashValue }
    /// The object's class, address and values.
    open override var description: String {
        describing([
            "identifier": identifier, "actions": actions, "intentIdentifiers": intentIdentifiers,
            "options": options.rawValue, "hiddenPreviewsBodyPlaceholder": hiddenPreviewsBodyPlaceholder,
            "categorySummaryFormat": categorySummaryFormat,
        ])
    }
}

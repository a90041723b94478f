import AgentProtocol
import Foundation

/// Content that an app writes.
open class UNMutableNotificationContent: UNNotificationContent {
    /// The first line.
    open override var title: String {
        get { super.title }
        set { values.setText(newValue, text: \.title, localization: \.titleLocalization) }
    }
    /// The second line.
    open override var subtitle: String {
        get { super.subtitle }
        set { values.setText(newValue, text: \.subtitle, localization: \.subtitleLocalization) }
    }
    /// The text itself.
    open override var body: String {
        get { super.body }
        set { values.setText(newValue, text: \.body, localization: \.bodyLocalization) }
    }
    /// The number to show on the app's icon; `nil` leaves it, 0 takes it away. Whole numbers only.
    open override var badge: NSNumber? {
        get { super.badge }
        set { values.wire.badge = newValue?.intValue }
    }
    /// The sound of the notification; `nil` for silence.
    open override var sound: UNNotificationSound? {
        get { super.sound }
        set { values.wire.sound = newValue?.wire }
    }
    /// Apple's launch image. Kept, and without effect here.
    open override var launchImageName: String {
        get { super.launchImageName }
        set { values.wire.launchImageName = newValue }
    }
    /// The app's own data: a property list, or a value that JSON can represent.
    open override var userInfo: [AnyHashable: Any] {
        get { super.userInfo }
        set { values.userInfo = newValue }
    }
    /// The files that belong to it.
    open override var attachments: [UNNotificationAttachment] {
        get { super.attachments }
        set { values.wire.attachments = newValue.map(\.wire) }
    }
    /// The identifier of the notification's ``UNNotificationCategory``; empty for none.
    open override var categoryIdentifier: String {
        get { super.categoryIdentifier }
        set { values.wire.categoryIdentifier = newValue }
    }
    /// The identifier of the conversation to which it belongs; empty for the app's own.
    open override var threadIdentifier: String {
        get { super.threadIdentifier }
        set { values.wire.threadIdentifier = newValue }
    }
    /// The identifier of the window that it is about; kept for the app.
    open override var targetContentIdentifier: String? {
        get { super.targetContentIdentifier }
        set { values.wire.targetContentIdentifier = newValue }
    }
    /// How much it may disturb.
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { super.interruptionLevel }
        set { values.wire.interruptionLevel = newValue.wire }
    }
    /// How it ranks among the app's notifications; what is outside of `0 ... 1` is brought inside.
    open override var relevanceScore: Double {
        get { super.relevanceScore }
        set { values.wire.relevanceScore = newValue > 0 ? min(1, newValue) : 0 }
    }
    /// The value that a Focus filter compares; kept for the app.
    open override var filterCriteria: String? {
        get { super.filterCriteria }
        set { values.wire.filterCriteria = newValue }
    }
    /// Kept, and without effect.
    @available(*, deprecated, message: "summaryArgument is ignored")
    open override var summaryArgument: String {
        get { super.summaryArgument }
        set { values.summaryArgument = newValue }
    }
    /// Kept, and without effect.
    @available(*, deprecated, message: "summaryArgumentCount is ignored")
    open override var summaryArgumentCount: Int {
        get { super.summaryArgumentCount }
        set { values.summaryArgumentCount = newValue }
    }
}

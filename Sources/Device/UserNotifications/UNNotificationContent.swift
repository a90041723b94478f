import Foundation

/// What a notification says. Two are equal when all that they say is equal, mutable or not.
open class UNNotificationContent: NSObject, NSCopying, NSMutableCopying {
    /// What content holds; texts that are not given are empty.
    struct Values {
        var title = ""
        var subtitle = ""
        var body = ""
        var badge: NSNumber?
        var sound: UNNotificationSound?
        var launchImageName = ""
        var userInfo: [AnyHashable: Any] = [:]
        var categoryIdentifier = ""
        var threadIdentifier = ""
        var targetContentIdentifier: String?
        var interruptionLevel = UNNotificationInterruptionLevel.active
        var relevanceScore = 0.0
        var filterCriteria: String?
    }

    var values: Values

    public override init() { values = Values() }
    init(values: Values) { self.values = values }

    open var title: String { values.title }
    open var subtitle: String { values.subtitle }
    open var body: String { values.body }
    /// The number to show on the app's icon; `nil` leaves it, 0 takes it away.
    open var badge: NSNumber? { values.badge }
    open var sound: UNNotificationSound? { values.sound }
    open var launchImageName: String { values.launchImageName }
    /// The whole payload of a remote notification, `aps` included.
    open var userInfo: [AnyHashable: Any] { values.userInfo }
    open var categoryIdentifier: String { values.categoryIdentifier }
    open var threadIdentifier: String { values.threadIdentifier }
    open var targetContentIdentifier: String? { values.targetContentIdentifier }
    open var interruptionLevel: UNNotificationInterruptionLevel { values.interruptionLevel }
    /// How it ranks among the app's notifications, `0 ... 1`.
    open var relevanceScore: Double { values.relevanceScore }
    open var filterCriteria: String? { values.filterCriteria }

    /// Always an immutable content.
    public func copy(with zone: NSZone? = nil) -> Any {
        type(of: self) == UNNotificationContent.self ? self : UNNotificationContent(values: values)
    }

    /// Always a ``UNMutableNotificationContent``.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { UNMutableNotificationContent(values: values) }

    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? UNNotificationContent else { return false }
        return values.isEqual(to: other.values)
    }

    open override var hash: Int {
        var hasher = Hasher()
        hasher.combine(values.title)
        hasher.combine(values.body)
        return hasher.finalize()
    }
}

extension UNNotificationContent.Values {
    func isEqual(to other: Self) -> Bool {
        title == other.title && subtitle == other.subtitle && body == other.body && badge == other.badge
            && sound == other.sound && launchImageName == other.launchImageName
            && categoryIdentifier == other.categoryIdentifier && threadIdentifier == other.threadIdentifier
            && targetContentIdentifier == other.targetContentIdentifier
            && interruptionLevel == other.interruptionLevel && relevanceScore == other.relevanceScore
            && filterCriteria == other.filterCriteria
            && NSDictionary(dictionary: userInfo).isEqual(to: other.userInfo)
    }
}

/// Content that an app writes.
open class UNMutableNotificationContent: UNNotificationContent {
    open override var title: String {
        get { values.title }
        set { values.title = newValue }
    }
    open override var subtitle: String {
        get { values.subtitle }
        set { values.subtitle = newValue }
    }
    open override var body: String {
        get { values.body }
        set { values.body = newValue }
    }
    open override var badge: NSNumber? {
        get { values.badge }
        set { values.badge = newValue }
    }
    open override var sound: UNNotificationSound? {
        get { values.sound }
        set { values.sound = newValue }
    }
    open override var launchImageName: String {
        get { values.launchImageName }
        set { values.launchImageName = newValue }
    }
    open override var userInfo: [AnyHashable: Any] {
        get { values.userInfo }
        set { values.userInfo = newValue }
    }
    open override var categoryIdentifier: String {
        get { values.categoryIdentifier }
        set { values.categoryIdentifier = newValue }
    }
    open override var threadIdentifier: String {
        get { values.threadIdentifier }
        set { values.threadIdentifier = newValue }
    }
    open override var targetContentIdentifier: String? {
        get { values.targetContentIdentifier }
        set { values.targetContentIdentifier = newValue }
    }
    open override var interruptionLevel: UNNotificationInterruptionLevel {
        get { values.interruptionLevel }
        set { values.interruptionLevel = newValue }
    }
    open override var relevanceScore: Double {
        get { values.relevanceScore }
        set { values.relevanceScore = newValue }
    }
    open override var filterCriteria: String? {
        get { values.filterCriteria }
        set { values.filterCriteria = newValue }
    }
}

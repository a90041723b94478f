import AgentProtocol

/// The permissions that an app asks for. Raw values are Apple's.
public struct UNAuthorizationOptions: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Apple's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The empty set has no name, as in Apple's headers.
    @available(*, unavailable, message: "use [] to construct an empty option set")
    public static var none: UNAuthorizationOptions { [] }

    /// Permission to put a number on the app's icon.
    public static let badge = UNAuthorizationOptions(rawValue: AuthorizationOption.badge)
    /// Permission to play sounds.
    public static let sound = UNAuthorizationOptions(rawValue: AuthorizationOption.sound)
    /// Permission to show notifications.
    public static let alert = UNAuthorizationOptions(rawValue: AuthorizationOption.alert)
    /// Permission to show them in a car; there is none on Linux.
    public static let carPlay = UNAuthorizationOptions(rawValue: AuthorizationOption.carPlay)
    /// Permission to disturb in every case.
    public static let criticalAlert = UNAuthorizationOptions(rawValue: AuthorizationOption.criticalAlert)
    /// Permission to offer settings of its own.
    public static let providesAppNotificationSettings = UNAuthorizationOptions(
        rawValue: AuthorizationOption.providesAppNotificationSettings)
    /// Permission to notify quietly, without asking the person first.
    public static let provisional = UNAuthorizationOptions(rawValue: AuthorizationOption.provisional)
    /// Permission to have notifications read aloud; not supported on Linux.
    @available(*, deprecated, message: "announcements need no option")
    public static let announcement = UNAuthorizationOptions(rawValue: AuthorizationOption.announcement)
    /// Permission to break through a Focus.
    @available(*, deprecated, message: "set interruptionLevel to .timeSensitive; that needs no option")
    public static let timeSensitive = UNAuthorizationOptions(rawValue: AuthorizationOption.timeSensitive)
}

/// Whether an app may notify. Raw values are Apple's.
public enum UNAuthorizationStatus: Int, Sendable {
    /// The person has not been asked yet.
    case notDetermined = 0
    /// No.
    case denied = 1
    /// Yes.
    case authorized = 2
    /// Quietly, until the person decides.
    case provisional = 3
    /// Authorized for a while; an App Clip's on iOS, and never on Linux.
    case ephemeral = 4
}

/// How a notification is shown while its app is in front. Raw values are Apple's; the empty set shows nothing.
public struct UNNotificationPresentationOptions: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Apple's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The empty set has no name, as in Apple's headers.
    @available(*, unavailable, message: "use [] to construct an empty option set")
    public static var none: UNNotificationPresentationOptions { [] }

    /// The number on the app's icon.
    public static let badge = UNNotificationPresentationOptions(rawValue: PresentationOption.badge)
    /// The notification's sound.
    public static let sound = UNNotificationPresentationOptions(rawValue: PresentationOption.sound)
    /// On the screen and in the list.
    @available(*, deprecated, message: "use .list and .banner")
    public static let alert = UNNotificationPresentationOptions(rawValue: PresentationOption.alert)
    /// In the list.
    public static let list = UNNotificationPresentationOptions(rawValue: PresentationOption.list)
    /// On the screen.
    public static let banner = UNNotificationPresentationOptions(rawValue: PresentationOption.banner)
}

/// How much a notification may disturb. Raw values are Apple's.
public enum UNNotificationInterruptionLevel: UInt, Sendable {
    /// Not at all: into the list only.
    case passive = 0
    /// The usual level: it appears on the screen, with its sound.
    case active = 1
    /// Also while other notifications are held back.
    case timeSensitive = 2
    /// A level that disturbs in every case.
    case critical = 3

    init(_ wire: NotificationContent.InterruptionLevel) {
        self =
            switch wire {
            case .passive: .passive
            case .active: .active
            case .timeSensitive: .timeSensitive
            case .critical: .critical
            }
    }

    var wire: NotificationContent.InterruptionLevel {
        switch self {
        case .passive: .passive
        case .active: .active
        case .timeSensitive: .timeSensitive
        case .critical: .critical
        }
    }
}

/// The state of a setting of an app. Raw values are Apple's.
public enum UNNotificationSetting: Int, Sendable {
    /// Not something that the app asked for, or that exists here.
    case notSupported = 0
    /// Off.
    case disabled = 1
    /// On.
    case enabled = 2
}

/// How alerts of an app appear. Raw values are Apple's.
public enum UNAlertStyle: Int, Sendable {
    /// Not on the screen.
    case none = 0
    /// A banner that disappears after a while.
    case banner = 1
    /// An alert that stays until it is dismissed.
    case alert = 2
}

/// When a notification's text is shown. Raw values are Apple's.
public enum UNShowPreviewsSetting: Int, Sendable {
    /// Also while the screen is locked.
    case always = 0
    /// While the screen is not locked.
    case whenAuthenticated = 1
    /// Not at all.
    case never = 2
}

/// The options of a notification's button. Raw values are Apple's.
public struct UNNotificationActionOptions: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Apple's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The empty set has no name, as in Apple's headers.
    @available(*, unavailable, message: "use [] to construct an empty option set")
    public static var none: UNNotificationActionOptions { [] }

    /// Works only while the screen is not locked: chosen on a locked one, it waits for the unlocking.
    public static let authenticationRequired = UNNotificationActionOptions(
        rawValue: NotificationActionDescription.authenticationRequired)
    /// Takes something away. Desktops have no look for that: the button is shown like any other.
    public static let destructive = UNNotificationActionOptions(rawValue: NotificationActionDescription.destructive)
    /// Brings the app to the front.
    public static let foreground = UNNotificationActionOptions(rawValue: NotificationActionDescription.foreground)
}

/// How a kind of notification behaves. Raw values are Apple's.
public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    /// Apple's number.
    public let rawValue: UInt
    /// Apple's number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    /// The empty set has no name, as in Apple's headers.
    @available(*, unavailable, message: "use [] to construct an empty option set")
    public static var none: UNNotificationCategoryOptions { [] }

    /// The app is notified when one is dismissed.
    public static let customDismissAction = UNNotificationCategoryOptions(
        rawValue: NotificationCategory.customDismissAction)
    /// Shown in a car too; there is none on Linux.
    public static let allowInCarPlay = UNNotificationCategoryOptions(rawValue: 1 << 1)
    /// The title is shown where previews are hidden.
    public static let hiddenPreviewsShowTitle = UNNotificationCategoryOptions(
        rawValue: NotificationCategory.hiddenPreviewsShowTitle)
    /// The subtitle is shown where previews are hidden.
    public static let hiddenPreviewsShowSubtitle = UNNotificationCategoryOptions(
        rawValue: NotificationCategory.hiddenPreviewsShowSubtitle)
    /// Read aloud; not supported on Linux.
    @available(*, deprecated, message: "announcements need no option")
    public static let allowAnnouncement = UNNotificationCategoryOptions(rawValue: 1 << 4)
}

/// The action of a response that opens the notification itself.
public let UNNotificationDefaultActionIdentifier = NotificationAction.open
/// The action of a response that dismisses the notification.
public let UNNotificationDismissActionIdentifier = NotificationAction.dismiss

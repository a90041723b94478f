import Foundation
import UserNotifications

// An app's questions about the system around it. Where Linux has no such thing, the answer states that.
extension UIApplication {
    /// A key of a launch's options.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The `userInfo` of the remote notification whose opening started the app.
        public static let remoteNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
        /// Never there: an opened local notification comes to the notification centre's delegate.
        @available(*, deprecated, message: "use userNotificationCenter(_:didReceive:)")
        public static let localNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsLocalNotificationKey")
        /// Never present: no URL is passed to an app here.
        public static let url = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsURLKey")
        /// Never there: a region's crossing is the agent's to watch.
        public static let location = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsLocationKey")
        /// Never there: no command of an icon starts an app here.
        public static let shortcutItem = LaunchOptionsKey(rawValue: "UIApplicationLaunchOptionsShortcutItemKey")
        /// Never there.
        public static let sourceApplication = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsSourceApplicationKey")
    }

    /// A key of the options for a URL that an app opens.
    public struct OpenURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The app that asks to open the URL; never present, since no URL is passed to an app here.
        public static let sourceApplication = OpenURLOptionsKey(
            rawValue: "UIApplicationOpenURLOptionsSourceApplicationKey")
        /// The property list that comes with the URL; never present.
        public static let annotation = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsAnnotationKey")
        /// Whether it is opened where it is; never there.
        public static let openInPlace = OpenURLOptionsKey(rawValue: "UIApplicationOpenURLOptionsOpenInPlaceKey")
    }

    /// A key of the options for a URL that the system opens.
    public struct OpenExternalURLOptionsKey: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Only in the app that owns the URL.
        public static let universalLinksOnly = OpenExternalURLOptionsKey(
            rawValue: "UIApplicationOpenURLOptionUniversalLinksOnly")
    }

    /// Names the app's page in the system's settings. No page is opened on Linux.
    public nonisolated static let openSettingsURLString = "app-settings:"
    /// Names the app's notification settings. No page is opened on Linux.
    public nonisolated static let openNotificationSettingsURLString = "app-settings:notifications"

    /// The number on the app's icon, as the agent has it; while no agent is connected, as this process last knew it.
    /// Setting 0 also takes the app's notifications out of the list.
    @available(*, deprecated, message: "use UNUserNotificationCenter.setBadgeCount(_:)")
    public var applicationIconBadgeNumber: Int {
        get {
            if let badge = center.badge(within: badgeLimit) { lastBadge = badge }
            return lastBadge
        }
        set {
            lastBadge = max(0, newValue)
            center.setBadgeCount(lastBadge)
            if newValue == 0 { center.removeAllDeliveredNotifications() }
        }
    }

    /// Always `available`: a background notification wakes an app whenever the agent takes one.
    public var backgroundRefreshStatus: UIBackgroundRefreshStatus { .available }

    /// Always true: nothing on Linux is kept from an app by a locked screen.
    public var isProtectedDataAvailable: Bool { true }

    /// Has no effect: the desktop decides when a screen sleeps.
    public var isIdleTimerDisabled: Bool {
        get { false }
        set {}
    }

    /// Empty: there are no scenes.
    public var connectedScenes: Set<UIScene> { [] }
    /// Empty: there are no scenes.
    public var openSessions: Set<UISceneSession> { [] }
    /// Empty: nothing is on a screen.
    public var windows: [UIWindow] { [] }
    /// Always `nil`: no window is on a screen.
    public var keyWindow: UIWindow? { nil }
}

/// Whether an app may be woken in the background. Raw values are Apple's.
public enum UIBackgroundRefreshStatus: Int, Sendable {
    /// It may not, and the person cannot change that.
    case restricted = 0
    /// It may not.
    case denied = 1
    /// It may.
    case available = 2
}

import Foundation
import UserNotifications

/// A part of an app's user interface. Linux has no scenes: no scene is ever connected, and the application delegate
/// gets the life cycle.
@preconcurrency @MainActor
open class UIScene: UIResponder {
    /// The state of a scene. Raw values are Apple's.
    public enum ActivationState: Int, Sendable {
        /// Not connected.
        case unattached = -1
        /// In front.
        case foregroundActive = 0
        /// Moving to the front, or from it.
        case foregroundInactive = 1
        /// Not in front.
        case background = 2
    }

    /// The options with which a scene is connected.
    @preconcurrency @MainActor
    public final class ConnectionOptions: NSObject {
        /// Always `nil`.
        public var notificationResponse: UNNotificationResponse? { nil }
        /// Always empty: no URL is passed to an app here.
        public var urlContexts: Set<UIOpenURLContext> { [] }
        /// Always empty: no activity is passed to an app here.
        public var userActivities: Set<NSUserActivity> { [] }
    }

    /// The options of a URL that a scene opens.
    @preconcurrency @MainActor
    public final class OpenURLOptions: NSObject {
        /// Always `nil`.
        public var sourceApplication: String? { nil }
        /// Always `nil`.
        public var annotation: Any? { nil }
        /// Always false.
        public var openInPlace: Bool { false }
    }

    /// Always `unattached`.
    open var activationState: ActivationState { .unattached }
    /// Kept by the app.
    open var delegate: (any UISceneDelegate)?
    /// The session that it belongs to.
    public let session = UISceneSession()
}

/// A URL that a scene is to open. No URL is passed to a scene on Linux.
@preconcurrency @MainActor
public final class UIOpenURLContext: NSObject {
    /// The URL.
    public let url: URL
    /// The options of the URL.
    public let options = UIScene.OpenURLOptions()

    /// The system makes them.
    init(url: URL) { self.url = url }
}

/// A scene with windows.
@preconcurrency @MainActor
open class UIWindowScene: UIScene {
    /// Empty.
    open var windows: [UIWindow] { [] }
}

/// The session of a scene, which the system remembers.
@preconcurrency @MainActor
public final class UISceneSession: NSObject {
    /// Always the same.
    public let persistentIdentifier = "aldaba"
    /// The configuration of the session's scenes.
    public var configuration: UISceneConfiguration { UISceneConfiguration(name: nil, sessionRole: role) }
    /// Always an app's window.
    public var role: Role { .windowApplication }

    /// The role of a scene.
    public struct Role: RawRepresentable, Hashable, Sendable {
        /// Apple's text.
        public let rawValue: String
        /// Apple's text.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// An app's window.
        public static let windowApplication = Role(rawValue: "UIWindowSceneSessionRoleApplication")
    }
}

/// The classes of a scene.
@preconcurrency @MainActor
public final class UISceneConfiguration: NSObject {
    /// The configuration's name in the app's list of scenes.
    public let name: String?
    /// The role of the scene.
    public let role: UISceneSession.Role
    /// The class of its delegate; kept.
    public var delegateClass: AnyClass?

    /// A configuration of this name.
    public init(name: String?, sessionRole: UISceneSession.Role) {
        self.name = name
        role = sessionRole
    }
}

/// The life cycle of a scene. Nothing of it is called: there are no scenes.
@preconcurrency @MainActor
public protocol UISceneDelegate: NSObjectProtocol {}

/// The life cycle of a scene with windows. Nothing of it is called: there are no scenes.
@preconcurrency @MainActor
public protocol UIWindowSceneDelegate: UISceneDelegate {}

extension UNNotificationResponse {
    /// Always `nil`: there are no scenes.
    @preconcurrency @MainActor public var targetScene: UIScene? { nil }
}

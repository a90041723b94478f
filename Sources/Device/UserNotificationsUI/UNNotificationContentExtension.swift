import UIKit

/// A view controller that shows a notification in a way of its own. Nothing of it is called on Linux: the desktop
/// shows notifications itself, and `UNUserNotificationCenter.supportsContentExtensions` is false.
///
/// All but ``didReceive(_:)`` is optional.
@preconcurrency @MainActor
public protocol UNNotificationContentExtension: NSObjectProtocol {
    /// The notification to show; again for each further one of the same conversation.
    func didReceive(_ notification: UNNotification)

    /// The person's answer, and what becomes of the view.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void)

    /// Which button for playing is shown.
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }
    /// Where the button for playing is.
    var mediaPlayPauseButtonFrame: CGRect { get }
    /// What the button for playing is painted with.
    var mediaPlayPauseButtonTintColor: UIColor { get }
    /// The person wants to hear or see it.
    func mediaPlay()
    /// The person wants it to pause.
    func mediaPause()
}

extension UNNotificationContentExtension {
    /// Has the view closed, and the app given the answer.
    public func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) { completion(.dismissAndForwardAction) }

    /// None.
    public var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { .none }
    /// Nowhere.
    public var mediaPlayPauseButtonFrame: CGRect { .zero }
    /// Blue.
    public var mediaPlayPauseButtonTintColor: UIColor { .blue }
    /// Does nothing.
    public func mediaPlay() {}
    /// Does nothing.
    public func mediaPause() {}
}

/// What becomes of a content extension's view after an answer. Raw values are Apple's.
public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    /// It stays.
    case doNotDismiss = 0
    /// It is closed, and the answer is done with.
    case dismiss = 1
    /// It is closed, and the app is given the answer.
    case dismissAndForwardAction = 2
}

/// Which button for playing a content extension has. Raw values are Apple's.
public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Sendable {
    /// None.
    case none = 0
    /// One that stays.
    case `default` = 1
    /// One that fades while it plays.
    case overlay = 2
}

// What a content extension asks of its host. There is none on Linux, so that nothing comes of it.
extension NSExtensionContext {
    /// Always empty: no buttons are shown, and setting them changes nothing.
    public var notificationActions: [UNNotificationAction] {
        get { [] }
        set {}
    }

    /// Does nothing.
    public func performNotificationDefaultAction() {}
    /// Does nothing.
    public func dismissNotificationContentExtension() {}
    /// Does nothing.
    public func mediaPlayingStarted() {}
    /// Does nothing.
    public func mediaPlayingPaused() {}
}

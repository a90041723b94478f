import UIKit

/// A view controller that shows a notification in a way of its own. Nothing of it is called on Linux: the desktop
/// shows notifications itself, and `UNUserNotificationCenter.supportsContentExtensions` is false.
///
/// All but ``didReceive(_:)`` is optional.
@preconcurrency @MainActor
public protocol UNNotificationContentExtension: NSObjectProtocol {
    /// The notification to show; again for each further one of the same conversation.
    func didReceive(_ notification: UNNotification)

    /// Receives the person's answer, and returns the effect on the view.
    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void)

    /// The type of the play button.
    var mediaPlayPauseButtonType: UNNotificationContentExtensionMediaPlayPauseButtonType { get }
    /// The rectangle of the play button.
    var mediaPlayPauseButtonFrame: CGRect { get }
    /// The color of the play button.
    var mediaPlayPauseButtonTintColor: UIColor { get }
    /// The person starts the media.
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

    /// No play button.
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

/// The effect of an answer on a content extension's view. Raw values are Apple's.
public enum UNNotificationContentExtensionResponseOption: UInt, Sendable {
    /// It stays.
    case doNotDismiss = 0
    /// It is closed, and the answer is done with.
    case dismiss = 1
    /// It is closed, and the app is given the answer.
    case dismissAndForwardAction = 2
}

/// The type of a content extension's play button. Raw values are Apple's.
public enum UNNotificationContentExtensionMediaPlayPauseButtonType: UInt, Sendable {
    /// No button.
    case none = 0
    /// A button that stays.
    case `default` = 1
    /// A button that fades while the media play.
    case overlay = 2
}

// The requests of a content extension to its host. Linux has no host, so they have no effect.
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

import Flutter
import Foundation

/// Passes the actions of notifications on to the other half of the app.
@MainActor
public final class NotificationActionService {
    private let channel: FlutterMethodChannel

    /// The action of the notification that started the app, until it has been read.
    public var launchAction: String?
    /// The id of the notification that started the app, whose action is kept.
    private var launchNotification: Int64?

    /// Answers and calls on the channel `PREFIX/notificationaction`.
    public init(channelPrefix: String, binaryMessenger: any FlutterBinaryMessenger) {
        channel = FlutterMethodChannel(
            name: "\(channelPrefix)/notificationaction", binaryMessenger: binaryMessenger)
        channel.setMethodCallHandler { [weak self] call, result in
            guard call.method == "getLaunchAction" else { return result(FlutterMethodNotImplemented) }
            result(self?.launchAction)
            self?.launchAction = nil
        }
    }

    /// Sends the Flutter side the action of a notification that came, or was opened, while the app ran.
    public func triggerAction(_ action: String) { channel.invokeMethod("triggerAction", arguments: action) }

    /// Takes the action of a notification's payload: its top-level member `action`.
    ///
    /// - Parameter isLaunch: Whether the notification started the app; the action is kept for `getLaunchAction` then.
    /// - Returns: The action; `nil` where the payload has none, or is that of the launch once more.
    @discardableResult
    public func take(_ userInfo: [AnyHashable: Any], isLaunch: Bool = false) -> String? {
        guard let action = Self.action(of: userInfo) else { return nil }
        let id = userInfo["aldaba.id"] as? Int64
        guard isLaunch else { return trigger(action, of: id) }
        launchAction = action
        launchNotification = id
        return action
    }

    /// Takes the action of a notification that was opened, or that came while the app ran.
    ///
    /// - Returns: The action; `nil` where the payload has none, and for the notification that started the app, whose
    ///   action was taken from the launch options.
    @discardableResult
    public func take(_ notification: UNNotification) -> String? {
        guard let action = Self.action(of: notification.request.content.userInfo) else { return nil }
        return trigger(action, of: notification.aldabaID)
    }

    private func trigger(_ action: String, of notification: Int64?) -> String? {
        guard notification == nil || notification != launchNotification else { return nil }
        triggerAction(action)
        return action
    }

    private static func action(of userInfo: [AnyHashable: Any]) -> String? {
        (userInfo["action"] as? String).flatMap { $0.isEmpty ? nil : $0 }
    }
}

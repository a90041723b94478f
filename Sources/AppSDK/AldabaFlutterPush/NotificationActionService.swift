import Flutter
import Foundation

/// Passes the actions of notifications on to the other half of the app.
@MainActor
public final class NotificationActionService {
    private let channel: FlutterMethodChannel

    /// The action of the notification that started the app, until it has been read.
    public var launchAction: String?

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
    /// - Returns: The action; `nil` where the payload has none.
    @discardableResult
    public func take(_ userInfo: [AnyHashable: Any], isLaunch: Bool = false) -> String? {
        guard let action = userInfo["action"] as? String, !action.isEmpty else { return nil }
        if isLaunch { launchAction = action } else { triggerAction(action) }
        return action
    }
}

import Flutter
import Foundation

/// Answers for the installation: the device's id, its token and its platform.
@MainActor
public final class DeviceInstallationService {
    private let channel: FlutterMethodChannel
    private let deviceIdentifier: @MainActor () -> String?

    /// The device token; `nil` until the app is registered.
    public var token: Data?

    /// Answers on the channel `PREFIX/deviceinstallation`.
    ///
    /// - Parameter deviceIdentifier: Returns the id of this app on this device; by default `identifierForVendor`.
    public init(
        channelPrefix: String, binaryMessenger: any FlutterBinaryMessenger,
        deviceIdentifier: @escaping @MainActor () -> String? = { UIDevice.current.identifierForVendor?.uuidString }
    ) {
        channel = FlutterMethodChannel(
            name: "\(channelPrefix)/deviceinstallation", binaryMessenger: binaryMessenger)
        self.deviceIdentifier = deviceIdentifier
        channel.setMethodCallHandler { [weak self] call, result in result(self?.answer(call.method)) }
    }

    private func answer(_ method: String) -> Any? {
        switch method {
        case "getDeviceId":
            deviceIdentifier()
                ?? FlutterError(
                    code: "UNAVAILABLE", message: "This device has no identifier for the app.", details: nil)
        case "getDeviceToken":
            token.map { $0.map { String(format: "%02x", $0) }.joined() }
                ?? FlutterError(
                    code: "UNAVAILABLE",
                    message: "There is no device token: the app is not registered for remote notifications yet.",
                    details: nil)
        case "getDevicePlatform": "apns"
        default: FlutterMethodNotImplemented
        }
    }
}

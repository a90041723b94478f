import Foundation

/// Answers the Dart half: who this device is for the app, its token, and its push service.
class DeviceInstallationService {

    enum DeviceRegistrationError: Error {
        case notificationSupport(message: String)
    }

    var token: Data? = nil

    let DEVICE_INSTALLATION_CHANNEL = "com.example.pushdemo/deviceinstallation"

    private var deviceInstallationChannel: FlutterMethodChannel

    var deviceId: String {
        get {
            return UIDevice.current.identifierForVendor!.uuidString
        }
    }

    init(withBinaryMessenger binaryMessenger: FlutterBinaryMessenger) {
        deviceInstallationChannel = FlutterMethodChannel(
            name: DEVICE_INSTALLATION_CHANNEL, binaryMessenger: binaryMessenger)
        deviceInstallationChannel.setMethodCallHandler(handleDeviceInstallationCall)
    }

    func getDeviceToken() throws -> String {
        guard notificationsSupported else {
            let message = getNotificationsSupportError()
            throw DeviceRegistrationError.notificationSupport(message: message)
        }
        guard let token = token else {
            throw DeviceRegistrationError.notificationSupport(message: "There is no device token yet.")
        }
        return token.reduce("", { $0 + String(format: "%02X", $1) })
    }

    func getDevicePlatform() -> String {
        return "apns"
    }

    private func handleDeviceInstallationCall(call: FlutterMethodCall, result: @escaping FlutterResult) {
        switch call.method {
        case "getDeviceId":
            result(deviceId)
        case "getDeviceToken":
            getDeviceToken(result: result)
        case "getDevicePlatform":
            result(getDevicePlatform())
        default:
            result(FlutterMethodNotImplemented)
        }
    }

    private func getDeviceToken(result: @escaping FlutterResult) {
        do {
            let token = try getDeviceToken()
            result(token)
        } catch let error {
            result(FlutterError(code: "UNAVAILABLE", message: error.localizedDescription, details: nil))
        }
    }

    private var notificationsSupported: Bool {
        get {
            if #available(iOS 13.0, *) { return true } else { return false }
        }
    }

    private func getNotificationsSupportError() -> String {
        return "This app takes notifications from iOS 13 on; this is \(UIDevice.current.systemVersion)."
    }
}

import Foundation

/// Tells the Dart half that the token is another.
class NotificationRegistrationService {

    let NOTIFICATION_REGISTRATION_CHANNEL = "com.example.pushdemo/notificationregistration"
    let REFRESH_REGISTRATION = "refreshRegistration"

    private var notificationRegistrationChannel: FlutterMethodChannel

    init(withBinaryMessenger binaryMessenger: FlutterBinaryMessenger) {
        notificationRegistrationChannel = FlutterMethodChannel(
            name: NOTIFICATION_REGISTRATION_CHANNEL, binaryMessenger: binaryMessenger)
    }

    func refreshRegistration() {
        notificationRegistrationChannel.invokeMethod(REFRESH_REGISTRATION, arguments: nil)
    }
}

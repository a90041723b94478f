import AgentWire
import AppHost
import Foundation
import UserNotifications

/// Brings what the host says to the application's delegate.
@MainActor
final class LifeCycle: ApplicationReceiver {
    private unowned let application: UIApplication
    private unowned let host: AppHost

    init(application: UIApplication, host: AppHost) {
        self.application = application
        self.host = host
    }

    func launch(state: AppState, notification: DeliveredNotification?) {
        application.applicationState = state == .background ? .background : .inactive
        let options = notification.map {
            [UIApplication.LaunchOptionsKey.remoteNotification: UNNotification.userInfo(of: $0) as Any]
        }
        _ = application.delegate?.application(application, willFinishLaunchingWithOptions: options)
        _ = application.delegate?.application(application, didFinishLaunchingWithOptions: options)
        host.finishLaunch()
    }

    func enter(_ state: AppState) {
        switch state {
        case .active:
            if application.applicationState == .background {
                application.applicationState = .inactive
                application.delegate?.applicationWillEnterForeground(application)
            }
            application.applicationState = .active
            application.delegate?.applicationDidBecomeActive(application)
        case .inactive: application.applicationState = .inactive
        case .background: application.applicationState = .background
        }
    }

    func receiveInBackground(
        _ notification: DeliveredNotification, answer: @escaping @Sendable (BackgroundResult) -> Void
    ) {
        guard let delegate = application.delegate else { return answer(.noData) }
        delegate.application(
            application, didReceiveRemoteNotification: UNNotification.userInfo(of: notification)
        ) { result in
            switch result {
            case .newData: answer(.newData)
            case .noData: answer(.noData)
            case .failed: answer(.failed)
            }
        }
    }

    func registered(token: String) {
        guard let bytes = Self.bytes(hex: token) else {
            return registrationFailed(code: "badToken", message: "the agent gave a device token that is not hex")
        }
        application.isRegisteredForRemoteNotifications = true
        application.delegate?.application(application, didRegisterForRemoteNotificationsWithDeviceToken: bytes)
    }

    func registrationFailed(code: String, message: String) {
        let error = NSError(
            domain: "AldabaRegistrationErrorDomain", code: 1,
            userInfo: [NSLocalizedDescriptionKey: "\(message) (\(code))"])
        application.delegate?.application(application, didFailToRegisterForRemoteNotificationsWithError: error)
    }

    /// The bytes of a text of hex digits; `nil` for any other text, and for none.
    static func bytes(hex: String) -> Data? {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

import AgentProtocol
import AppHost
import Foundation
import UserNotifications

/// Passes the host's events to the application's delegate.
@MainActor
final class LifeCycle: ApplicationReceiver {
    /// `nil` once the application is gone: what its host had queued for it before is passed over.
    private weak var application: UIApplication?
    private unowned let host: AppHost

    init(application: UIApplication, host: AppHost) {
        self.application = application
        self.host = host
    }

    func launch(state: AppState, notification: DeliveredNotification?) {
        guard let application else { return }
        application.applicationState = state == .background ? .background : .inactive
        var options: [UIApplication.LaunchOptionsKey: Any]?
        if let notification, notification.isRemote {
            application.launchNotification = notification.id
            options = [.remoteNotification: UNNotification.userInfo(of: notification)]
        }
        _ = application.delegate?.application(application, willFinishLaunchingWithOptions: options)
        _ = application.delegate?.application(application, didFinishLaunchingWithOptions: options)
        application.post(
            UIApplication.didFinishLaunchingNotification,
            options.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.key.rawValue, $0.value) }) })
        host.finishLaunch()
    }

    /// Goes from one state to another, through `inactive` where that is between, and notifies the delegate of each
    /// step.
    func enter(_ state: AppState) {
        guard let application else { return }
        let delegate = application.delegate
        if application.applicationState == .background, state != .background {
            application.applicationState = .inactive
            delegate?.applicationWillEnterForeground(application)
            application.post(UIApplication.willEnterForegroundNotification)
        }
        if application.applicationState == .active, state != .active {
            delegate?.applicationWillResignActive(application)
            application.post(UIApplication.willResignActiveNotification)
            application.applicationState = .inactive
        }
        switch (application.applicationState, state) {
        case (.inactive, .active):
            application.applicationState = .active
            delegate?.applicationDidBecomeActive(application)
            application.post(UIApplication.didBecomeActiveNotification)
        case (.inactive, .background):
            application.applicationState = .background
            delegate?.applicationDidEnterBackground(application)
            application.post(UIApplication.didEnterBackgroundNotification)
        default: break
        }
    }

    func receiveInBackground(
        _ notification: DeliveredNotification, answer: @escaping @Sendable (BackgroundResult) -> Void
    ) {
        guard let application, let delegate = application.delegate else { return answer(.noData) }
        OldForm.$isCalled.withValue(application.applicationState != .background) {
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
    }

    func receiveOpening(_ notification: DeliveredNotification, answer: @escaping @Sendable (Bool) -> Void) {
        guard let application, let delegate = application.delegate else { return answer(false) }
        OptionalCall.make { call in
            delegate.application(
                application, didReceiveRemoteNotification: UNNotification.userInfo(of: notification)
            ) { _ in answer(call.isImplemented) }
        }
    }

    func registered(token: String) {
        guard let application else { return }
        guard let bytes = DeviceTokenText.bytes(hex: token) else {
            return registrationFailed(code: "badToken", message: "the agent gave a device token that is not hex")
        }
        application.isRegisteredForRemoteNotifications = true
        application.delegate?.application(application, didRegisterForRemoteNotificationsWithDeviceToken: bytes)
    }

    func registrationFailed(code: String, message: String) {
        guard let application else { return }
        let error = NSError(
            domain: "AldabaRegistrationErrorDomain", code: 1,
            userInfo: [NSLocalizedDescriptionKey: "\(message) (\(code))"])
        application.delegate?.application(application, didFailToRegisterForRemoteNotificationsWithError: error)
    }
}

import AgentProtocol
import AppHost

/// Delivers the agent's notifications and responses to the center's delegate.
@MainActor
final class NotificationDelivery: NotificationReceiver {
    private let center: UNUserNotificationCenter

    init(center: UNUserNotificationCenter) { self.center = center }

    func present(_ notification: DeliveredNotification, answer: @escaping @Sendable (UInt?) -> Void) {
        guard let delegate = center.delegate else { return answer(nil) }
        OptionalCall.make { call in
            delegate.userNotificationCenter(center, willPresent: UNNotification(notification)) {
                answer(call.isImplemented ? $0.rawValue : nil)
            }
        }
    }

    func respond(_ response: DeliveredResponse, done: @escaping @Sendable (Bool) -> Void) {
        guard let delegate = center.delegate else { return done(false) }
        OptionalCall.make { call in
            delegate.userNotificationCenter(center, didReceive: UNNotificationResponse.made(of: response)) {
                done(call.isImplemented)
            }
        }
    }

    func openSettings(for notification: DeliveredNotification?) {
        center.delegate?.userNotificationCenter(center, openSettingsFor: notification.map { UNNotification($0) })
    }
}

import AgentProtocol
import AppHost
import FirebaseCore
import Foundation
import UserNotifications

/// Passes the host's events to messaging: data messages, tokens, and the events of the app's own handlers.
@MainActor
final class MessagingReception: MessagingReceiver {
    /// `nil` once messaging is gone: what its host had queued for it before is passed over.
    private weak var messaging: Messaging?

    init(messaging: Messaging) { self.messaging = messaging }

    func receiveData(_ message: DeliveredNotification) {
        let payload = FCMPayload(message)
        guard let messaging, messaging.read({ $0.give(payload.messageID) }) else { return }
        guard messaging.useMessagingDelegateForDirectChannel else {
            messaging.host.receivers.application?.receiveInBackground(message) { _ in }
            return
        }
        give(payload)
    }

    private func give(_ payload: FCMPayload) {
        guard let messaging else { return }
        OptionalCall.make { call in
            messaging.delegate?.messaging(
                messaging, didReceive: MessagingRemoteMessage(messageID: payload.messageID, appData: payload.appData))
            if !call.isImplemented {
                FirebaseApp.report(
                    "the data message \(payload.messageID) is lost: the delegate has no messaging(_:didReceive:)")
            }
        }
    }

    func channelChanged(isConnected: Bool) {
        guard let messaging else { return }
        let waiters = messaging.read { $0.channelChanged(isConnected: isConnected) }
        for waiter in waiters { waiter(nil) }
        NotificationCenter.default.post(name: .MessagingConnectionStateChanged, object: messaging)
    }

    func upstreamEnded(_ end: UpstreamEnd) {
        Messaging.post(end: end.code.map { MessagingError(upstreamCode: $0) }, of: end.id)
    }

    func entered(_ state: AppState) {
        guard let messaging else { return }
        messaging.read { $0.isActive = state == .active }
        messaging.followChannel()
    }

    func willHand(_ notification: DeliveredNotification, as occasion: HandoverReason) {
        let payload = FCMPayload(notification)
        guard let messaging, payload.isFromFCM else { return }
        if messaging.handlesAutomatically {
            messaging.appDidReceiveMessage(UNNotification.userInfo(of: notification))
        }
        // A message that has data too goes to the delegate as well while the channel is open, once.
        guard occasion != .response, payload.hasData, messaging.read({ $0.wantsChannel && $0.usesMessagingDelegate }),
            messaging.read({ $0.give(payload.messageID) })
        else { return }
        give(payload)
    }

    func tokenChanged(_ token: String) { messaging?.tokenChanged(token) }

    func tokenFailed(code: String, message: String) { messaging?.tokenFailed(code: code, message: message) }
}

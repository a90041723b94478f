import AgentProtocol

/// The parts of the app that receive what the agent delivers, on the main actor.
@MainActor
package final class AppReceivers {
    /// Takes the questions how to present a notification, and the responses.
    package var notification: (any NotificationReceiver)?
    /// Takes what belongs to the app's life cycle; held weakly. What comes after it has gone is for nobody.
    package weak var application: (any ApplicationReceiver)?
    /// Takes the notifications to change, in a service extension's process.
    package var serviceExtension: (any ExtensionReceiver)?
    /// Receives data messages, and the events of the app's other handlers. Data messages wait until it is set.
    package weak var messaging: (any MessagingReceiver)?
    /// Receives the person's answers to calls; held weakly.
    package weak var calls: (any CallReceiver)?
    private weak var callPushes: (any CallPushReceiver)?
    /// The pushes of calls that came before there was a receiver.
    private var waitingCalls: [DeliveredNotification] = []
    /// The state that the app has entered; `nil` before its launch.
    package private(set) var state: AppState?

    private var deletionReceiver: ((MessageDeletion) -> Void)?
    /// The deletions that no receiver has taken yet; the agent reports at most one for each environment and lane.
    private var untoldDeletions: [MessageDeletion] = []

    nonisolated init() {}

    /// Sets the receiver of deletions on the server. Until then, they are kept here and by the agent.
    package func receiveDeletions(of host: AppHost, _ receiver: @escaping (MessageDeletion) -> Void) {
        deletionReceiver = receiver
        deliverDeletions(host)
    }

    /// Sets the receiver of pushes of calls, which is held weakly. Until then, they wait here.
    package func receiveCalls(of host: AppHost, _ receiver: any CallPushReceiver) {
        callPushes = receiver
        let calls = waitingCalls
        waitingCalls = []
        for call in calls { handCall(call, host) }
    }

    /// Follows a directive that is for the app. `answersApp` says whether the app itself asked for the device token.
    func perform(_ directive: AppSession.Directive, of host: AppHost, answersApp: Bool) {
        AppDefaults.synchronize()
        defer { AppDefaults.synchronize() }
        switch directive {
        case .launch(let state, let notification): application?.launch(state: state, notification: notification)
        case .enter(let state):
            self.state = state
            application?.enter(state)
            messaging?.entered(state)
        case .handBackground(let notification): handBackground(notification, host)
        case .handCall(let call): handCall(call, host)
        case .askPresentation(let notification): askPresentation(notification, host)
        case .handResponse(let response): handResponse(response, host)
        case .offerOpening(let response):
            notifyMessaging(response.notification, .response)
            offerOpening(of: response) { host.postEvent(.openingAnswered(id: response.id, isTaken: $0)) }
        case .extend(let notification): extend(notification, host)
        case .expire(let notification): serviceExtension?.expire(notification)
        case .openSettings(let notification): self.notification?.openSettings(for: notification)
        case .announceToken(let token):
            if answersApp { application?.registered(token: token) }
            messaging?.tokenChanged(token)
            callPushes?.tokenChanged(token)
        case .announceRegistrationFailure(let code, let message):
            if answersApp { application?.registrationFailed(code: code, message: message) }
            messaging?.tokenFailed(code: code, message: message)
        case .handData(let message):
            // Without a receiver the channel is not wanted; the agent sends it again in another run.
            guard let messaging else { break }
            messaging.receiveData(message)
            host.postEvent(.dataHandled(id: message.id))
        case .tellChannel(let isConnected): messaging?.channelChanged(isConnected: isConnected)
        case .tellEnd(let end):
            guard let messaging else { break }
            messaging.upstreamEnded(end)
            host.postEvent(.endTaken(number: end.number))
        case .tellDeletion(let deletion):
            untoldDeletions.removeAll { $0.since == deletion.since }
            untoldDeletions.append(deletion)
            deliverDeletions(host)
        case .connect, .disconnect, .send, .report, .answerAuthorization, .answerSettings, .answerMedia, .answerOpening,
            .answerCenter, .answerChannel, .answerActivity, .tellActivities, .failRequest:
            break
        }
    }

    private func deliverDeletions(_ host: AppHost) {
        guard let deletionReceiver else { return }
        let deletions = untoldDeletions
        untoldDeletions = []
        for deletion in deletions {
            deletionReceiver(deletion)
            host.postEvent(.deletionTaken(id: deletion.id))
        }
    }

    private func handCall(_ call: DeliveredNotification, _ host: AppHost) {
        guard let callPushes else {
            waitingCalls = waitingCalls.suffix(AppSession.inProgressLimit - 1) + [call]
            return
        }
        callPushes.receiveCall(call) { host.postEvent(.backgroundHandled(id: call.id, .newData)) }
    }

    private func handBackground(_ notification: DeliveredNotification, _ host: AppHost) {
        notifyMessaging(notification, .background)
        guard let application else { return host.postEvent(.backgroundHandled(id: notification.id, .noData)) }
        application.receiveInBackground(notification) {
            host.postEvent(.backgroundHandled(id: notification.id, $0))
        }
    }

    /// Passes a remote notification to messaging before the app's own handlers get it.
    private func notifyMessaging(_ notification: DeliveredNotification, _ occasion: HandoverReason) {
        if notification.isRemote { messaging?.willHand(notification, as: occasion) }
    }

    private func askPresentation(_ notification: DeliveredNotification, _ host: AppHost) {
        guard !notification.isIncomingCall else {
            let options = PresentationOption.banner | PresentationOption.list | PresentationOption.sound
            return host.postEvent(.presentationAnswered(id: notification.id, options: options))
        }
        notifyMessaging(notification, .foreground)
        guard let receiver = self.notification else { return host.postEvent(.presentationUnasked(id: notification.id)) }
        receiver.present(notification) { options in
            host.postEvent(
                options.map { .presentationAnswered(id: notification.id, options: $0) }
                    ?? .presentationUnasked(id: notification.id))
        }
    }

    private func extend(_ notification: DeliveredNotification, _ host: AppHost) {
        let id = notification.id
        guard let serviceExtension else {
            return host.postEvent(.extensionAnswered(.extended(notification: id, content: nil)))
        }
        serviceExtension.extend(notification) { host.postEvent(.extensionAnswered($0.message(of: id))) }
    }

    private func handResponse(_ response: DeliveredResponse, _ host: AppHost) {
        if response.notification.isIncomingCall, let calls {
            calls.respond(response)
            return host.postEvent(.responseHandled(id: response.id))
        }
        notifyMessaging(response.notification, .response)
        guard let receiver = notification else { return host.postEvent(.responseHandled(id: response.id)) }
        receiver.respond(response) { isTaken in
            guard !isTaken else { return host.postEvent(.responseHandled(id: response.id)) }
            host.onMain { $0.offerOpening(of: response) { _ in host.postEvent(.responseHandled(id: response.id)) } }
        }
    }

    /// Passes the remote notification that opened the app to the application's own handler; `answer` receives whether
    /// it was taken.
    private func offerOpening(of response: DeliveredResponse, answer: @escaping @Sendable (Bool) -> Void) {
        guard response.opensApp, response.notification.isRemote, let application else { return answer(false) }
        application.receiveOpening(response.notification, answer: answer)
    }
}

extension ExtensionAnswer {
    /// The message that carries it to the agent.
    fileprivate func message(of id: Int64) -> AppMessage {
        switch self {
        case .changed(let content):
            let message = AppMessage.extended(notification: id, content: content)
            do {
                _ = try AgentFrame.encode(message)
                return message
            } catch {
                return .extensionFailed(notification: id, message: "its content cannot be sent: \(error)")
            }
        case .unchanged: return .extended(notification: id, content: nil)
        case .unsendable(let reason): return .extensionFailed(notification: id, message: reason)
        }
    }
}

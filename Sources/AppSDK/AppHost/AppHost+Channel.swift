import AgentProtocol

/// Receives data messages inside the app, and the events that the app's other handlers receive. It is the counterpart
/// of FirebaseMessaging's method swizzling on Apple's systems.
@MainActor
package protocol MessagingReceiver: AnyObject {
    /// Takes a data message of the direct channel; it counts as handled when this returns.
    func receiveData(_ message: DeliveredNotification)

    /// The direct channel is open as far as the server, or is not any more.
    func channelChanged(isConnected: Bool)

    /// Receives the outcome of a message that the app sent; called once.
    func upstreamEnded(_ end: UpstreamEnd)

    /// The app is in this state now; called after its own handlers were.
    func entered(_ state: AppState)

    /// A remote notification is about to be given to the app's own handlers.
    func willHand(_ notification: DeliveredNotification, as occasion: HandoverReason)

    /// The device token, as 64 hex digits.
    func tokenChanged(_ token: String)

    /// Why there is no device token: a stable code, and a sentence for people.
    func tokenFailed(code: String, message: String)
}

/// Why a notification is given to an app's handlers.
package enum HandoverReason: Hashable, Sendable {
    /// The app is in front, and is asked how to present it.
    case foreground
    /// It is for the background handler.
    case background
    /// The person opened it, or answered it otherwise.
    case response
}

extension AppHost {
    /// Sets whether the app wants data messages now.
    package func wantChannel(_ isWanted: Bool) { handle(.channelWanted(isWanted)) }

    /// Whether the app has launched, so that its state was set.
    package var hasLaunched: Bool { if case .finished = session.launch { true } else { false } }

    /// The app's state, as the last event set it.
    package var appState: AppState { session.state }

    /// Asks for the device token for ``messagingReceiver``; the app's own handler does not get a token that it did not
    /// ask for.
    package func requestToken() { registerForMessaging() }

    /// Sends a message to the app's provider. The answer comes once, on any thread; `nil` when it cannot be asked for.
    package func sendUpstream(_ draft: UpstreamDraft, answer: @escaping @Sendable (ChannelAnswer?) -> Void) {
        askChannel(answer) { .send(request: $0, draft) }
    }

    /// Has the app join a topic or leave it. The answer comes once, on any thread; `nil` when it cannot be asked for.
    package func changeTopic(_ name: String, joins: Bool, answer: @escaping @Sendable (ChannelAnswer?) -> Void) {
        askChannel(answer) { .topic(request: $0, name: name, joins: joins) }
    }

    /// Gives the device token back. The answer comes once, on any thread, when the server has done it or it is known
    /// that it has not; `nil` when it cannot be asked for.
    package func endToken(answer: @escaping @Sendable (ChannelAnswer?) -> Void) {
        let request = nextRequest()
        answers.channelAnswers[request] = answer
        handle(.tokenEndAsked(request: request))
    }

    private func askChannel(
        _ answer: @escaping @Sendable (ChannelAnswer?) -> Void, _ command: (Int64) -> ChannelCommand
    ) {
        let request = nextRequest()
        let command = command(request)
        let size = (try? AgentFrame.encode(AppMessage.channel(command)))?.count
        guard let size else {
            return answer(
                .refused(code: ChannelFault.tooBig, message: "it does not fit into a message to the agent"))
        }
        answers.channelAnswers[request] = answer
        handle(.channelAsked(request: request, command, size: size))
    }

}

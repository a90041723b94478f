import AgentProtocol

/// The state of the direct channel in an app's session.
struct ChannelSession: Sendable {
    /// Whether the app wants data messages now.
    var isWanted = false
    /// Whether the channel is open as far as the server.
    var isConnected = false
    /// Data messages that are queued for the app.
    var messages = HandoverLedger<DeliveredNotification, Void>()
    /// Outcomes of messages that are being reported to the app, on this connection.
    var endsBeingTold: Set<Int64> = []
    /// Ends of messages that the app knows of; the newest of them.
    var takenEnds: [Int64] = []
}

/// The outcome of a message that the app sent to its provider.
package struct UpstreamEnd: Hashable, Sendable {
    /// The agent's number for it, by which it is confirmed.
    package var number: Int64
    /// The app's name for the message.
    package var id: String
    /// Why it failed, a code of ``ChannelFault`` or the server's; `nil` where the server has it.
    package var code: String?

    /// Creates an outcome from an `ended` message.
    package init(number: Int64, id: String, code: String?) {
        self.number = number
        self.id = id
        self.code = code
    }
}

/// The answer to a request of the direct channel.
package enum ChannelAnswer: Hashable, Sendable {
    /// It is stored, or done where only the server can do it.
    case accepted
    /// It is refused: a stable code, and a sentence.
    case refused(code: String, message: String)
}

// The direct channel: which is open while the app wants it and there is a connection.

extension AppSession {
    /// The number of reported outcomes that are remembered, should the agent send them again.
    private static let rememberedEnds = 1_000

    mutating func wantChannel(_ isWanted: Bool, _ now: Duration) {
        guard channel.isWanted != isWanted else { return }
        channel.isWanted = isWanted
        if case .finished = launch { send(.channel(isWanted ? .open : .close)) }
        if !isWanted { channelIs(connected: false) }
        pumpData()
    }

    /// Opens the channel on a new connection, after the app was reported as ready.
    mutating func reopenChannel() { if channel.isWanted { send(.channel(.open)) } }

    mutating func channelIs(connected: Bool) {
        let isConnected = connected && channel.isWanted
        guard channel.isConnected != isConnected else { return }
        channel.isConnected = isConnected
        directives.append(.tellChannel(isConnected: isConnected))
    }

    mutating func received(_ event: ChannelEvent) {
        switch event {
        case .state(let isConnected): channelIs(connected: isConnected)
        case .message(let notification):
            switch channel.messages.arrive(notification.id, notification) {
            case .new: pumpData()
            case .pending: break
            case .answered: send(.channel(.taken(message: notification.id)))
            }
        case .takenConfirmed(let messages): channel.messages.confirm(messages)
        case .accepted(let request):
            if answered(request) { directives.append(.answerChannel(request: request, .accepted)) }
        case .refused(let request, let code, let message):
            if code == ChannelFault.offline, isEnd(request) { endIsDelayed(request) }
            if answered(request) {
                directives.append(.answerChannel(request: request, .refused(code: code, message: message)))
            }
        case .ended(let number, let id, let code):
            guard !channel.takenEnds.contains(number) else { return send(.channel(.endTaken(upstream: number))) }
            guard channel.endsBeingTold.insert(number).inserted else { break }
            directives.append(.tellEnd(UpstreamEnd(number: number, id: id, code: code)))
        }
    }

    /// Passes queued data messages to the app, one at a time, while it wants them.
    mutating func pumpData() {
        guard case .finished = launch, channel.isWanted else { return }
        while channel.messages.inProgress.count < Self.inProgressLimit, let (_, message) = channel.messages.begin() {
            directives.append(.handData(message))
        }
    }

    mutating func dataHandled(_ id: Int64) {
        guard channel.messages.answer(id, ()) else { return }
        send(.channel(.taken(message: id)))
        pumpData()
    }

    mutating func endTaken(_ number: Int64) {
        channel.endsBeingTold.remove(number)
        if !channel.takenEnds.contains(number) { channel.takenEnds.append(number) }
        if channel.takenEnds.count > Self.rememberedEnds { channel.takenEnds.removeFirst() }
        send(.channel(.endTaken(upstream: number)))
    }
}

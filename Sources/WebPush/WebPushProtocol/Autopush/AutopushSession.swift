import PushCore

/// The server's side of one Autopush connection as a value: messages in, directives out.
///
/// Times are milliseconds of uptime. Only one request that needs the server's register is under way at a time; later
/// messages wait, and the connection is not read meanwhile (``wantsRead``).
package struct AutopushSession: Sendable {
    /// Times and limits.
    package struct Configuration: Sendable {
        /// The time for the first message.
        package var helloTimeout: Int64 = 10_000
        /// The time without a message after which the server asks whether the client is there.
        package var pingInterval: Int64 = 300_000
        /// The time for the answer to that.
        package var pongTimeout: Int64 = 10_000
        /// The maximum number of messages that are sent and not acknowledged.
        package var windowLimit = 100

        /// Creates the standard configuration.
        package init() {}
    }

    /// An action for the caller to carry out, in order.
    package enum Directive: Hashable, Sendable {
        /// Sends a message to the client.
        case send(AutopushReply)
        /// Asks whether the client is there: a ping of the WebSocket.
        case ping
        /// Opens the client's session; then calls ``openingAnswered(_:at:)``. `nil` for a new client.
        case open(PushClientID?)
        /// Makes a subscription; then calls ``registrationAnswered(_:at:)``.
        case register(PushChannelID, key: String?)
        /// Ends a subscription; then calls ``unregistrationAnswered(_:at:)``.
        case unregister(PushChannelID)
        /// The client is served: messages may be sent.
        case began
        /// The client has these messages, which were to wait for it.
        case acknowledged([NotificationID])
        /// The client has these messages, which were attempted once.
        case attemptsAcknowledged([NotificationID])
        /// The client reports what became of messages.
        case report([Receipt])
        /// Closes the connection.
        case close(Reason)
    }

    /// A client's report of a message.
    package struct Receipt: Hashable, Sendable {
        /// The message.
        package var id: NotificationID
        /// The outcome.
        package var outcome: Outcome

        /// Takes the parts.
        package init(id: NotificationID, outcome: Outcome) {
            self.id = id
            self.outcome = outcome
        }
    }

    /// The outcome of a message at the client.
    package enum Outcome: Hashable, Sendable {
        /// The page's service worker was given the message (code 100).
        case delivered
        /// The client could not decrypt the message (101).
        case notDecrypted
        /// The client had no page to give the message to (102).
        case notDelivered
        /// The page's service worker failed (301 to 303), with the code.
        case workerFailed(Int64)
    }

    /// Why a connection ends.
    package enum Reason: Hashable, Sendable {
        /// A message was not as it must be; a sentence about it.
        case violation(String)
        /// No `hello` in time, or no answer to a ping.
        case timeout
        /// A newer connection of the same client has taken its place.
        case superseded
        /// The device was revoked or blocked.
        case revoked
        /// The server stops.
        case stopping
        /// The server's store does not answer.
        case unavailable
        /// The client closed the connection.
        case closedByClient

        /// The status code of the WebSocket (RFC 6455, section 7.4) and the text beside it.
        package var closing: (code: UInt16, text: String) {
            switch self {
            case .violation(let text): (1008, text)
            case .timeout: (1001, "timeout")
            case .superseded: (1000, "a newer connection of this client is open")
            case .revoked: (1008, "the client is not served any more")
            case .stopping: (1001, "the server stops; connect again")
            case .unavailable: (1013, "try again later")
            case .closedByClient: (1000, "")
            }
        }
    }

    /// The result of ``Directive/open(_:)``.
    package enum Opening: Hashable, Sendable {
        /// The client is served under this id.
        case opened(PushClientID)
        /// The id is new, and not stored until the client's first subscription.
        case drawn(PushClientID)
        /// The client is not served; a sentence says why.
        case refused(String)
        /// The server could not decide.
        case unavailable
    }

    /// The result of ``Directive/register(_:key:)``.
    package enum Registration: Hashable, Sendable {
        /// The subscription is stored, with this address. A client whose id was new is served from now on.
        case registered(PushChannelID, address: String)
        /// The subscription is refused, with a status and a sentence.
        case refused(PushChannelID, status: Int, reason: String)
        /// The store does not answer.
        case unavailable
    }

    private enum State: Hashable {
        case awaitingHello
        case opening
        /// The client has an id that is not stored: nothing can be sent to it.
        case unenrolled
        case live
        case closed
    }

    private let configuration: Configuration
    private var state = State.awaitingHello
    private var isBusy = false
    private var waiting: [AutopushRequest] = []
    /// The messages that were sent and not acknowledged; `true` for those that were attempted once.
    private var unacknowledged: [NotificationID: Bool] = [:]
    /// The last messages that were acknowledged, whose service workers may still fail; at most as many as the window has.
    private var delivered: [NotificationID] = []
    /// The messages that are not acknowledged, and whose service workers have failed.
    private var failed: Set<NotificationID> = []
    private var lastMessage: Int64
    private var pingSentAt: Int64?

    /// Begins a session when the connection was opened.
    package init(configuration: Configuration = Configuration(), at uptime: Int64) {
        self.configuration = configuration
        lastMessage = uptime
    }

    /// Whether messages can be sent.
    package var isLive: Bool { state == .live }
    /// Whether the session has ended.
    package var isClosed: Bool { state == .closed }
    /// Whether to read more from the client.
    package var wantsRead: Bool { waiting.isEmpty }
    /// The number of messages that may be sent now.
    package var capacity: Int { max(0, configuration.windowLimit - unacknowledged.count) }
    /// The messages that were attempted once, and not acknowledged.
    package var unacknowledgedAttempts: [NotificationID] { unacknowledged.filter(\.value).map(\.key) }

    /// The uptime at which ``tick(at:)`` must be called; `nil` for never.
    package var deadline: Int64? {
        switch state {
        case .closed: nil
        case .awaitingHello: lastMessage + configuration.helloTimeout
        case .opening, .unenrolled, .live:
            pingSentAt.map { $0 + configuration.pongTimeout } ?? lastMessage + configuration.pingInterval
        }
    }

    /// Handles the arrival of the deadline.
    package mutating func tick(at uptime: Int64) -> [Directive] {
        guard let deadline, uptime >= deadline else { return [] }
        if state == .awaitingHello || pingSentAt != nil { return end(.timeout) }
        pingSentAt = uptime
        return [.ping]
    }

    /// Handles a sign of life that is no message, such as the answer to a ping.
    package mutating func receivedFrame(at uptime: Int64) {
        guard state != .awaitingHello else { return }
        lastMessage = uptime
        pingSentAt = nil
    }

    /// Handles a message.
    package mutating func received(_ text: [UInt8], at uptime: Int64) -> [Directive] {
        guard state != .closed else { return [] }
        receivedFrame(at: uptime)
        let request: AutopushRequest
        do throws(AutopushRequest.Fault) { request = try AutopushRequest(text) } catch {
            return end(.violation(error.reason))
        }
        guard !isBusy else {
            waiting.append(request)
            return []
        }
        return handle(request, at: uptime)
    }

    private mutating func handle(_ request: AutopushRequest, at uptime: Int64) -> [Directive] {
        switch (request, state) {
        case (_, .closed): return []
        case (.hello(let id), .awaitingHello):
            state = .opening
            isBusy = true
            lastMessage = uptime
            return [.open(id)]
        case (_, .awaitingHello): return end(.violation("the first message must be hello"))
        case (.hello, _): return end(.violation("hello was sent before"))
        case (.register(let channel, let key), _):
            guard let id = PushChannelID(text: channel) else {
                return [
                    .send(
                        .registerRefused(
                            channel: channel, status: 401, reason: "channelID must be a UUID in lower case with hyphens"
                        ))
                ]
            }
            isBusy = true
            return [.register(id, key: key)]
        case (.unregister(let channel), _):
            // A client that was never served has no subscription; the protocol has the same answer.
            guard let id = PushChannelID(text: channel), state == .live else {
                return [.send(.unregistered(channel: channel, status: 200))]
            }
            isBusy = true
            return [.unregister(id)]
        case (.acknowledge(let updates), _): return acknowledge(updates)
        case (.reject(let version, let code), _):
            guard let id = NotificationID(text: version), isFirstFailure(of: id) else { return [] }
            return [.report([Receipt(id: id, outcome: .workerFailed(code))])]
        case (.subscribeBroadcasts, _): return [.send(.broadcast)]
        case (.ping, _): return [.send(.ping)]
        }
    }

    private mutating func acknowledge(_ updates: [AutopushRequest.Update]) -> [Directive] {
        guard state == .live else { return [] }
        var stored: [NotificationID] = []
        var attempts: [NotificationID] = []
        var receipts: [Receipt] = []
        for update in updates {
            guard let id = NotificationID(text: update.version) else { continue }
            guard let isAttempt = unacknowledged.removeValue(forKey: id) else {
                // The client may have read it on an earlier connection. What it says of it again is not reported again.
                stored.append(id)
                continue
            }
            if isAttempt { attempts.append(id) } else { stored.append(id) }
            let outcome: Outcome =
                switch update.code {
                case 101: .notDecrypted
                case 102: .notDelivered
                default: .delivered
                }
            receipts.append(Receipt(id: id, outcome: outcome))
            if failed.remove(id) == nil, outcome == .delivered { delivered.append(id) }
        }
        delivered.removeFirst(max(0, delivered.count - configuration.windowLimit))
        var directives: [Directive] = []
        if !stored.isEmpty { directives.append(.acknowledged(stored)) }
        if !attempts.isEmpty { directives.append(.attemptsAcknowledged(attempts)) }
        if !receipts.isEmpty { directives.append(.report(receipts)) }
        return directives
    }

    /// Whether the client may say, and has not said before, that the service worker of a message has failed.
    private mutating func isFirstFailure(of id: NotificationID) -> Bool {
        if unacknowledged[id] != nil { return failed.insert(id).inserted }
        guard let place = delivered.firstIndex(of: id) else { return false }
        delivered.remove(at: place)
        return true
    }

    // MARK: Answers

    /// Handles the result of ``Directive/open(_:)``.
    package mutating func openingAnswered(_ opening: Opening, at uptime: Int64) -> [Directive] {
        guard state == .opening else { return [] }
        switch opening {
        case .opened(let id):
            state = .live
            return [.send(.hello(id)), .began] + next(at: uptime)
        case .drawn(let id):
            state = .unenrolled
            return [.send(.hello(id))] + next(at: uptime)
        case .refused(let reason):
            return [.send(.helloRefused(status: 401, reason: reason))] + end(.revoked)
        case .unavailable: return end(.unavailable)
        }
    }

    /// Handles the result of ``Directive/register(_:key:)``.
    package mutating func registrationAnswered(_ registration: Registration, at uptime: Int64) -> [Directive] {
        guard state != .closed else { return [] }
        switch registration {
        case .registered(let channel, let address):
            let isFirst = state == .unenrolled
            if isFirst { state = .live }
            return [.send(.registered(channel: channel, address: address))] + (isFirst ? [.began] : [])
                + next(at: uptime)
        case .refused(let channel, let status, let reason):
            return [.send(.registerRefused(channel: channel.description, status: status, reason: reason))]
                + next(at: uptime)
        case .unavailable: return end(.unavailable)
        }
    }

    /// Handles the result of ``Directive/unregister(_:)``; `nil` where the store does not answer.
    package mutating func unregistrationAnswered(_ channel: PushChannelID?, at uptime: Int64) -> [Directive] {
        guard state != .closed else { return [] }
        guard let channel else { return end(.unavailable) }
        return [.send(.unregistered(channel: channel.description, status: 200))] + next(at: uptime)
    }

    /// Handles the messages that waited, until one needs the register.
    private mutating func next(at uptime: Int64) -> [Directive] {
        isBusy = false
        var directives: [Directive] = []
        var handled = 0
        while !isBusy, handled < waiting.count {
            directives += handle(waiting[handled], at: uptime)
            handled += 1
        }
        waiting.removeFirst(min(handled, waiting.count))
        return directives
    }

    // MARK: Sending

    /// Sends messages; the caller has seen to it that there are not more than ``capacity``.
    ///
    /// - Parameter now: The time from which the time to live of a message is counted.
    package mutating func send(_ messages: [(OutgoingNotification, ChannelMessage)], now: Timestamp) -> [Directive] {
        guard state == .live else { return [] }
        return messages.map { notification, message in
            unacknowledged[notification.id] = notification.expiresAt == nil
            let left = notification.expiresAt.map { max(0, $0.milliseconds(since: now) / 1000) } ?? 0
            return .send(.notification(message, version: notification.id.description, ttl: left))
        }
    }

    /// Ends the session.
    package mutating func end(_ reason: Reason) -> [Directive] {
        guard state != .closed else { return [] }
        state = .closed
        waiting = []
        return [.close(reason)]
    }
}

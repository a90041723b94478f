import PushCore

/// The server's side of one Autopush connection as a value: messages in, directives out.
///
/// Times are milliseconds of uptime. Only one request that needs the server's register is under way at a time. Later messages
/// wait, and once one waits the connection is not read (``wantsRead``); nor is it while many acknowledgements wait for the store.
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
        /// The number of acknowledgements that wait for the store at which nothing more is read.
        package var recordLimit = 64
        /// The maximum number of messages that a session acknowledges and was not sent; some are of an earlier connection.
        package var foreignLimit = 4_096

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
        /// The client has these messages, which were to wait for it; once that is recorded, ``acknowledgementRecorded()`` is called.
        case acknowledged([NotificationID])
        /// The client has these messages, which were attempted once.
        case attemptsAcknowledged([NotificationID])
        /// The client reports what became of messages.
        case report([Receipt])
        /// Closes the connection.
        case close(Reason)
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
    /// The number of acknowledgements that wait for the store.
    private var pendingRecords = 0
    /// The number of messages that were acknowledged and not sent.
    private var foreignCount = 0
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
    package var wantsRead: Bool { waiting.isEmpty && pendingRecords < configuration.recordLimit }
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
                foreignCount += 1
                stored.append(id)
                continue
            }
            if isAttempt { attempts.append(id) } else { stored.append(id) }
            if let outcome = outcome(of: id, code: update.code) { receipts.append(Receipt(id: id, outcome: outcome)) }
        }
        guard foreignCount <= configuration.foreignLimit else {
            return end(.violation("too many messages were acknowledged that were not sent"))
        }
        delivered.removeFirst(max(0, delivered.count - configuration.windowLimit))
        var directives: [Directive] = []
        if !stored.isEmpty {
            pendingRecords += 1
            directives.append(.acknowledged(stored))
        }
        if !attempts.isEmpty { directives.append(.attemptsAcknowledged(attempts)) }
        if !receipts.isEmpty { directives.append(.report(receipts)) }
        return directives
    }

    /// The outcome that an acknowledgement reports; `nil` where the client has reported before that the service worker failed.
    private mutating func outcome(of id: NotificationID, code: Int64) -> Outcome? {
        let hasFailed = failed.remove(id) != nil
        switch code {
        case 101: return .notDecrypted
        case 102: return .notDelivered
        default:
            guard !hasFailed else { return nil }
            delivered.append(id)
            return .delivered
        }
    }

    /// Handles the end of ``Directive/acknowledged(_:)``.
    package mutating func acknowledgementRecorded() { pendingRecords -= 1 }

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

import DeviceChannel
import Logging
import NIOCore
import NIOHTTP1
import Networking
import PushCore
import WebPushProtocol

/// Executes the directives of a browser's session and its delivery flow, on its event loop.
final class AutopushConnection {
    /// How the browser has connected.
    struct Origin {
        /// The host that it named, with a port or without; empty for none.
        var host: String
        /// The enrolment key of the address, `?key=KEY`.
        @Secret var key: String?
        /// Whether the connection is over TLS.
        var isSecured: Bool

        init(_ head: HTTPRequestHead, isSecured: Bool) {
            let named = head.headers.first(name: "host") ?? ""
            let isHost = named.utf8.count <= 255 && named.utf8.allSatisfy(Self.isOfHost)
            host = isHost ? named : ""
            self.isSecured = isSecured
            _key = Secret(wrappedValue: Self.key(in: head.uri))
        }

        private static func isOfHost(_ byte: UInt8) -> Bool {
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"),
                UInt8(ascii: "["), UInt8(ascii: "]"):
                true
            default: false
            }
        }

        private static func key(in uri: String) -> String? {
            guard let query = uri.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
            let pair = query.split(separator: "&").first { $0.hasPrefix("key=") }
            return pair.flatMap { String($0.dropFirst(4)).removingPercentEncoding }
        }
    }

    let services: BrowserServices
    let context: DeviceConnectionContext
    let origin: Origin
    let port: AutopushPort
    var session: AutopushSession
    var flow: DeliveryFlow
    var sessionID: DeviceSessionID?
    var credentials: DeviceCredentials?
    /// The subscriptions of the browser.
    var channels: Set<PushChannelID> = []
    var channel: AutopushChannelHandler?
    private var isFinished = false

    init(_ services: BrowserServices, _ context: DeviceConnectionContext, origin: Origin, port: AutopushPort) {
        self.services = services
        self.context = context
        self.origin = origin
        self.port = port
        session = AutopushSession(configuration: services.session, at: SessionTime.now().uptime)
        flow = DeliveryFlow(capacity: services.session.windowLimit)
    }

    // MARK: Calls from the gateway, through the port

    func deliver(_ notifications: [OutgoingNotification]) {
        guard sessionID != nil else { return }
        perform(flow.deliver(notifications))
        channel?.settle()
    }

    func waitingChanged() {
        perform(flow.waitingChanged())
        channel?.settle()
    }

    func end(_ reason: AutopushSession.Reason) {
        perform(session.end(reason))
        channel?.settle()
    }

    // MARK: Calls from the channel

    var wantsRead: Bool { session.wantsRead }
    var deadline: Int64? { session.deadline }

    func opened(_ channel: AutopushChannelHandler) { self.channel = channel }

    func received(_ text: [UInt8]) { perform(session.received(text, at: SessionTime.now().uptime)) }

    func receivedFrame() { session.receivedFrame(at: SessionTime.now().uptime) }

    func writabilityChanged(_ isWritable: Bool) {
        perform(flow.writabilityChanged(isWritable))
    }

    func tick() { perform(session.tick(at: SessionTime.now().uptime)) }

    func closed() {
        channel = nil
        if !session.isClosed { context.metrics.close(.peer) }
        finish()
        // The connection is closed already: nothing of the directive is left to do.
        _ = session.end(.closedByClient)
        context.registry.remove(port)
    }

    func connectionBroke(_ error: any Error) {
        context.logger.debug("a browser's connection broke", metadata: [LogKey.error: "\(error)"])
    }
}

// MARK: - Directives

extension AutopushConnection {
    func perform(_ directives: [AutopushSession.Directive]) {
        for directive in directives { perform(directive) }
    }

    private func perform(_ directives: [DeliveryFlow.Directive]) {
        for directive in directives { perform(directive) }
    }

    private func perform(_ directive: AutopushSession.Directive) {
        switch directive {
        case .send(let reply): channel?.send(reply.text)
        case .ping: channel?.ping()
        case .open(let id): open(id)
        case .register(let id, let key): register(id, key: key)
        case .unregister(let id): unregister(id)
        case .began: perform(flow.start())
        case .acknowledged(let ids):
            guard let sessionID else { return }
            context.metrics.acknowledged.increment(by: ids.count)
            context.gateway.acknowledged(sessionID, ids) { [port] isDurable in
                port.onLoop { $0.acknowledgementRecorded(isDurable) }
            }
            perform(flow.capacityChanged(session.capacity))
        case .attemptsAcknowledged(let ids):
            context.metrics.acknowledged.increment(by: ids.count)
            context.gateway.attempts(ids, became: .acknowledged)
            perform(flow.capacityChanged(session.capacity))
        case .report(let receipts): report(receipts)
        case .close(let reason):
            context.metrics.close(MCSServerCloseReason(reason))
            if case .violation(let text) = reason {
                context.logger.debug("a browser's connection is closed", metadata: [LogKey.error: "\(text)"])
            }
            let (code, text) = reason.closing
            channel?.close(code: code, text: text)
            finish()
        }
    }

    private func perform(_ directive: DeliveryFlow.Directive) {
        guard let sessionID else { return }
        switch directive {
        case .page(let after, let limit):
            context.gateway.page(sessionID, after: after, limit: limit) { [port] page in
                port.onLoop { $0.pageRead(page) }
            }
        case .write(let notifications): write(notifications, sessionID)
        case .notSent(let ids):
            context.metrics.notSent.increment(by: ids.count)
            context.gateway.attempts(ids, became: .notSent)
        case .fail: perform(session.end(.unavailable))
        }
    }

    private func pageRead(_ page: Result<[OutgoingNotification], any Error>) {
        switch page {
        case .success(let notifications): perform(flow.pageRead(notifications))
        case .failure(let error):
            Self.unreadMailbox.log(error, to: context.logger)
            perform(flow.pageFailed())
        }
        channel?.settle()
    }

    private static let unreadMailbox = RepeatedMessage("a browser's mailbox could not be read", level: .warning)

    private func acknowledgementRecorded(_ isDurable: Bool) {
        guard isDurable else { return end(.unavailable) }
        session.acknowledgementRecorded()
        channel?.settle()
    }

    /// Sends messages of the browser's subscriptions. Notices, which the protocol has no message for, end here, and so do
    /// messages of subscriptions that have ended.
    private func write(_ notifications: [OutgoingNotification], _ id: DeviceSessionID) {
        var messages: [(OutgoingNotification, ChannelMessage)] = []
        var notices: [NotificationID] = []
        for notification in notifications {
            if notification.notice != nil {
                notices.append(notification.id)
            } else if let message = ChannelMessage(bytes: notification.payload), channels.contains(message.channel) {
                messages.append((notification, message))
            } else if notification.expiresAt == nil {
                context.gateway.attempts([notification.id], became: .notSent)
            } else {
                withdraw(notification)
            }
        }
        // A notice that could not be deleted comes again with the next session.
        if !notices.isEmpty { context.gateway.acknowledged(id, notices) { _ in } }
        perform(session.send(messages, now: SessionTime.now().wall))
        context.metrics.sent.increment(by: messages.count)
        let stored = messages.filter { $0.0.expiresAt != nil }.map(\.0.id)
        let attempts = messages.filter { $0.0.expiresAt == nil }.map(\.0.id)
        if !stored.isEmpty { context.gateway.sent(id, stored) }
        if !attempts.isEmpty { context.gateway.attempts(attempts, became: .sent) }
        if messages.count < notifications.count { perform(flow.capacityChanged(session.capacity)) }
    }

    private func report(_ receipts: [AutopushSession.Receipt]) {
        guard let sessionID else { return }
        let now = SessionTime.now().wall
        context.metrics.receipts.increment(by: receipts.count)
        let entries = receipts.map { Receipt(id: $0.id, entry: $0.outcome.entry(at: now)) }
        context.gateway.record(entries, of: sessionID) { [logger = context.logger] outcome in
            // A browser does not report again: the timeline then ends with the acknowledgement.
            if outcome == .failed { logger.warning("a browser's report of a message could not be recorded") }
        }
    }

    /// Returns the held messages and releases the gateway; once.
    private func finish() {
        guard !isFinished else { return }
        isFinished = true
        let last = flow.closed()
        port.detach(hasSession: sessionID != nil)
        guard let sessionID else { return }
        for case .notSent(let ids) in last { context.gateway.attempts(ids, became: .notSent) }
        let attempts = session.unacknowledgedAttempts
        if !attempts.isEmpty { context.gateway.attempts(attempts, became: .unacknowledged) }
        self.sessionID = nil
        context.sessions?.closed(sessionID)
        context.gateway.close(sessionID)
    }
}

extension AutopushSession.Outcome {
    /// The line of a message's timeline.
    fileprivate func entry(at now: Timestamp) -> TimelineEntry {
        switch self {
        case .delivered:
            TimelineEntry(
                at: now, state: .presented, source: .agent,
                note: "the browser gave it to the page's service worker, which shows it")
        case .notDecrypted:
            TimelineEntry(
                at: now, state: .undecryptable("browser"), source: .agent,
                note: "the browser could not decrypt it with the subscription's keys")
        case .notDelivered:
            TimelineEntry(
                at: now, state: .failed("NotDelivered"), source: .agent,
                note: "the browser has no page for the subscription")
        case .workerFailed(let code):
            TimelineEntry(
                at: now, state: .failed("ServiceWorker"), source: .agent,
                note: "the page's service worker failed, code \(code)")
        }
    }
}

extension MCSServerCloseReason {
    fileprivate init(_ reason: AutopushSession.Reason) {
        self =
            switch reason {
            case .violation: .protocolViolation
            case .timeout: .silent
            case .superseded: .superseded
            case .revoked: .revoked
            case .stopping: .stopping
            case .unavailable: .storeFailed
            case .closedByClient: .peer
            }
    }
}

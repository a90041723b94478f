import ConnectionAdmission
import DeviceSession
import Logging
import MCSTransport
import MCSWire
import NIOCore
import Observability
import PushModel
import ServerCore

/// What all connections of an endpoint share.
struct DeviceConnectionSurroundings: Sendable {
    let gateway: any DeviceGateway
    let upstream: UpstreamRegistry
    let refusals: UpstreamRefusalReport
    let configuration: MCSServerConfiguration
    let registry: DeviceConnectionRegistry
    let limiter: ConnectionLimiter
    let calls: DeviceCallQueues
    let metrics: DeviceEndpointMetrics
    let logger: Logger
}

/// Does what a connection's session and its delivery flow direct, on its event loop.
final class DeviceConnectionShell: MCSChannelPeer {
    private enum Step {
        case session(MCSServerDirective)
        case flow(DeliveryFlow.Directive)
    }

    private let surroundings: DeviceConnectionSurroundings
    private let port: DeviceConnectionPort
    private var session: MCSServerSession
    private var flow: DeliveryFlow
    private var sessionID: DeviceSessionID?
    private var channel: MCSChannelHandler<DeviceConnectionShell>?
    /// Steps still to be taken. One step may bring others, which come after those that were due before, so that
    /// packets leave in the order in which the session counted them.
    private var steps: [Step] = []
    private var isPerforming = false
    private var isFinished = false
    /// How many items came upstream, since the login, of notifications that are unknown or another device's.
    private var foreignItems = 0
    /// A session that sends more of them is ended. Some are to be expected: retention may have deleted notifications
    /// of a device that was away.
    private static let foreignItemLimit = 4096
    /// In bytes: room for a login that names as many ids as ``MCSClientConfiguration/loginIDLimit`` allows. A device
    /// that is not known yet gets no more.
    private static let maximumSizeBeforeLogin = 16 * 1024

    init(_ surroundings: DeviceConnectionSurroundings, port: DeviceConnectionPort) {
        self.surroundings = surroundings
        self.port = port
        session = MCSServerSession(configuration: surroundings.configuration, at: .now())
        flow = DeliveryFlow(room: surroundings.configuration.windowLimit)
    }

    // MARK: From the gateway, by way of the port

    func deliver(_ notifications: [OutgoingNotification]) {
        guard let sessionID else { return }
        if notifications.count == 1, !isPerforming, let channel, flow.takesAtOnce(notifications[0]) {
            if let lastStreamID = session.count(notifications[0]) {
                channel.send(notifications[0], lastStreamID: lastStreamID, now: SessionTime.now().wall)
                surroundings.metrics.sent.increment()
                noteSent(notifications, sessionID)
                return channel.settle()
            }
            // The stream ids are used up: the session ends with the attempt.
            perform(session.send(notifications, at: .now()))
        } else {
            perform(flow.deliver(notifications))
        }
        channel?.settle()
    }

    func end(_ reason: MCSServerCloseReason) {
        perform(session.end(reason))
        channel?.settle()
    }

    func loginAnswered(_ verdict: DeviceLoginVerdict) {
        if case .welcome(let id) = verdict {
            sessionID = id
            if let channel = channel?.channel { surroundings.limiter.proven(channel) }
        }
        let answer = MCSLoginAnswer(verdict)
        surroundings.metrics.login(answer)
        perform(session.loginAnswered(answer, at: .now()))
        channel?.settle()
    }

    private func pageRead(_ page: Result<[OutgoingNotification], any Error>) {
        switch page {
        case .success(let notifications): perform(flow.pageRead(notifications))
        case .failure(let error):
            surroundings.logger.warning("a mailbox could not be read", metadata: [LogKey.error: "\(error)"])
            perform(flow.pageFailed())
        }
        channel?.settle()
    }

    private func upstreamTaken(_ outcome: UpstreamOutcome, stream: Int32, persistentID: String) {
        switch outcome {
        case .durable(let ignored):
            foreignItems += ignored
            guard foreignItems <= Self.foreignItemLimit else { return end(.protocolViolation) }
            recorded(stream: stream, durable: true)
        case .refused(let refusal):
            surroundings.metrics.upstreamRefused.increment()
            if let sessionID {
                surroundings.refusals.refused(refusal, of: sessionID.device, at: SessionTime.now().uptime)
            }
            perform(session.refused(stream: stream, persistentID: persistentID, refusal))
            channel?.settle()
        case .violation(let text):
            perform(session.end(.protocolViolation, error: text))
            channel?.settle()
        case .failed: recorded(stream: stream, durable: false)
        }
    }

    private func recorded(stream: Int32, durable: Bool) {
        perform(session.recorded(stream: stream, durable: durable, at: .now()))
        channel?.settle()
    }

    // MARK: From the channel

    /// A device that does not read its answers is not read from, so that the answers cannot pile up.
    var wantsRead: Bool { session.wantsRead && channel?.isWritable ?? true }
    var maximumSize: Int { session.isLive ? MCSFrame.defaultMaximumSize : Self.maximumSizeBeforeLogin }
    var deadline: Int64? { session.deadline }

    func opened(_ channel: MCSChannelHandler<DeviceConnectionShell>) {
        guard !session.isClosed else { return channel.close() }
        self.channel = channel
    }

    func received(version: UInt8) {
        perform(session.received(version: version))
    }

    func received(_ packet: MCSPacket) {
        perform(session.received(packet, at: .now()))
    }

    func readCompleted() {
        perform(session.readCompleted())
    }

    func writabilityChanged(_ isWritable: Bool) {
        guard sessionID != nil else { return }
        perform(flow.writabilityChanged(isWritable))
    }

    func tick() {
        perform(session.tick(at: .now()))
    }

    func malformed(_ error: MCSFrameError) {
        surroundings.logger.debug("malformed packet from a device", metadata: metadata(error))
        perform(session.end(.malformed))
    }

    func closed(_ error: (any Error)?) {
        if let error {
            surroundings.logger.debug("a device's connection broke", metadata: metadata(error))
        }
        channel = nil
        if !session.isClosed { surroundings.metrics.close(.peer) }
        finish()
        session.connectionClosed()
        surroundings.registry.remove(port)
    }

    private func metadata(_ error: any Error) -> Logger.Metadata {
        var metadata: Logger.Metadata = [LogKey.error: "\(error)"]
        if let sessionID { metadata[LogKey.device] = "\(sessionID.device)" }
        if let address = channel?.remoteAddress { metadata[LogKey.address] = "\(address)" }
        return metadata
    }
}

// MARK: - Steps

extension DeviceConnectionShell {
    private func perform(_ directives: [MCSServerDirective]) {
        guard !directives.isEmpty else { return }
        guard !isPerforming else { return steps.append(contentsOf: directives.lazy.map(Step.session)) }
        isPerforming = true
        for directive in directives { perform(directive) }
        performSteps()
    }

    private func perform(_ directives: [DeliveryFlow.Directive]) {
        guard !directives.isEmpty else { return }
        guard !isPerforming else { return steps.append(contentsOf: directives.lazy.map(Step.flow)) }
        isPerforming = true
        for directive in directives { perform(directive) }
        performSteps()
    }

    /// Takes the steps that others brought, until there are none.
    private func performSteps() {
        var next = 0
        while next < steps.count {
            let step = steps[next]
            next += 1
            switch step {
            case .session(let directive): perform(directive)
            case .flow(let directive): perform(directive)
            }
        }
        steps.removeAll(keepingCapacity: steps.count < 16)
        isPerforming = false
    }

    private func perform(_ directive: MCSServerDirective) {
        switch directive {
        case .sendVersion(let version): channel?.send(version: version)
        case .send(let packet): channel?.send(packet)
        case .deliver(let notification, let lastStreamID, let now):
            channel?.send(notification, lastStreamID: lastStreamID, now: now)
        case .authenticate(let login): authenticate(login)
        case .began: perform(flow.start())
        case .acknowledged(let stream, let ids): acknowledged(ids, stream: stream)
        case .attemptsAcknowledged(let ids): attemptsAcknowledged(ids)
        case .upstream(let stream, let message): receive(message, stream: stream)
        case .close(let reason):
            surroundings.metrics.close(reason)
            channel?.close()
            finish()
        }
    }

    private func perform(_ directive: DeliveryFlow.Directive) {
        guard let sessionID else { return }
        switch directive {
        case .page(let after, let limit):
            surroundings.gateway.page(sessionID, after: after, limit: limit) { [port] page in
                port.onLoop { $0.pageRead(page) }
            }
        case .write(let notifications):
            perform(session.send(notifications, at: .now()))
            surroundings.metrics.sent.increment(by: notifications.count)
            noteSent(notifications, sessionID)
        case .notSent(let ids):
            surroundings.metrics.notSent.increment(by: ids.count)
            surroundings.gateway.attempts(ids, became: .notSent)
        case .fail: perform(session.end(.storeFailed))
        }
    }

    private func authenticate(_ login: MCSLogin) {
        let login = DeviceLogin(device: login.device, secret: login.secret, received: login.received)
        surroundings.gateway.open(login, connection: port) { [port] verdict in port.loginAnswered(verdict) }
    }

    private func noteSent(_ notifications: [OutgoingNotification], _ session: DeviceSessionID) {
        if notifications.count == 1 {
            let id = [notifications[0].id]
            return notifications[0].expiresAt == nil
                ? surroundings.gateway.attempts(id, became: .sent) : surroundings.gateway.sent(session, id)
        }
        let stored = notifications.lazy.filter { $0.expiresAt != nil }.map(\.id)
        let attempts = notifications.lazy.filter { $0.expiresAt == nil }.map(\.id)
        if !stored.isEmpty { surroundings.gateway.sent(session, Array(stored)) }
        if !attempts.isEmpty { surroundings.gateway.attempts(Array(attempts), became: .sent) }
    }

    private func attemptsAcknowledged(_ ids: [NotificationID]) {
        surroundings.metrics.acknowledged.increment(by: ids.count)
        surroundings.gateway.attempts(ids, became: .acknowledged)
        perform(flow.roomChanged(session.room))
    }

    private func acknowledged(_ ids: [NotificationID], stream: Int32) {
        guard let sessionID else { return }
        surroundings.metrics.acknowledged.increment(by: ids.count)
        surroundings.gateway.acknowledged(sessionID, ids) { [port] durable in
            port.onLoop { $0.recorded(stream: stream, durable: durable) }
        }
        perform(flow.roomChanged(session.room))
    }

    private func receive(_ message: UpstreamMessage, stream: Int32) {
        guard let sessionID else { return }
        let persistentID = message.persistentID
        surroundings.upstream.receiver(of: message.category).receive(message, of: sessionID) { [port] outcome in
            port.onLoop { $0.upstreamTaken(outcome, stream: stream, persistentID: persistentID) }
        }
    }

    /// Gives back what was held and lets the gateway go; once.
    private func finish() {
        guard !isFinished else { return }
        isFinished = true
        let last = flow.closed()
        port.detach(sessionID)
        guard let sessionID else { return }
        for case .notSent(let ids) in last { surroundings.gateway.attempts(ids, became: .notSent) }
        let attempts = session.unacknowledgedAttempts
        if !attempts.isEmpty { surroundings.gateway.attempts(attempts, became: .unacknowledged) }
        self.sessionID = nil
        surroundings.gateway.close(sessionID)
    }
}

extension MCSLoginAnswer {
    fileprivate init(_ verdict: DeviceLoginVerdict) {
        self =
            switch verdict {
            case .welcome: .welcome
            case .refused: .refused
            case .unavailable: .unavailable
            }
    }
}

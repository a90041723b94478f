import DeviceChannel
import FCMProtocol
import Logging
import NIOCore
import Networking
import PushCore

/// The state and services that all connections of an endpoint share.
final class DeviceConnectionContext: Sendable {
    let gateway: any DeviceGateway
    let upstream: UpstreamRegistry
    let web: any WebRegistrationSource
    let sessions: (any SessionListener)?
    let refusals: UpstreamRefusalLog
    let configuration: MCSServerConfiguration
    let registry: DeviceConnectionRegistry
    let limiter: ConnectionLimiter
    let calls: DeviceCallQueues
    let metrics: DeviceEndpointMetrics
    let logger: Logger
    let unconfirmedUpstream = UnconfirmedUpstreamNames()
    let pendingBytes = PendingBytesBudget()
    let logins: LoginGate

    init(
        gateway: any DeviceGateway, upstream: UpstreamRegistry,
        web: any WebRegistrationSource = NoWebRegistrations(), sessions: (any SessionListener)? = nil,
        refusals: UpstreamRefusalLog,
        configuration: MCSServerConfiguration, registry: DeviceConnectionRegistry, limiter: ConnectionLimiter,
        calls: DeviceCallQueues, logins: LoginRate = LoginRate(.init(perSecond: 1_000, burst: 10_000)),
        metrics: DeviceEndpointMetrics, logger: Logger
    ) {
        self.gateway = gateway
        self.upstream = upstream
        self.web = web
        self.sessions = sessions
        self.refusals = refusals
        self.configuration = configuration
        self.registry = registry
        self.limiter = limiter
        self.calls = calls
        self.logins = LoginGate(logins)
        self.metrics = metrics
        self.logger = logger
    }
}

/// Executes the directives of a connection's session and its delivery flow, on its event loop.
final class DeviceConnectionShell: MCSChannelDelegate {
    private enum Step {
        case session(MCSServerDirective)
        case flow(DeliveryFlow.Directive)
    }

    private let surroundings: DeviceConnectionContext
    private let port: DeviceConnectionPort
    private var session: MCSServerSession
    private var flow: DeliveryFlow
    private var sessionID: DeviceSessionID?
    private var channel: MCSChannelHandler<DeviceConnectionShell>?
    /// Steps still to be performed. A step may add others, which come after those that were due before, so that packets
    /// are written in the order in which the session counted them.
    private var steps: [Step] = []
    private var isPerforming = false
    private var isFinished = false
    /// The browser registrations of the device; an agent's device has none.
    private var web: [WebRegistrationKey: WebRegistration] = [:]
    /// The number of the reading of the registrations that is under way; nothing is written meanwhile.
    private var pendingWebLoad: Int?
    private var webLoads = 0
    /// The frames that other devices sent while the connection was choked.
    private var heldFrames: HeldFrames
    /// The number of upstream items since the login that refer to unknown notifications, or another device's.
    private var foreignItems = 0
    /// The maximum number of such items, beyond which the session is ended. Some are to be expected: retention may have
    /// deleted notifications of a device that was away.
    private static let foreignItemLimit = 4096
    /// The frame size in bytes that suffices for a login with as many ids as ``MCSClientConfiguration/loginIDLimit``
    /// allows. A device that is not authenticated yet may send no larger frame.
    private static let maximumSizeBeforeLogin = 16 * 1024
    /// The number of notifications that may still be written in this session; `nil` for an agent of ours, which limits
    /// the ids in its login itself. Other clients (microG) send the ids of all notifications of the last session,
    /// acknowledged or not. So only as many are written as a login may contain, and once they are acknowledged the
    /// device must reconnect.
    private var thirdPartyCapacity: Int?
    private static let thirdPartySessionLimit = MCSClientConfiguration().loginIDLimit

    init(_ surroundings: DeviceConnectionContext, port: DeviceConnectionPort) {
        self.surroundings = surroundings
        self.port = port
        session = MCSServerSession(configuration: surroundings.configuration, at: .now())
        flow = DeliveryFlow(capacity: surroundings.configuration.windowLimit)
        heldFrames = HeldFrames(capacity: surroundings.pendingBytes)
    }

    // MARK: Calls from the gateway, through the port

    func deliver(_ notifications: [OutgoingNotification]) {
        guard let sessionID else { return }
        if notifications.count == 1, !isPerforming, web.isEmpty, let channel, flow.takesAtOnce(notifications[0]) {
            if let lastStreamID = session.count(notifications[0]) {
                channel.send(notifications[0], lastStreamID: lastStreamID, now: SessionTime.now().wall)
                surroundings.metrics.sent.increment()
                noteSent(notifications, sessionID)
                noteWritten(1)
                return channel.settle()
            }
            // The stream ids are used up: the session ends with the attempt.
            perform(session.send(notifications, at: .now()))
        } else {
            perform(flow.deliver(notifications))
        }
        channel?.settle()
    }

    func waitingChanged() {
        perform(flow.waitingChanged())
        channel?.settle()
    }

    /// Buffers a frame of another device until ``settle()``, or holds it for a moment while the connection is choked.
    func relay(_ frame: [UInt8], isBulk: Bool) -> RelayWriteResult {
        guard sessionID != nil, let channel, session.isLive else { return .ended }
        guard heldFrames.isEmpty, channel.isWritable else {
            return heldFrames.hold(frame, isBulk: isBulk) ? .written : .choked
        }
        perform(session.relay(frame))
        return .written
    }

    /// Writes the buffered frames.
    func settle() { channel?.settle() }

    func end(_ reason: MCSServerCloseReason) {
        perform(session.end(reason))
        channel?.settle()
    }

    func loginAnswered(_ verdict: DeviceLoginVerdict) {
        if case .welcome(let id, let hasWaiting) = verdict {
            sessionID = id
            if !hasWaiting { flow.nothingWaits() }
            surroundings.sessions?.opened(id, port)
            if let channel = channel?.channel { surroundings.limiter.proven(channel) }
            if surroundings.web.mayHave(id.device) { loadWebRegistrations(of: id) }
        }
        let answer = MCSLoginAnswer(verdict)
        surroundings.metrics.login(answer)
        let names = sessionID.map { surroundings.unconfirmedUpstream.take(of: $0.device) } ?? []
        perform(session.loginAnswered(answer, upstream: names, at: .now()))
        channel?.settle()
    }

    func registrationsChanged() {
        guard let sessionID else { return }
        loadWebRegistrations(of: sessionID)
        channel?.settle()
    }

    private func loadWebRegistrations(of session: DeviceSessionID) {
        webLoads += 1
        pendingWebLoad = webLoads
        perform(flow.writabilityChanged(false))
        surroundings.web.registrations(of: session.device) { [port, webLoads] found in
            port.onLoop { $0.webRegistrationsLoaded(found, webLoads) }
        }
    }

    private static let unreadRegistrations = RepeatedMessage(
        "a device's registrations could not be read", level: .warning)
    private static let unreadMailbox = RepeatedMessage("a mailbox could not be read", level: .warning)

    private func webRegistrationsLoaded(
        _ found: Result<[WebRegistrationKey: WebRegistration], any Error>, _ number: Int
    ) {
        guard pendingWebLoad == number else { return }
        pendingWebLoad = nil
        switch found {
        case .success(let registrations):
            web = registrations
            perform(flow.writabilityChanged(channel?.isWritable ?? false))
        case .failure(let error):
            Self.unreadRegistrations.log(error, to: surroundings.logger)
            perform(session.end(.storeFailed))
        }
        channel?.settle()
    }

    private func pageRead(_ page: Result<[OutgoingNotification], any Error>) {
        switch page {
        case .success(let notifications): perform(flow.pageRead(notifications))
        case .failure(let error):
            Self.unreadMailbox.log(error, to: surroundings.logger)
            perform(flow.pageFailed())
        }
        channel?.settle()
    }

    private func upstreamCompleted(with outcome: UpstreamOutcome, stream: Int32, of message: UpstreamMessage) {
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
            perform(
                session.refused(stream: stream, persistentID: message.persistentID, refusal, of: message))
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

    // MARK: Calls from the channel

    /// Whether to read: a device that does not read its responses is not read from, so that they cannot accumulate.
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
        if sessionID == nil, case .login(let login) = packet, login.id != MCSLoginRequest.agentID {
            thirdPartyCapacity = Self.thirdPartySessionLimit
        }
        perform(session.received(packet, at: .now()))
    }

    func readCompleted() {
        perform(session.readCompleted())
    }

    func writabilityChanged(_ isWritable: Bool) {
        guard sessionID != nil, pendingWebLoad == nil else { return }
        while channel?.isWritable ?? false, let frame = heldFrames.next() {
            perform(session.relay(frame))
            channel?.settle()
        }
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

    /// Performs the added steps, until there are none.
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
            if let registration = registration(of: notification) {
                send(notification, to: registration, lastStreamID: lastStreamID, now: now)
            } else {
                channel?.send(notification, lastStreamID: lastStreamID, now: now)
            }
        case .authenticate(let login): authenticate(login)
        case .began: perform(flow.capacityChanged(capacity) + flow.start())
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
        case .write(let all):
            let notifications = web.isEmpty ? all : deliverable(all, sessionID)
            perform(session.send(notifications, at: .now()))
            surroundings.metrics.sent.increment(by: notifications.count)
            noteSent(notifications, sessionID)
            noteWritten(all.count)
        case .notSent(let ids):
            surroundings.metrics.notSent.increment(by: ids.count)
            surroundings.gateway.attempts(ids, became: .notSent)
        case .fail: perform(session.end(.storeFailed))
        }
    }

    /// The browser's registration that a notification is for; `nil` where it is for an agent's app.
    private func registration(of notification: OutgoingNotification) -> WebRegistration? {
        guard !web.isEmpty else { return nil }
        return web[WebRegistrationKey(topic: notification.topic, environment: notification.environment)]
    }

    private func send(
        _ notification: OutgoingNotification, to registration: WebRegistration, lastStreamID: Int32, now: Timestamp
    ) {
        do {
            guard var stanza = try WebPushStanza.make(notification, to: registration, now: now) else { return }
            stanza.lastStreamIDReceived = lastStreamID
            channel?.send(.dataMessage(stanza))
        } catch {
            surroundings.logger.error("a message could not be encrypted", metadata: metadata(error))
            perform(session.end(.storeFailed))
        }
    }

    /// The notifications that can be sent to browsers too. Others, the recalls of notifications, are ended.
    private func deliverable(
        _ notifications: [OutgoingNotification], _ session: DeviceSessionID
    ) -> [OutgoingNotification] {
        let unsayable = notifications.filter { notification in
            guard case .withdrawn? = notification.notice else { return false }
            return registration(of: notification) != nil
        }
        guard !unsayable.isEmpty else { return notifications }
        let ids = Set(unsayable.map(\.id))
        surroundings.gateway.acknowledged(session, unsayable.map(\.id)) { _ in }
        return notifications.filter { !ids.contains($0.id) }
    }

    private func authenticate(_ login: MCSLogin) {
        channel?.channel?.pipeline.fireUserInboundEventTriggered(HandshakeCountHandler.LoggedIn())
        if let pause = surroundings.logins.admit(at: SessionTime.now().uptime) {
            surroundings.metrics.login(.busy(retryAfter: pause))
            return perform(session.loginAnswered(.busy(retryAfter: pause), at: .now()))
        }
        let login = DeviceLogin(device: login.device, secret: login.secret, received: login.received)
        surroundings.gateway.open(login, connection: port) { [port] verdict in port.loginAnswered(verdict) }
    }

    private func noteSent(_ notifications: [OutgoingNotification], _ session: DeviceSessionID) {
        if notifications.count == 1, notifications[0].notice == nil {
            let id = [notifications[0].id]
            return notifications[0].expiresAt == nil
                ? surroundings.gateway.attempts(id, became: .sent) : surroundings.gateway.sent(session, id)
        }
        // A notice has no timeline.
        let stored = notifications.lazy.filter { $0.expiresAt != nil && $0.notice == nil }.map(\.id)
        let attempts = notifications.lazy.filter { $0.expiresAt == nil }.map(\.id)
        if !stored.isEmpty { surroundings.gateway.sent(session, Array(stored)) }
        if !attempts.isEmpty { surroundings.gateway.attempts(Array(attempts), became: .sent) }
    }

    private func attemptsAcknowledged(_ ids: [NotificationID]) {
        surroundings.metrics.acknowledged.increment(by: ids.count)
        surroundings.gateway.attempts(ids, became: .acknowledged)
        capacityChanged()
    }

    private func acknowledged(_ ids: [NotificationID], stream: Int32) {
        guard let sessionID else { return }
        surroundings.metrics.acknowledged.increment(by: ids.count)
        surroundings.gateway.acknowledged(sessionID, ids) { [port] durable in
            port.onLoop { $0.recorded(stream: stream, durable: durable) }
        }
        capacityChanged()
    }

    /// The number of notifications that may be written now.
    private var capacity: Int { min(session.capacity, thirdPartyCapacity ?? .max) }

    private func capacityChanged() {
        perform(flow.capacityChanged(capacity))
        endWithoutCapacity()
    }

    private func noteWritten(_ count: Int) {
        thirdPartyCapacity = thirdPartyCapacity.map { $0 - count }
        endWithoutCapacity()
    }

    /// Ends a session that has reached its maximum of notifications, once all are acknowledged.
    private func endWithoutCapacity() {
        guard let thirdPartyCapacity, thirdPartyCapacity <= 0,
            session.capacity == surroundings.configuration.windowLimit
        else { return }
        perform(session.end(.stopping))
    }

    private func receive(_ message: UpstreamMessage, stream: Int32) {
        guard let sessionID else { return }
        surroundings.upstream.receiver(of: message.category).receive(message, of: sessionID) { [port] outcome in
            port.onLoop { $0.upstreamCompleted(with: outcome, stream: stream, of: message) }
        }
    }

    /// Returns the held notifications and releases the gateway; once.
    private func finish() {
        guard !isFinished else { return }
        isFinished = true
        let last = flow.closed()
        port.detach(sessionID)
        guard let sessionID else { return }
        for case .notSent(let ids) in last { surroundings.gateway.attempts(ids, became: .notSent) }
        let attempts = session.unacknowledgedAttempts
        if !attempts.isEmpty { surroundings.gateway.attempts(attempts, became: .unacknowledged) }
        surroundings.unconfirmedUpstream.record(session.unconfirmedUpstreamNames, of: sessionID.device)
        self.sessionID = nil
        heldFrames.drop()
        surroundings.sessions?.closed(sessionID)
        surroundings.gateway.close(sessionID)
    }
}

extension MCSLoginAnswer {
    init(_ verdict: DeviceLoginVerdict) {
        self =
            switch verdict {
            case .welcome: .welcome
            case .refused: .refused
            case .blocked: .blocked
            case .unavailable: .unavailable
            }
    }
}

import PushCore

/// The server's end of one device connection.
///
/// Stream ids are implicit: each side counts the packets it sends, the login being the device's first and its
/// answer the server's first. Every packet that the server sends confirms what it has received, but never
/// acknowledgements and upstream messages that are not durable yet, nor anything after those.
///
/// Every method returns what is to be done, in order. After a ``MCSServerDirective/close(_:)`` nothing is
/// returned any more.
package struct MCSServerSession: Sendable {
    /// A packet that asked for something to be made durable, which is not yet done.
    private struct Pending {
        var stream: Int32
        /// Whether it is confirmed at once when it is durable; otherwise with what is sent next, or after
        /// ``MCSServerConfiguration/confirmationDelay``.
        var isUrgent: Bool
        /// The persistent id of an upstream message.
        var name: String?
    }

    private enum State {
        case awaitingVersion
        case awaitingLogin
        /// The login is being checked; packets that came meanwhile wait.
        case authenticating(request: MCSLoginRequest, early: [MCSPacket])
        case live
        case closed
    }

    private let configuration: MCSServerConfiguration
    private var state = State.awaitingVersion
    /// The version that is to be mirrored in front of the first packet.
    private var owedVersion: UInt8?
    private var receivedCount: Int32 = 0
    private var sentCount: Int32 = 0
    private var acknowledgedThrough: Int32 = 0
    private var confirmedThrough: Int32 = 0
    private var window = SentWindow()
    /// The packets whose effects are not durable yet, by ascending stream ids.
    private var pending: [Pending] = []
    /// Upstream messages that are durable, as long as the device may not know it.
    private var unconfirmedUpstream = UnconfirmedUpstream()
    /// Whether it is an agent of ours, which reads why something upstream is refused; others read `send_error`.
    private var isAgent = false
    private var confirmNow = false
    private var confirmationDue: Int64?
    private var lastHeard: Int64
    private var pingSent: Int64?
    private var pingInterval: Int64
    private var answerTimeout: Int64
    private let loginDue: Int64

    /// A session whose connection was just opened.
    package init(configuration: MCSServerConfiguration = MCSServerConfiguration(), at time: SessionTime) {
        self.configuration = configuration
        lastHeard = time.uptime
        loginDue = time.uptime.saturatingSum(configuration.loginTimeout)
        pingInterval = configuration.heartbeatInterval.saturatingSum(configuration.heartbeatInterval / 4)
        answerTimeout = configuration.answerTimeout
    }

    // MARK: What the shell may ask

    /// The uptime at which ``tick(at:)`` is to be called next; `nil` once closed. It may move in both directions.
    package var deadline: Int64? {
        switch state {
        case .closed: return nil
        case .awaitingVersion, .awaitingLogin, .authenticating: return loginDue
        case .live:
            let silence =
                pingSent.map { $0.saturatingSum(answerTimeout) } ?? lastHeard.saturatingSum(pingInterval)
            return min(silence, confirmationDue ?? .max)
        }
    }

    /// Whether more bytes should be read from the connection now.
    package var wantsRead: Bool {
        switch state {
        case .awaitingVersion, .awaitingLogin: true
        case .authenticating, .closed: false
        case .live:
            pending.count < configuration.pendingLimit
                && pending.count(where: \.isUrgent) < configuration.pendingUpstreamLimit
        }
    }

    /// How many more notifications may be sent before some are acknowledged.
    package var capacity: Int { max(0, configuration.windowLimit - window.count) }

    /// The persistent ids of upstream messages that are durable and of which the device may not know that, in the order
    /// in which they came; for the device's next login.
    package var unconfirmedUpstreamNames: [String] { unconfirmedUpstream.names }

    /// The attempts (TTL 0) that were written and not acknowledged.
    package var unacknowledgedAttempts: [NotificationID] { window.attempts }

    /// Whether the login was accepted and the session is not over.
    package var isLive: Bool {
        if case .live = state { true } else { false }
    }

    /// Whether ``tick(at:)`` or an event closed the session.
    package var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    // MARK: Events

    /// The version byte came.
    package mutating func received(version: UInt8) -> [MCSServerDirective] {
        guard case .awaitingVersion = state else { return [] }
        guard MCSVersion.isSupported(version) else {
            state = .closed
            return [.close(.unsupportedVersion)]
        }
        owedVersion = version
        state = .awaitingLogin
        return []
    }

    /// A packet came.
    package mutating func received(_ packet: MCSPacket, at time: SessionTime) -> [MCSServerDirective] {
        var directives: [MCSServerDirective] = []
        switch state {
        case .closed: break
        case .awaitingVersion, .awaitingLogin: receiveFirst(packet, at: time, into: &directives)
        case .authenticating(let request, var early):
            guard early.count < configuration.earlyPacketLimit else {
                end(.protocolViolation, error: "too many packets before the login's answer", into: &directives)
                break
            }
            early.append(packet)
            state = .authenticating(request: request, early: early)
        case .live: receiveLive(packet, at: time, into: &directives)
        }
        return directives
    }

    /// The login was checked.
    ///
    /// - Parameter upstream: The value of ``unconfirmedUpstreamNames`` at the end of the device's last session. The device
    ///   receives it right after the response, and sends again whatever is not contained in it.
    package mutating func loginAnswered(
        _ answer: MCSLoginAnswer, upstream: [String] = [], at time: SessionTime
    ) -> [MCSServerDirective] {
        guard case .authenticating(let request, let early) = state else { return [] }
        var directives: [MCSServerDirective] = []
        var response = MCSLoginResponse()
        response.id = request.id
        response.serverTimestamp = time.wall.rawValue
        if let reason = Self.refuse(answer, in: &response) {
            emit(.loginResponse(response), into: &directives)
            state = .closed
            directives.append(.close(reason))
            return directives
        }
        state = .live
        lastHeard = time.uptime
        if request.hasHeartbeatStat, request.heartbeatStat.intervalMs > 0 {
            let asked = max(Int64(request.heartbeatStat.intervalMs), configuration.shortestHeartbeatInterval)
            pingInterval = min(pingInterval, asked)
        }
        response.heartbeatConfig.intervalMs = Int32(clamping: configuration.heartbeatInterval)
        emit(.loginResponse(response), into: &directives)
        isAgent = request.id == MCSLoginRequest.agentID
        // Chromium holds back its earlier messages until the server lists those received, even where the list is empty.
        if !upstream.isEmpty || request.id.hasPrefix("chrome-") {
            emit(.iq(MCSIqStanza(.selective(upstream))), into: &directives)
        }
        directives.append(.began)
        for packet in early where isLive {
            receiveLive(packet, at: time, into: &directives)
        }
        confirmIfDue(into: &directives)
        return directives
    }

    /// Puts the reason of a refusal into a login's response; `nil` for a welcome.
    private static func refuse(
        _ answer: MCSLoginAnswer, in response: inout MCSLoginResponse
    ) -> MCSServerCloseReason? {
        switch answer {
        case .welcome: return nil
        case .refused:
            response.error.code = 401
            response.error.message = "unknown device or wrong secret"
            return .refused
        case .blocked:
            response.error.code = 403
            response.error.message = "the device is blocked"
            return .blocked
        case .unavailable:
            response.error.code = 503
            response.error.message = "try again later"
            return .unavailable
        case .busy(let retryAfter):
            response.error.code = 503
            response.error.message = "too many devices log in; come again in \(retryAfter) ms"
            var setting = MCSSetting()
            setting.name = MCSSettingName.retryAfter
            setting.value = String(retryAfter)
            response.setting = [setting]
            return .busy
        }
    }

    /// All packets of one read were given: confirms what has to be confirmed at once.
    package mutating func readCompleted() -> [MCSServerDirective] {
        var directives: [MCSServerDirective] = []
        confirmIfDue(into: &directives)
        return directives
    }

    /// The effects of the packet of a stream id are durable, or could not be made durable.
    ///
    /// Call it once for each directive that asks for it.
    package mutating func recorded(stream: Int32, durable: Bool, at time: SessionTime) -> [MCSServerDirective] {
        guard isLive, let index = pending.firstIndex(where: { $0.stream == stream }) else { return [] }
        var directives: [MCSServerDirective] = []
        guard durable else {
            end(.storeFailed, into: &directives)
            return directives
        }
        let taken = pending.remove(at: index)
        if let name = taken.name { unconfirmedUpstream.add(name, stream: stream) }
        if taken.isUrgent {
            confirmNow = true
            confirmIfDue(into: &directives)
        } else {
            confirmSoon(at: time, into: &directives)
        }
        return directives
    }

    /// The upstream message of a stream id is finally refused: sends the device the reason, and confirms it.
    ///
    /// Call it instead of ``recorded(stream:durable:at:)``.
    /// - Parameter message: The refused message; clients other than our agents also receive FCM's `send_error` for it.
    package mutating func refused(
        stream: Int32, persistentID: String, _ refusal: UpstreamRejection, of message: UpstreamMessage? = nil
    ) -> [MCSServerDirective] {
        guard isLive, let index = pending.firstIndex(where: { $0.stream == stream && $0.isUrgent }) else { return [] }
        pending.remove(at: index)
        var directives: [MCSServerDirective] = []
        emit(.iq(MCSIqStanza(refusal, of: persistentID)), into: &directives)
        if let message, !isAgent { emit(.dataMessage(MCSDataMessageStanza(refusal, of: message)), into: &directives) }
        return directives
    }

    /// Notifications are to be written; the caller keeps to ``capacity``.
    package mutating func send(_ notifications: [OutgoingNotification], at time: SessionTime) -> [MCSServerDirective] {
        guard isLive else { return [] }
        var directives: [MCSServerDirective] = []
        directives.reserveCapacity(notifications.count)
        for notification in notifications {
            let lastStreamID = confirmable
            guard countSent(into: &directives) else { break }
            window.append(stream: sentCount, id: notification.id, isStored: notification.expiresAt != nil)
            noteConfirmed()
            directives.append(.deliver(notification, lastStreamID: lastStreamID, now: time.wall))
        }
        return directives
    }

    /// Counts one notification that is to be written, like ``send(_:at:)``, but without the list.
    ///
    /// - Returns: The last stream id that its packet acknowledges; `nil` when the session is not live or its stream ids
    ///   are used up.
    package mutating func count(_ notification: OutgoingNotification) -> Int32? {
        guard isLive, owedVersion == nil, sentCount < .max else { return nil }
        let lastStreamID = confirmable
        sentCount += 1
        window.append(stream: sentCount, id: notification.id, isStored: notification.expiresAt != nil)
        noteConfirmed()
        return lastStreamID
    }

    /// Something from another device is to be written. It waits nowhere and is not acknowledged.
    package mutating func relay(_ frame: [UInt8]) -> [MCSServerDirective] {
        guard isLive else { return [] }
        var directives: [MCSServerDirective] = []
        emit(.relayed(MCSRelayedFrame(frame)), into: &directives)
        return directives
    }

    /// The deadline has come.
    package mutating func tick(at time: SessionTime) -> [MCSServerDirective] {
        var directives: [MCSServerDirective] = []
        switch state {
        case .closed: break
        case .awaitingVersion, .awaitingLogin, .authenticating:
            if time.uptime >= loginDue { end(.loginTimeout, into: &directives) }
        case .live:
            checkSilence(at: time, into: &directives)
            if isLive, let due = confirmationDue, time.uptime >= due {
                confirmNow = true
                confirmIfDue(into: &directives)
            }
        }
        return directives
    }

    /// Ends the session from this side: a newer session, a stop, a store that does not answer, malformed bytes.
    ///
    /// - Parameter error: The device's error, which is reported to it.
    package mutating func end(_ reason: MCSServerCloseReason, error: String? = nil) -> [MCSServerDirective] {
        guard !isClosed else { return [] }
        var directives: [MCSServerDirective] = []
        end(reason, error: error ?? (reason == .malformed ? "malformed packet" : nil), into: &directives)
        return directives
    }

    /// The connection is gone.
    package mutating func connectionClosed() {
        state = .closed
        window = SentWindow()
        pending = []
    }
}

// MARK: - Packets

extension MCSServerSession {
    private mutating func receiveFirst(
        _ packet: MCSPacket, at time: SessionTime, into directives: inout [MCSServerDirective]
    ) {
        guard case .awaitingLogin = state, case .login(let request) = packet else {
            end(.notLoggedIn, error: "the first packet must be a login", into: &directives)
            return
        }
        receivedCount = 1
        state = .authenticating(request: request, early: [])
        guard let device = UInt64(request.user).flatMap(DeviceID.init), let secret = UInt64(request.authToken) else {
            directives += loginAnswered(.refused, at: time)
            return
        }
        let received = request.receivedPersistentID.compactMap { NotificationID(text: $0) }
        directives.append(.authenticate(MCSLogin(device: device, secret: secret, received: received)))
    }

    private mutating func receiveLive(
        _ packet: MCSPacket, at time: SessionTime, into directives: inout [MCSServerDirective]
    ) {
        let (count, overflow) = receivedCount.addingReportingOverflow(1)
        guard !overflow else { return end(.protocolViolation, error: "stream ids are used up", into: &directives) }
        receivedCount = count
        lastHeard = time.uptime
        pingSent = nil
        if let last = packet.lastStreamIDReceived {
            guard takeAcknowledgement(through: last, at: time, into: &directives) else { return }
        }
        switch packet {
        case .heartbeatPing: emit(.heartbeatAck(MCSHeartbeatAck()), into: &directives)
        case .heartbeatAck, .historic: break
        case .iq(let iq): receive(iq, at: time, into: &directives)
        case .dataMessage(let stanza):
            let name = stanza.persistentID.isEmpty ? nil : stanza.persistentID
            pending.append(Pending(stream: receivedCount, isUrgent: true, name: name))
            directives.append(.upstream(stream: receivedCount, UpstreamMessage(stanza)))
        case .relayed(let relayed):
            pingInterval = min(pingInterval, configuration.relayHeartbeatInterval)
            answerTimeout = min(answerTimeout, configuration.relayAnswerTimeout)
            // A relay frame is never repeated, so its confirmation may wait for others.
            pending.append(Pending(stream: receivedCount, isUrgent: false))
            let message = UpstreamMessage(persistentID: "", category: MCSUpstream.relayCategory, raw: relayed.frame)
            directives.append(.upstream(stream: receivedCount, message))
        case .close, .streamError:
            state = .closed
            directives.append(.close(.peer))
        case .login, .loginResponse:
            end(.protocolViolation, error: "already logged in", into: &directives)
        }
    }

    private mutating func takeAcknowledgement(
        through stream: Int32, at time: SessionTime, into directives: inout [MCSServerDirective]
    ) -> Bool {
        guard stream >= 0, stream <= sentCount else {
            end(.protocolViolation, error: "acknowledges a packet that was not sent", into: &directives)
            return false
        }
        guard stream > acknowledgedThrough else { return true }
        acknowledgedThrough = stream
        unconfirmedUpstream.proven(through: stream)
        acknowledge(window.removeThrough(stream), at: time, into: &directives)
        return true
    }

    private mutating func receive(_ iq: MCSIqStanza, at time: SessionTime, into directives: inout [MCSServerDirective])
    {
        guard case .selective(let names)? = iq.acknowledgement else { return }
        guard names.count <= configuration.windowLimit else {
            return end(.protocolViolation, error: "acknowledges more than can be outstanding", into: &directives)
        }
        let ids = names.compactMap { NotificationID(text: $0) }
        let attempts = Set(window.remove(Set(ids)))
        let stored = attempts.isEmpty ? ids : ids.filter { !attempts.contains($0) }
        acknowledge((stored, ids.filter(attempts.contains)), at: time, into: &directives)
    }

    private mutating func acknowledge(
        _ ids: (stored: [NotificationID], attempts: [NotificationID]), at time: SessionTime,
        into directives: inout [MCSServerDirective]
    ) {
        if !ids.attempts.isEmpty { directives.append(.attemptsAcknowledged(ids.attempts)) }
        if !ids.stored.isEmpty {
            pending.append(Pending(stream: receivedCount, isUrgent: false))
            directives.append(.acknowledged(stream: receivedCount, ids.stored))
        } else if !ids.attempts.isEmpty {
            confirmSoon(at: time, into: &directives)
        }
    }
}

// MARK: - Sending and confirming

extension MCSServerSession {
    /// The highest stream id up to which everything received is also durable.
    private var confirmable: Int32 { pending.first.map { $0.stream - 1 } ?? receivedCount }

    private mutating func noteConfirmed() {
        confirmedThrough = confirmable
        unconfirmedUpstream.confirm(through: confirmedThrough, by: sentCount)
        confirmNow = false
        confirmationDue = nil
    }

    private mutating func confirmSoon(at time: SessionTime, into directives: inout [MCSServerDirective]) {
        confirmationDue = confirmationDue ?? time.uptime.saturatingSum(configuration.confirmationDelay)
        guard confirmable - confirmedThrough >= configuration.unconfirmedLimit else { return }
        confirmNow = true
        confirmIfDue(into: &directives)
    }

    private mutating func confirmIfDue(into directives: inout [MCSServerDirective]) {
        guard isLive, confirmNow else { return }
        confirmNow = false
        confirmationDue = nil
        guard confirmable > confirmedThrough else { return }
        emit(.iq(MCSIqStanza(.stream)), into: &directives)
    }

    /// Counts a packet about to be sent; `false` when the ids are used up and the session was ended instead.
    private mutating func countSent(into directives: inout [MCSServerDirective]) -> Bool {
        let (count, overflow) = sentCount.addingReportingOverflow(1)
        guard !overflow else {
            state = .closed
            directives.append(.close(.protocolViolation))
            return false
        }
        sentCount = count
        if let version = owedVersion {
            owedVersion = nil
            directives.append(.sendVersion(version))
        }
        return true
    }

    private mutating func emit(_ packet: consuming MCSPacket, into directives: inout [MCSServerDirective]) {
        guard countSent(into: &directives) else { return }
        packet.lastStreamIDReceived = confirmable
        noteConfirmed()
        directives.append(.send(packet))
    }

    private mutating func checkSilence(at time: SessionTime, into directives: inout [MCSServerDirective]) {
        if let sent = pingSent {
            if time.uptime >= sent.saturatingSum(answerTimeout) { end(.silent, into: &directives) }
        } else if time.uptime >= lastHeard.saturatingSum(pingInterval) {
            pingSent = time.uptime
            emit(.heartbeatPing(MCSHeartbeatPing()), into: &directives)
        }
    }

    /// Sends a close packet where the peer can understand it (its version is known), and closes.
    private mutating func end(
        _ reason: MCSServerCloseReason, error: String? = nil, into directives: inout [MCSServerDirective]
    ) {
        if case .awaitingVersion = state {
            state = .closed
            directives.append(.close(reason))
            return
        }
        if let error {
            var stanza = MCSStreamErrorStanza()
            stanza.type = reason.rawValue
            stanza.text = error
            emit(.streamError(stanza), into: &directives)
        } else {
            emit(.close, into: &directives)
        }
        guard !isClosed else { return }
        state = .closed
        directives.append(.close(reason))
    }
}

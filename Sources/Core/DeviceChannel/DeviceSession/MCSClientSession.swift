import PushCore

/// The device's end of one connection.
///
/// A notification is acknowledged once it is stored, and only together with everything before it: what the
/// session sends carries the highest stream id up to which all is stored. The device's record that it received a
/// notification may go only when the server has confirmed the packet that acknowledged it
/// (``MCSClientDirective/confirmed(_:)``); until then every login names it.
///
/// Every method returns what is to be done, in order. After a ``MCSClientDirective/close(_:)`` nothing is
/// returned any more.
package struct MCSClientSession: Sendable {
    private enum State {
        case awaitingVersion
        case awaitingLoginResponse
        case live
        case closed
    }

    /// A received notification that is not acknowledged yet, with its stream id.
    private struct UnackedNotification {
        var stream: Int32
        var id: NotificationID
        var stored: Bool
    }

    /// The notification ids that one outgoing packet acknowledged.
    private struct Acknowledged {
        var stream: Int32
        var ids: [NotificationID]
    }

    private struct Upstream {
        var stream: Int32
        var persistentID: String
    }

    private let configuration: MCSClientConfiguration
    private var state = State.awaitingVersion
    private var sentCount: Int32 = 0
    private var receivedCount: Int32 = 0
    private var confirmedThrough: Int32 = 0
    /// The highest stream id that this device has acknowledged to the server as stored.
    private var acknowledgedThrough: Int32 = 0
    /// Received and not yet acknowledged, by stream id; the first is unstored unless all of it can be acknowledged.
    private var received: [UnackedNotification] = []
    private var acknowledged: [Acknowledged] = []
    /// How many ids were acknowledged on this connection and are not confirmed.
    private var unconfirmedCount = 0
    private var upstream: [Upstream] = []
    private var batch: [OutgoingNotification] = []
    private var passedOverSinceAcknowledgement = false
    private var lastHeard: Int64
    private var pingSent: Int64?
    private var heartbeatInterval: Int64
    private let loginDue: Int64

    /// A session whose connection was just opened.
    package init(configuration: MCSClientConfiguration = MCSClientConfiguration(), at time: SessionTime) {
        self.configuration = configuration
        heartbeatInterval = configuration.heartbeatInterval
        lastHeard = time.uptime
        loginDue = time.uptime.saturatingSum(configuration.loginTimeout)
    }

    // MARK: What the shell may ask

    /// The uptime at which ``tick(at:)`` is to be called next; `nil` once closed. It may move in both directions.
    package var deadline: Int64? {
        switch state {
        case .closed: nil
        case .awaitingVersion, .awaitingLoginResponse: loginDue
        case .live:
            pingSent.map { $0.saturatingSum(configuration.answerTimeout) }
                ?? lastHeard.saturatingSum(heartbeatInterval)
        }
    }

    /// Whether more bytes should be read from the connection now.
    package var wantsRead: Bool { received.count < configuration.unstoredLimit }

    /// Whether ``send(_:)`` would take another upstream stanza.
    package var canSendUpstream: Bool { state == .live && upstream.count < configuration.upstreamLimit }

    /// Whether the login was accepted and the session is not over.
    package var isLive: Bool { state == .live }
    /// Whether a directive to close was returned.
    package var isClosed: Bool { state == .closed }

    // MARK: Events

    /// Begins: sends the version and the login. Call it once, first.
    package mutating func start(_ credentials: MCSCredentials) -> [MCSClientDirective] {
        var request = MCSLoginRequest()
        request.id = MCSLoginRequest.agentID
        request.domain = "mcs.android.com"
        request.user = credentials.device.description
        request.resource = request.user
        request.authToken = String(credentials.secret)
        request.deviceID = "android-" + String(credentials.device.rawValue, radix: 16)
        let named = Array(credentials.received.prefix(configuration.loginIDLimit))
        request.receivedPersistentID = named.map(\.description)
        request.useRmq2 = true
        request.authService = .androidID
        request.networkType = 1
        var directives = [MCSClientDirective.sendVersion(MCSVersion.current)]
        if !named.isEmpty { acknowledged.append(Acknowledged(stream: 1, ids: named)) }
        emit(.login(request), into: &directives)
        return directives
    }

    /// The server's version byte came.
    package mutating func received(version: UInt8) -> [MCSClientDirective] {
        guard state == .awaitingVersion else { return [] }
        guard MCSVersion.isSupported(version) else { return close(.unsupportedVersion(version)) }
        state = .awaitingLoginResponse
        return []
    }

    /// A packet came. Notifications are handed over by ``readCompleted()``.
    package mutating func received(_ packet: MCSPacket, at time: SessionTime) -> [MCSClientDirective] {
        guard state != .closed else { return [] }
        let (count, overflow) = receivedCount.addingReportingOverflow(1)
        guard !overflow else { return close(.protocolViolation("stream ids are used up")) }
        receivedCount = count
        lastHeard = time.uptime
        pingSent = nil
        var directives: [MCSClientDirective] = []
        if state != .live {
            receiveBeforeLogin(packet, into: &directives)
            return directives
        }
        // Why something is not taken comes before the news that the server is done with it.
        if case .iq(let iq) = packet, let (persistentID, refusal) = iq.refusal {
            directives.append(.upstreamRefused(persistentID: persistentID, refusal))
        }
        if takeConfirmation(of: packet, into: &directives) {
            receiveLive(packet, into: &directives)
        }
        return directives
    }

    /// All packets of one read were given.
    package mutating func readCompleted() -> [MCSClientDirective] {
        guard state != .closed else { return [] }
        var directives: [MCSClientDirective] = []
        if !batch.isEmpty {
            directives.append(.store(batch))
            batch = []
        }
        if passedOverSinceAcknowledgement { acknowledgeIfAdvanced(into: &directives) }
        return directives
    }

    /// Notifications are stored, or were stored before.
    package mutating func acknowledge(_ ids: [NotificationID]) -> [MCSClientDirective] {
        guard state == .live else { return [] }
        let ids = Set(ids)
        for index in received.indices where ids.contains(received[index].id) {
            received[index].stored = true
        }
        var directives: [MCSClientDirective] = []
        acknowledgeIfAdvanced(into: &directives)
        return directives
    }

    /// Sends a stanza upstream; it is confirmed under its persistent id.
    ///
    /// - Returns: `nil` when ``canSendUpstream`` is false: not logged in, or too many are unconfirmed.
    package mutating func send(_ stanza: MCSDataMessageStanza) -> [MCSClientDirective]? {
        guard canSendUpstream else { return nil }
        var directives: [MCSClientDirective] = []
        emit(.dataMessage(stanza), into: &directives)
        upstream.append(Upstream(stream: sentCount, persistentID: stanza.persistentID))
        return directives
    }

    /// Sends something for another device. It is not confirmed, and not sent again.
    ///
    /// - Returns: `nil` when the session is not open.
    package mutating func relay(_ frame: [UInt8]) -> [MCSClientDirective]? {
        guard state == .live else { return nil }
        var directives: [MCSClientDirective] = []
        emit(.relayed(MCSRelayedFrame(frame)), into: &directives)
        return directives
    }

    /// The deadline has come.
    package mutating func tick(at time: SessionTime) -> [MCSClientDirective] {
        guard let deadline, time.uptime >= deadline else { return [] }
        guard state == .live else { return close(.loginTimedOut) }
        guard pingSent == nil else { return close(.silent) }
        return ping(at: time)
    }

    /// Checks at once whether the server is still reachable: the machine has slept, and the connection may have ended
    /// meanwhile. A pending heartbeat serves the same purpose.
    package mutating func probe(at time: SessionTime) -> [MCSClientDirective] {
        guard state == .live, pingSent == nil else { return [] }
        return ping(at: time)
    }

    private mutating func ping(at time: SessionTime) -> [MCSClientDirective] {
        pingSent = time.uptime
        var directives: [MCSClientDirective] = []
        emit(.heartbeatPing(MCSHeartbeatPing()), into: &directives)
        return directives
    }

    /// Ends the session from this side.
    package mutating func end() -> [MCSClientDirective] {
        guard state != .closed else { return [] }
        var directives: [MCSClientDirective] = []
        if state == .live { emit(.close, into: &directives) }
        return directives + close(.ended)
    }

    /// The connection failed or was closed, or its bytes are no packets.
    package mutating func failed(_ reason: MCSClientCloseReason) -> [MCSClientDirective] {
        state == .closed ? [] : close(reason)
    }

    private mutating func close(_ reason: MCSClientCloseReason) -> [MCSClientDirective] {
        state = .closed
        received = []
        batch = []
        return [.close(reason)]
    }
}

// MARK: - Packets

extension MCSClientSession {
    private mutating func receiveBeforeLogin(_ packet: MCSPacket, into directives: inout [MCSClientDirective]) {
        guard state == .awaitingLoginResponse else {
            directives += close(.protocolViolation("a packet came before the version"))
            return
        }
        switch packet {
        case .loginResponse(let response) where response.hasError && response.retryAfter != nil:
            directives += close(.busy(retryAfter: response.retryAfter ?? 0))
        case .loginResponse(let response) where response.hasError:
            directives += close(.loginRefused(code: response.error.code, message: response.error.message))
        case .loginResponse(let response):
            state = .live
            if response.heartbeatConfig.intervalMs > 0 {
                heartbeatInterval = Int64(response.heartbeatConfig.intervalMs)
            }
            directives.append(.loggedIn(serverTime: Timestamp(rawValue: response.serverTimestamp)))
            _ = takeConfirmation(of: packet, into: &directives)
        case .streamError(let error):
            directives += close(.streamError(type: error.type, text: error.text))
        case .close:
            directives += close(.closedByServer)
        case .heartbeatPing, .heartbeatAck, .login, .iq, .dataMessage, .relayed, .historic:
            directives += close(.protocolViolation("a packet came before the login's answer"))
        }
    }

    private mutating func receiveLive(_ packet: MCSPacket, into directives: inout [MCSClientDirective]) {
        switch packet {
        case .heartbeatPing: emit(.heartbeatAck(MCSHeartbeatAck()), into: &directives)
        case .heartbeatAck, .loginResponse, .historic: break
        case .iq(let iq): receive(iq, into: &directives)
        case .relayed(let relayed): directives.append(.relayed(relayed.frame))
        case .dataMessage(let stanza):
            guard let (name, refusal) = stanza.sendError else { return receive(stanza, into: &directives) }
            // It is acknowledged, and in no store: it may be lost with the device.
            passedOverSinceAcknowledgement = true
            upstream.removeAll { $0.persistentID == name }
            directives.append(.upstreamRefused(persistentID: name, refusal))
            directives.append(.upstreamConfirmed([name]))
        case .close: directives += close(.closedByServer)
        case .streamError(let error): directives += close(.streamError(type: error.type, text: error.text))
        case .login: directives += close(.protocolViolation("a server sends no login"))
        }
    }

    private mutating func receive(_ stanza: MCSDataMessageStanza, into directives: inout [MCSClientDirective]) {
        do throws(MCSStanzaError) {
            let notification = try stanza.notification()
            received.append(UnackedNotification(stream: receivedCount, id: notification.id, stored: false))
            batch.append(notification)
        } catch {
            passedOverSinceAcknowledgement = true
            directives.append(.passedOver(persistentID: stanza.persistentID, reason: error.description))
        }
    }

    private mutating func receive(_ iq: MCSIqStanza, into directives: inout [MCSClientDirective]) {
        guard case .selective(let names)? = iq.acknowledgement else { return }
        let named = Set(names)
        upstream.removeAll { named.contains($0.persistentID) }
        // After a login it names what came over an earlier connection, too.
        if !names.isEmpty { directives.append(.upstreamConfirmed(names)) }
    }

    /// Reads how far the server has received; `false` when that is nonsense and the session was closed.
    private mutating func takeConfirmation(of packet: MCSPacket, into directives: inout [MCSClientDirective]) -> Bool {
        guard let last = packet.lastStreamIDReceived else { return true }
        guard last >= 0, last <= sentCount else {
            directives += close(.protocolViolation("confirms a packet that was not sent"))
            return false
        }
        guard last > confirmedThrough else { return true }
        confirmedThrough = last
        let packets = acknowledged.prefix { $0.stream <= last }
        if !packets.isEmpty {
            let ids = packets.flatMap(\.ids)
            directives.append(.confirmed(ids))
            acknowledged.removeFirst(packets.count)
            unconfirmedCount = acknowledged.isEmpty ? 0 : max(0, unconfirmedCount - ids.count)
        }
        let sent = upstream.prefix { $0.stream <= last }
        if !sent.isEmpty {
            directives.append(.upstreamConfirmed(sent.map(\.persistentID)))
            upstream.removeFirst(sent.count)
        }
        return true
    }
}

// MARK: - Sending and acknowledging

extension MCSClientSession {
    /// The highest stream id up to which everything received is stored.
    private var acknowledgeable: Int32 {
        received.first { !$0.stored }.map { $0.stream - 1 } ?? receivedCount
    }

    private mutating func acknowledgeIfAdvanced(into directives: inout [MCSClientDirective]) {
        let hasNews = received.first?.stored ?? false || passedOverSinceAcknowledgement
        guard hasNews, acknowledgeable > acknowledgedThrough else { return }
        emit(.iq(MCSIqStanza(.stream)), into: &directives)
    }

    /// Sends a packet, with everything on it that can be acknowledged.
    private mutating func emit(_ packet: consuming MCSPacket, into directives: inout [MCSClientDirective]) {
        let (count, overflow) = sentCount.addingReportingOverflow(1)
        guard !overflow, unconfirmedCount <= configuration.unconfirmedLimit else {
            directives += close(.protocolViolation(overflow ? "stream ids are used up" : "confirms nothing"))
            return
        }
        sentCount = count
        if receivedCount > 0, packet.carriesAcknowledgement {
            let through = acknowledgeable
            packet.lastStreamIDReceived = through
            acknowledgedThrough = through
            passedOverSinceAcknowledgement = false
            let ids = received.prefix { $0.stream <= through }.map(\.id)
            if !ids.isEmpty {
                received.removeFirst(ids.count)
                acknowledged.append(Acknowledged(stream: sentCount, ids: ids))
                unconfirmedCount += ids.count
            }
        }
        directives.append(.send(packet))
    }
}

extension MCSPacket {
    /// Whether the packet has the field that acknowledges.
    fileprivate var carriesAcknowledgement: Bool {
        switch self {
        case .heartbeatPing, .heartbeatAck, .loginResponse, .iq, .dataMessage, .relayed: true
        case .login, .close, .streamError, .historic: false
        }
    }
}

extension MCSLoginResponse {
    /// The delay in milliseconds before the device reconnects; `nil` where the server sends none, or an invalid one.
    fileprivate var retryAfter: Int64? {
        setting.first { $0.name == MCSSettingName.retryAfter }.flatMap { Int64($0.value) }.flatMap { $0 > 0 ? $0 : nil }
    }
}

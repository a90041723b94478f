import DeviceChannel
import PushCore
import Testing

@Suite struct MCSServerSessionTests {
    /// A session that is logged in; what it directed is forgotten.
    private func live(_ configuration: MCSServerConfiguration = MCSServerConfiguration()) -> MCSServerSession {
        var session = MCSServerSession(configuration: configuration, at: at(0))
        _ = session.received(version: 41)
        _ = session.received(login(), at: at(0))
        _ = session.loginAnswered(.welcome, at: at(0))
        return session
    }

    // MARK: Login

    @Test func `a login is checked before anything is said`() {
        var session = MCSServerSession(at: at(0))
        #expect(session.received(version: 40) == [])
        let directives = session.received(login(received: ["7", "x", "9", "0"]), at: at(1))
        let asked = MCSLogin(device: DeviceID(4242)!, secret: 99, received: [id(7), id(9)])
        #expect(directives == [.authenticate(asked)])
        #expect(!session.wantsRead)
    }

    @Test func `a welcome mirrors the version, answers with stream id one confirmed, and begins`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 40)
        _ = session.received(login(), at: at(1))
        let directives = session.loginAnswered(.welcome, at: at(2))
        #expect(directives.first == .sendVersion(40) && directives.last == .began)
        guard case .loginResponse(let response)? = packets(directives).first else { return #expect(Bool(false)) }
        #expect(response.id == "test" && !response.hasError && response.lastStreamIDReceived == 1)
        #expect(response.heartbeatConfig.intervalMs == 240_000 && response.serverTimestamp == at(2).wall.rawValue)
        #expect(session.isLive && session.wantsRead)
    }

    @Test(arguments: [
        (MCSLoginAnswer.refused, Int32(401), MCSServerCloseReason.refused), (.unavailable, 503, .unavailable),
        (.blocked, 403, .blocked),
    ])
    func `a login that fails is answered with an error and closed`(
        answer: MCSLoginAnswer, code: Int32, reason: MCSServerCloseReason
    ) {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        _ = session.received(login(), at: at(0))
        let directives = session.loginAnswered(answer, at: at(0))
        guard case .loginResponse(let response)? = packets(directives).first else { return #expect(Bool(false)) }
        #expect(response.error.code == code && directives.last == .close(reason) && session.isClosed)
    }

    @Test(arguments: [
        ("", "99"), ("0", "99"), ("abc", "99"), ("4242", ""), ("4242", "-1"), ("99999999999999999999", "9"),
    ])
    func `credentials that are no numbers are refused without asking`(user: String, secret: String) {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        #expect(session.received(login(user: user, secret: secret), at: at(0)).last == .close(.refused))
    }

    @Test(arguments: [UInt8(0), 1, 37, 39])
    func `a version that nobody speaks is closed`(version: UInt8) {
        var session = MCSServerSession(at: at(0))
        #expect(session.received(version: version) == [.close(.unsupportedVersion)])
    }

    @Test func `what comes before the login ends the connection with an explanation`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        let directives = session.received(ping(), at: at(0))
        #expect(directives.first == .sendVersion(41))
        #expect(packets(directives).map(\.tag) == [.streamErrorStanza] && directives.last == .close(.notLoggedIn))
    }

    @Test func `packets that follow a login at once wait for its answer`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        _ = session.received(login(), at: at(0))
        #expect(session.received(ping(), at: at(0)) == [])
        let tags = packets(session.loginAnswered(.welcome, at: at(0))).map(\.tag)
        #expect(tags == [.loginResponse, .heartbeatAck])
    }

    @Test func `too many packets before the answer end the connection`() {
        var configuration = MCSServerConfiguration()
        configuration.earlyPacketLimit = 2
        var session = MCSServerSession(configuration: configuration, at: at(0))
        _ = session.received(version: 41)
        _ = session.received(login(), at: at(0))
        _ = session.received(ping(), at: at(0))
        _ = session.received(ping(), at: at(0))
        #expect(session.received(ping(), at: at(0)).last == .close(.protocolViolation))
    }

    @Test func `a login that takes too long is closed, and not a moment before`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        #expect(session.deadline == 30_000)
        #expect(session.tick(at: at(29_999)) == [])
        #expect(session.tick(at: at(30_000)).last == .close(.loginTimeout))
        #expect(session.deadline == nil && !session.wantsRead)
    }

    // MARK: Acknowledging

    @Test func `a stream id acknowledges everything up to it, on any packet`() {
        for packet in [ping(last: 3), streamAck(3)] {
            var session = live()
            _ = session.send(notifications(1...4), at: at(1))
            // The login's answer was the first packet, so 3 is the second notification.
            #expect(session.received(packet, at: at(2)).first == .acknowledged(stream: 2, [id(1), id(2)]))
            #expect(session.received(streamAck(3), at: at(3)) == [])
            #expect(session.received(streamAck(5), at: at(4)).first == .acknowledged(stream: 4, [id(3), id(4)]))
        }
    }

    @Test func `a selective acknowledgement takes single ones, known or not`() {
        var session = live()
        _ = session.send(notifications(1...4), at: at(1))
        let iq = MCSPacket.iq(MCSIqStanza(.selective(["3", "77", "nonsense"])))
        #expect(session.received(iq, at: at(2)) == [.acknowledged(stream: 2, [id(3), id(77)])])
        #expect(session.capacity == 4096 - 3)
        #expect(session.received(streamAck(5), at: at(3)).first == .acknowledged(stream: 3, [id(1), id(2), id(4)]))
        #expect(session.capacity == 4096)
    }

    @Test(arguments: [Int32(-1), 2, .max])
    func `an acknowledgement of what was never sent ends the session`(last: Int32) {
        var session = live()
        #expect(session.received(streamAck(last), at: at(1)).last == .close(.protocolViolation))
    }

    @Test func `an acknowledgement is confirmed soon once it is durable, by itself or on what is sent anyway`() {
        var session = live()
        _ = session.send([notification(1)], at: at(1))
        _ = session.received(streamAck(2), at: at(5))
        #expect(session.readCompleted() == [])
        #expect(packets(session.received(ping(), at: at(6))).first?.lastStreamIDReceived == 1)
        #expect(session.recorded(stream: 2, durable: true, at: at(10)) == [] && session.deadline == 10_010)
        var other = session
        #expect(packets(session.tick(at: at(10_010))).first?.lastStreamIDReceived == 3)
        #expect(packets(other.send([notification(2)], at: at(20))).first?.lastStreamIDReceived == 3)
        #expect(other.tick(at: at(10_010)) == [])
    }

    @Test func `acknowledgements are confirmed at once when many are unconfirmed`() {
        var session = live()
        let limit = MCSServerConfiguration().unconfirmedLimit
        _ = session.send(notifications(1...100), at: at(1))
        var confirmations: [Int32] = []
        for stream in 2..<2 + limit {
            _ = session.received(streamAck(stream), at: at(5))
            let directives = session.recorded(stream: stream, durable: true, at: at(5))
            confirmations += packets(directives).compactMap(\.lastStreamIDReceived)
        }
        #expect(confirmations == [1 + limit])
    }

    @Test func `what waits nowhere needs nothing durable to be acknowledged`() {
        var session = live()
        _ = session.send([notification(1), notification(2, stored: false)], at: at(1))
        let directives = session.received(streamAck(3), at: at(2))
        #expect(directives == [.attemptsAcknowledged([id(2)]), .acknowledged(stream: 2, [id(1)])])
        var other = live()
        _ = other.send([notification(2, stored: false)], at: at(1))
        let iq = MCSPacket.iq(MCSIqStanza(.selective(["2"])))
        #expect(other.received(iq, at: at(2)) == [.attemptsAcknowledged([id(2)])])
        #expect(packets(other.received(ping(), at: at(3))).first?.lastStreamIDReceived == 3)
    }

    @Test func `an acknowledgement that cannot be made durable ends the session, so that it comes again`() {
        var session = live()
        _ = session.send([notification(1)], at: at(1))
        _ = session.received(streamAck(2), at: at(5))
        #expect(session.recorded(stream: 2, durable: false, at: at(6)).last == .close(.storeFailed))
    }

    @Test func `an acknowledgement and receipts in one packet are confirmed when both are durable`() {
        var session = live()
        _ = session.send([notification(1)], at: at(1))
        guard case .dataMessage(var stanza) = receipts("a") else { return #expect(Bool(false)) }
        stanza.lastStreamIDReceived = 2
        #expect(session.received(.dataMessage(stanza), at: at(2)).count == 2)
        #expect(session.recorded(stream: 2, durable: true, at: at(3)) == [] && session.readCompleted() == [])
        #expect(packets(session.recorded(stream: 2, durable: true, at: at(4))).first?.lastStreamIDReceived == 2)
    }

    @Test func `naming more than can be outstanding ends the session`() {
        var configuration = MCSServerConfiguration()
        configuration.windowLimit = 3
        var session = live(configuration)
        let four = MCSPacket.iq(MCSIqStanza(.selective(["1", "2", "3", "4"])))
        #expect(session.received(four, at: at(1)).last == .close(.protocolViolation))
    }

    @Test func `what was to be delivered once and was not acknowledged is known at the end`() {
        var session = live()
        var attempts = [notification(2), notification(3)]
        for index in attempts.indices { attempts[index].expiresAt = nil }
        _ = session.send([notification(1)] + attempts, at: at(1))
        _ = session.received(streamAck(3), at: at(2))
        #expect(session.unacknowledgedAttempts == [id(3)])
    }

    // MARK: Upstream

    @Test func `receipts are confirmed when they are durable, and nothing after them before`() {
        var session = live()
        guard case .upstream(let first, _)? = session.received(receipts("a"), at: at(1)).first,
            case .upstream(let second, _)? = session.received(receipts("b"), at: at(1)).first
        else { return #expect(Bool(false)) }
        #expect(packets(session.received(ping(), at: at(1))).first?.lastStreamIDReceived == 1)
        #expect(session.readCompleted() == [])
        #expect(session.recorded(stream: second, durable: true, at: at(2)) == [])
        let confirmed = packets(session.recorded(stream: first, durable: true, at: at(2)))
        #expect(confirmed.map(\.tag) == [.iqStanza] && confirmed.first?.lastStreamIDReceived == 4)
    }

    @Test func `receipts that cannot be stored end the session, so that they come again`() {
        var session = live()
        _ = session.received(receipts("a"), at: at(1))
        #expect(session.recorded(stream: 2, durable: false, at: at(2)).last == .close(.storeFailed))
    }

    @Test func `an upstream stanza of any category is given whole, and is not confirmed before it is taken`() {
        var session = live()
        let stanza = upstream("a", category: "com.example.todo")
        let message = UpstreamMessage(
            persistentID: "a", category: "com.example.todo", sender: "todo", recipient: "provider",
            appData: ["key": "value"], raw: [1, 2, 3], messageID: "a")
        #expect(session.received(stanza, at: at(1)) == [.upstream(stream: 2, message)])
        #expect(session.readCompleted() == [])
        #expect(packets(session.received(ping(), at: at(1))).first?.lastStreamIDReceived == 1)
        #expect(packets(session.recorded(stream: 2, durable: true, at: at(2))).first?.lastStreamIDReceived == 3)
    }

    @Test func `what is not taken is refused by name, and confirmed with that`() {
        var session = live()
        _ = session.received(upstream("a", category: "x"), at: at(1))
        _ = session.received(upstream("b", category: "y"), at: at(1))
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        let later = packets(session.refused(stream: 3, persistentID: "b", refusal))
        guard case .iq(let iq)? = later.first else { return #expect(Bool(false)) }
        #expect(iq.refusal?.persistentID == "b" && iq.refusal?.refusal == refusal)
        #expect(iq.lastStreamIDReceived == 1, "the one before it is not decided")
        #expect(packets(session.refused(stream: 2, persistentID: "a", refusal)).first?.lastStreamIDReceived == 3)
        #expect(session.refused(stream: 2, persistentID: "a", refusal) == [], "once")
    }

    @Test func `a refusal does not stand for the acknowledgement that came with it`() {
        var session = live()
        _ = session.send([notification(1)], at: at(1))
        guard case .dataMessage(var stanza) = upstream("a", category: "x") else { return #expect(Bool(false)) }
        stanza.lastStreamIDReceived = 2
        #expect(session.received(.dataMessage(stanza), at: at(2)).count == 2)
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        #expect(packets(session.refused(stream: 2, persistentID: "a", refusal)).first?.lastStreamIDReceived == 1)
        var durable = session
        #expect(durable.recorded(stream: 2, durable: true, at: at(3)) == [], "what is left is not urgent")
        #expect(durable.deadline == 10_003)
        #expect(session.recorded(stream: 2, durable: false, at: at(3)).last == .close(.storeFailed))
    }

    @Test func `reading stops while too many receipts wait`() {
        var configuration = MCSServerConfiguration()
        configuration.pendingLimit = 2
        var session = live(configuration)
        _ = session.received(receipts("a"), at: at(1))
        #expect(session.wantsRead)
        _ = session.received(receipts("b"), at: at(1))
        #expect(!session.wantsRead)
        _ = session.recorded(stream: 2, durable: true, at: at(2))
        #expect(session.wantsRead)
    }

    // MARK: Heartbeats and ends

    @Test func `a heartbeat is answered at once`() {
        var session = live()
        let answer = packets(session.received(ping(), at: at(1)))
        #expect(answer.map(\.tag) == [.heartbeatAck] && answer.first?.lastStreamIDReceived == 2)
    }

    @Test func `a silent device is asked, and closed when it does not answer`() {
        var session = live()
        #expect(session.deadline == 300_000)
        #expect(packets(session.tick(at: at(300_000))).map(\.tag) == [.heartbeatPing])
        var answered = session
        #expect(session.deadline == 360_000)
        #expect(session.tick(at: at(360_000)).last == .close(.silent))
        _ = answered.received(.heartbeatAck(MCSHeartbeatAck()), at: at(350_000))
        #expect(answered.tick(at: at(360_000)) == [] && answered.deadline == 650_000)
    }

    @Test func `a device that relays is asked after half a minute, and is gone after 75 seconds of silence`() {
        var session = live()
        _ = session.received(.relayed(MCSRelayedFrame([1])), at: at(0))
        _ = session.recorded(stream: 2, durable: true, at: at(0))
        #expect(packets(session.tick(at: at(30_000))).contains { $0.tag == .heartbeatPing })
        #expect(!session.tick(at: at(74_999)).contains(.close(.silent)))
        #expect(session.tick(at: at(75_000)).last == .close(.silent))
    }

    @Test func `a device can ask to be sent heartbeats more often`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        guard case .login(var request) = login() else { return }
        request.heartbeatStat.intervalMs = 20_000
        _ = session.received(.login(request), at: at(0))
        _ = session.loginAnswered(.welcome, at: at(0))
        #expect(session.deadline == 20_000)
    }

    static let misplaced: [MCSPacket] = [login(), .loginResponse(MCSLoginResponse())]

    @Test(arguments: misplaced)
    func `a packet that has no place in a session ends it`(packet: MCSPacket) {
        var session = live()
        let directives = session.received(packet, at: at(1))
        #expect(packets(directives).map(\.tag) == [.streamErrorStanza])
        #expect(directives.last == .close(.protocolViolation))
    }

    @Test(arguments: [MCSPacket.close, .streamError(MCSStreamErrorStanza())])
    func `a device that says goodbye is let go`(packet: MCSPacket) {
        var session = live()
        #expect(session.received(packet, at: at(1)) == [.close(.peer)])
    }

    @Test(arguments: [MCSServerCloseReason.superseded, .stopping, .storeFailed])
    func `a session that the server ends says Close, once`(reason: MCSServerCloseReason) {
        var session = live()
        #expect(session.end(reason) == [.send(.close), .close(reason)])
        #expect(session.end(reason) == [])
        #expect(session.received(ping(), at: at(1)) == [] && session.send([notification(1)], at: at(1)) == [])
    }
}

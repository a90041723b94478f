import DeviceChannel
import Foundation
import PushCore
import Testing

/// What the unit tests of other clients say they do, seen from the server: Chromium's, iOS' of the direct channel, and how
/// other open clients acknowledge.
@Suite struct ForeignClientTests {
    /// A session that is logged in by a version; what it directed is forgotten.
    private func live(
        version: UInt8 = 41, _ change: (inout MCSLoginRequest) -> Void = { _ in }
    ) -> MCSServerSession {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: version)
        guard case .login(var request) = login() else { return session }
        change(&request)
        _ = session.received(.login(request), at: at(0))
        _ = session.loginAnswered(.welcome, at: at(0))
        return session
    }

    private func acknowledged(_ directives: [MCSServerDirective]) -> [Int64] {
        directives.flatMap { directive -> [Int64] in
            if case .acknowledged(_, let ids) = directive { ids.map(\.rawValue) } else { [] }
        }
    }

    private func streams(_ directives: [MCSServerDirective]) -> [Int32] {
        directives.compactMap {
            switch $0 {
            case .acknowledged(let stream, _), .upstream(let stream, _): stream
            default: nil
            }
        }
    }

    private func data(_ persistentID: String, last: Int32? = nil) -> MCSPacket {
        guard case .dataMessage(var stanza) = upstream(persistentID, category: "com.example.todo") else {
            return .close
        }
        if let last { stanza.lastStreamIDReceived = last }
        return .dataMessage(stanza)
    }

    // MARK: Chromium, downstream

    @Test func `AckOnLogin: what the login names is asked for, and the answer confirms the login`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        let asked = session.received(login(received: ["1", "2", "3"]), at: at(0))
        guard case .authenticate(let said)? = asked.first else { return #expect(Bool(false)) }
        #expect(said.received == [id(1), id(2), id(3)])
        #expect(packets(session.loginAnswered(.welcome, at: at(0))).first?.lastStreamIDReceived == 1)
    }

    @Test func `AckOnSend: a message upstream acknowledges what came before it`() {
        var session = live()
        _ = session.send(notifications(1...5), at: at(1))
        let directives = session.received(data("u", last: 6), at: at(2))
        #expect(acknowledged(directives) == [1, 2, 3, 4, 5])
        #expect(streams(directives) == [2, 2])
    }

    @Test func `AckWhenLimitReachedWithHeartbeat: ten are acknowledged at once, and a ping confirms that`() {
        var session = live()
        _ = session.send(notifications(1...10), at: at(1))
        let directives = session.received(streamAck(11), at: at(2))
        #expect(acknowledged(directives) == Array(1...10))
        _ = session.recorded(stream: 2, durable: true, at: at(3))
        _ = session.tick(at: at(10_002))
        _ = session.readCompleted()
        let asked = packets(session.tick(at: at(400_000)))
        #expect(asked.map(\.tag) == [.heartbeatPing])
        #expect(asked.first?.lastStreamIDReceived == 2)
    }

    @Test func `an acknowledgement that rides on everything is counted once`() {
        var session = live()
        _ = session.send(notifications(1...2), at: at(1))
        #expect(acknowledged(session.received(ping(last: 3), at: at(2))) == [1, 2])
        #expect(acknowledged(session.received(streamAck(3), at: at(3))).isEmpty)
        #expect(acknowledged(session.received(data("u", last: 3), at: at(4))).isEmpty)
    }

    // MARK: Chromium, upstream

    @Test func `SendMessageRMQ: a message is confirmed when it is durable`() {
        var session = live()
        #expect(streams(session.received(data("1"), at: at(1))) == [2])
        #expect(session.readCompleted() == [])
        let confirmed = packets(session.recorded(stream: 2, durable: true, at: at(2)))
        #expect(confirmed.map(\.lastStreamIDReceived) == [2])
    }

    @Test func `RMQWithStreamAck: one acknowledgement clears all that came before it`() {
        var session = live()
        for number in 1...4 { _ = session.received(data("\(number)"), at: at(1)) }
        var confirmed: [Int32?] = []
        for stream in [Int32(3), 4, 5, 2] {
            confirmed += packets(session.recorded(stream: stream, durable: true, at: at(2))).map(\.lastStreamIDReceived)
        }
        #expect(confirmed == [5], "nothing is confirmed while the first is not durable")
    }

    @Test func `PartialAckOnReconnect: what was not durable is not confirmed, and may come again`() {
        var session = live()
        _ = session.received(data("1"), at: at(1))
        _ = session.received(data("2"), at: at(1))
        #expect(packets(session.recorded(stream: 2, durable: true, at: at(2))).map(\.lastStreamIDReceived) == [2])
        #expect(session.recorded(stream: 3, durable: false, at: at(3)).last == .close(.storeFailed))
        var next = live()
        guard case .upstream(let stream, let message)? = next.received(data("2"), at: at(4)).first else {
            return #expect(Bool(false))
        }
        #expect(stream == 2 && message.persistentID == "2")
    }

    // MARK: Others

    @Test func `the Python client: an acknowledgement by name for each, and stream ids on heartbeats`() {
        var session = live { request in
            request.heartbeatStat.intervalMs = 10_000
            request.heartbeatStat.timeout = true
            request.heartbeatStat.ip = ""
            request.adaptiveHeartbeat = false
        }
        _ = session.send(notifications(1...2), at: at(1))
        #expect(acknowledged(session.received(.iq(MCSIqStanza(.selective(["1"]))), at: at(2))) == [1])
        #expect(acknowledged(session.received(.iq(MCSIqStanza(.selective(["2"]))), at: at(3))) == [2])
        // It asked to be pinged every ten seconds, and answers with the stream id of all it has.
        let asked = packets(session.tick(at: at(10_003)))
        #expect(asked.map(\.tag) == [.heartbeatPing])
        var answer = MCSHeartbeatAck()
        answer.lastStreamIDReceived = 4
        let directives = session.received(.heartbeatAck(answer), at: at(10_010))
        #expect(acknowledged(directives).isEmpty && !session.isClosed, "it is acknowledged already")
        #expect(session.tick(at: at(10_011 + 5_000)) == [])
    }

    @Test func `microG: heartbeats acknowledge`() {
        var session = live()
        _ = session.send(notifications(1...3), at: at(1))
        #expect(acknowledged(session.received(ping(last: 3), at: at(2))) == [1, 2])
        #expect(session.capacity == MCSServerConfiguration().windowLimit - 1)
    }

    @Test func `iOS: its own version, a ping at once, and a goodbye`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 40)
        _ = session.received(login(), at: at(0))
        #expect(session.received(ping(last: 0), at: at(0)) == [])
        let answered = session.loginAnswered(.welcome, at: at(1))
        #expect(answered.first == .sendVersion(40))
        #expect(packets(answered).map(\.tag) == [.loginResponse, .heartbeatAck])
        #expect(session.received(.close, at: at(2)) == [.close(.peer)])
    }

    @Test func `a heartbeat with a status and a stream id of its own is a heartbeat`() {
        var session = live()
        var ping = MCSHeartbeatPing()
        ping.status = 1
        ping.streamID = 77
        let answer = packets(session.received(.heartbeatPing(ping), at: at(1)))
        #expect(answer.map(\.tag) == [.heartbeatAck])
        #expect(answer.first?.lastStreamIDReceived == 2)
    }

    @Test func `a packet of a kind that is not used any more counts as one`() {
        var session = live()
        #expect(session.received(.historic(.httpRequest), at: at(1)) == [])
        #expect(packets(session.received(ping(), at: at(2))).first?.lastStreamIDReceived == 3)
    }

    @Test func `an extension that nobody knows, and an answer without one, are passed over`() {
        var session = live()
        var unknown = MCSIqStanza()
        unknown.type = .set
        unknown.extension.id = 99
        unknown.extension.data = Data([1, 2, 3])
        #expect(session.received(.iq(unknown), at: at(1)) == [])
        #expect(session.received(.iq(MCSIqStanza()), at: at(1)) == [])
        unknown.extension.id = 12
        unknown.extension.data = Data([0xFF])
        #expect(session.received(.iq(unknown), at: at(1)) == [])
        #expect(!session.isClosed)
    }

    // MARK: Overload

    @Test func `a login that comes at a bad time is told when to come again`() {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        _ = session.received(login(), at: at(0))
        let directives = session.loginAnswered(.busy(retryAfter: 4321), at: at(0))
        guard case .loginResponse(let response)? = packets(directives).first else { return #expect(Bool(false)) }
        #expect(response.error.code == 503)
        #expect(response.setting.map { "\($0.name)=\($0.value)" } == ["retry_after_ms=4321"])
        #expect(directives.last == .close(.busy))
        var client = MCSClientSession(at: at(0))
        _ = client.start(MCSCredentials(device: DeviceID(4242)!, secret: 99, received: []))
        _ = client.received(version: 41)
        #expect(client.received(.loginResponse(response), at: at(1)) == [.close(.busy(retryAfter: 4321))])
    }

    @Test(arguments: ["", "x", "-1", "0", "99999999999999999999"])
    func `a moment that is none is a refusal like any other`(value: String) {
        var response = MCSLoginResponse()
        response.error.code = 503
        var setting = MCSSetting()
        setting.name = "retry_after_ms"
        setting.value = value
        response.setting = [setting]
        var client = MCSClientSession(at: at(0))
        _ = client.start(MCSCredentials(device: DeviceID(4242)!, secret: 99, received: []))
        _ = client.received(version: 41)
        #expect(
            client.received(.loginResponse(response), at: at(1)) == [.close(.loginRefused(code: 503, message: ""))])
    }
}

import DeviceChannel
import PushCore
import Testing

private func data(_ value: Int64) -> MCSPacket {
    .dataMessage(MCSDataMessageStanza(notification(value), now: at(0).wall))
}

private func loginResponse(last: Int32 = 1, interval: Int32? = nil) -> MCSPacket {
    var response = MCSLoginResponse()
    response.id = "aldaba"
    response.serverTimestamp = 77
    response.lastStreamIDReceived = last
    if let interval { response.heartbeatConfig.intervalMs = interval }
    return .loginResponse(response)
}

@Suite struct MCSClientSessionTests {
    private func started(received: [Int64] = []) -> MCSClientSession {
        var session = MCSClientSession(at: at(0))
        _ = session.start(MCSCredentials(device: DeviceID(4242)!, secret: 99, received: received.map(id)))
        _ = session.received(version: 41)
        return session
    }

    private func live(received: [Int64] = []) -> MCSClientSession {
        var session = started(received: received)
        _ = session.received(loginResponse(), at: at(0))
        return session
    }

    // MARK: Login

    @Test func `it begins with its version and a login that names what it has`() {
        var session = MCSClientSession(at: at(0))
        let directives = session.start(MCSCredentials(device: DeviceID(4242)!, secret: 99, received: [id(5), id(6)]))
        #expect(directives.first == .sendVersion(41))
        guard case .login(let request)? = packets(directives).first else { return #expect(Bool(false)) }
        #expect(request.user == "4242" && request.authToken == "99" && request.receivedPersistentID == ["5", "6"])
        #expect(request.useRmq2 && request.authService == .androidID)
    }

    @Test func `a login's answer confirms what the login named`() {
        var session = started(received: [5, 6])
        let directives = session.received(loginResponse(), at: at(1))
        #expect(directives == [.loggedIn(serverTime: Timestamp(rawValue: 77)), .confirmed([id(5), id(6)])])
        #expect(session.isLive && session.canSendUpstream)
    }

    @Test func `an error in the answer ends it with code and text`() {
        var session = started()
        var response = MCSLoginResponse()
        response.error.code = 401
        response.error.message = "no"
        #expect(
            session.received(.loginResponse(response), at: at(1)) == [.close(.loginRefused(code: 401, message: "no"))])
    }

    @Test func `a login without an answer ends after thirty seconds`() {
        var session = started()
        #expect(session.deadline == 30_000 && session.tick(at: at(29_999)) == [])
        #expect(session.tick(at: at(30_000)) == [.close(.loginTimedOut)])
    }

    @Test func `anything else before the answer ends it`() {
        var session = started()
        guard case .close(.protocolViolation)? = session.received(data(1), at: at(1)).first else {
            return #expect(Bool(false))
        }
        var other = MCSClientSession(at: at(0))
        #expect(other.received(version: 7) == [.close(.unsupportedVersion(7))])
    }

    // MARK: Receiving

    @Test func `what one read brought is stored together and acknowledged when it is stored`() {
        var session = live()
        #expect(session.received(data(1), at: at(1)) == [] && session.received(data(2), at: at(1)) == [])
        #expect(session.readCompleted() == [.store(notifications(1...2))])
        let acks = packets(session.acknowledge([id(1), id(2)]))
        #expect(acks.map(\.tag) == [.iqStanza] && acks.first?.lastStreamIDReceived == 3)
        guard case .iq(let iq)? = acks.first else { return }
        #expect(iq.acknowledgement == .stream)
    }

    @Test func `only the contiguous beginning is acknowledged`() {
        var session = live()
        for value in 1...3 { _ = session.received(data(Int64(value)), at: at(1)) }
        #expect(session.acknowledge([id(2), id(3)]) == [])
        #expect(packets(session.received(ping(), at: at(1))).first?.lastStreamIDReceived == 1)
        // The ping was the fifth packet; nothing before it is missing once the first is stored.
        #expect(packets(session.acknowledge([id(1)])).first?.lastStreamIDReceived == 5)
    }

    @Test func `an id is forgotten only when the packet that acknowledged it is confirmed`() {
        var session = live()
        _ = session.received(data(1), at: at(1))
        _ = session.acknowledge([id(1)])
        #expect(session.received(ping(last: 1), at: at(2)).count == 1)
        #expect(session.received(ping(last: 2), at: at(2)).first == .confirmed([id(1)]))
    }

    @Test func `a stanza that is no notification is passed over and acknowledged`() {
        var session = live()
        var stanza = MCSDataMessageStanza()
        stanza.persistentID = "0:1%a"
        guard case .passedOver("0:1%a", _)? = session.received(.dataMessage(stanza), at: at(1)).first else {
            return #expect(Bool(false))
        }
        #expect(packets(session.readCompleted()).first?.lastStreamIDReceived == 2)
    }

    @Test func `reading stops while too much waits to be stored`() {
        var configuration = MCSClientConfiguration()
        configuration.unstoredLimit = 2
        var session = MCSClientSession(configuration: configuration, at: at(0))
        _ = session.start(MCSCredentials(device: DeviceID(1)!, secret: 1, received: []))
        _ = session.received(version: 41)
        _ = session.received(loginResponse(), at: at(0))
        _ = session.received(data(1), at: at(1))
        #expect(session.wantsRead)
        _ = session.received(data(2), at: at(1))
        #expect(!session.wantsRead)
        _ = session.acknowledge([id(1)])
        #expect(session.wantsRead)
    }

    // MARK: Upstream

    private func upstream(_ persistentID: String) -> MCSDataMessageStanza {
        guard case .dataMessage(let stanza) = receipts(persistentID) else { return MCSDataMessageStanza() }
        return stanza
    }

    @Test func `upstream stanzas are confirmed by stream id or by name`() {
        var session = live()
        for name in ["a", "b", "c"] { #expect(session.send(upstream(name)) != nil) }
        let selective = MCSPacket.iq(MCSIqStanza(.selective(["b", "zzz"])))
        // What it did not send over this connection it may have sent over an earlier one.
        #expect(session.received(selective, at: at(1)) == [.upstreamConfirmed(["b", "zzz"])])
        #expect(session.received(streamAck(2), at: at(1)) == [.upstreamConfirmed(["a"])])
        #expect(session.received(streamAck(4), at: at(1)) == [.upstreamConfirmed(["c"])])
    }

    @Test func `a refusal is told before the server is done with what it refused`() {
        var session = live()
        for name in ["a", "b"] { #expect(session.send(upstream(name)) != nil) }
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        var iq = MCSIqStanza(refusal, of: "b")
        iq.lastStreamIDReceived = 3
        #expect(
            session.received(.iq(iq), at: at(1))
                == [.upstreamRefused(persistentID: "b", refusal), .upstreamConfirmed(["a", "b"])])
    }

    @Test func `only so many upstream stanzas may be unconfirmed`() {
        var session = live()
        for number in 0..<16 { #expect(session.send(upstream("\(number)")) != nil) }
        #expect(session.send(upstream("one more")) == nil)
        _ = session.received(streamAck(2), at: at(1))
        #expect(session.send(upstream("one more")) != nil)
        var closed = started()
        #expect(closed.send(upstream("early")) == nil)
    }

    // MARK: Heartbeats and ends

    @Test func `a probe asks at once, once, and silence after it ends the session`() {
        var session = started()
        #expect(session.probe(at: at(0)) == [], "nobody is logged in")
        _ = session.received(loginResponse(interval: 500_000), at: at(0))
        #expect(packets(session.probe(at: at(1000))).map(\.tag) == [.heartbeatPing])
        #expect(session.probe(at: at(1001)) == [])
        #expect(session.deadline == 61_000)
        #expect(session.tick(at: at(61_000)) == [.close(.silent)])
    }

    @Test func `silence brings a heartbeat at the server's interval, and an end if it is not answered`() {
        var session = started()
        _ = session.received(loginResponse(interval: 5000), at: at(0))
        #expect(session.deadline == 5000)
        #expect(packets(session.tick(at: at(5000))).map(\.tag) == [.heartbeatPing])
        #expect(session.deadline == 65_000)
        var answered = session
        #expect(session.tick(at: at(65_000)) == [.close(.silent)])
        _ = answered.received(.heartbeatAck(MCSHeartbeatAck()), at: at(6000))
        #expect(answered.deadline == 11_000)
    }

    @Test func `a confirmation of what was never sent ends it`() {
        var session = live()
        guard case .close(.protocolViolation)? = session.received(ping(last: 9), at: at(1)).first else {
            return #expect(Bool(false))
        }
    }

    @Test func `the server's goodbye and errors end it with their reason, and nothing follows`() {
        var session = live()
        #expect(session.received(.close, at: at(1)) == [.close(.closedByServer)])
        #expect(session.received(data(1), at: at(1)) == [] && session.readCompleted() == [])
        var other = live()
        var error = MCSStreamErrorStanza()
        error.type = "t"
        error.text = "x"
        #expect(other.received(.streamError(error), at: at(1)) == [.close(.streamError(type: "t", text: "x"))])
        var ended = live()
        #expect(ended.end() == [.send(.close), .close(.ended)])
        #expect(ended.failed(.disconnected("later")) == [])
    }
}

import PushCore
import Testing
import WebPushProtocol

/// A browser's session: which message may come when, and what is sent to whom.
@Suite struct AutopushSessionTests {
    private static let uuid = "0e8f1b2a-1c3d-4e5f-8a9b-0c1d2e3f4a5b"
    private let channel = PushChannelID(text: AutopushSessionTests.uuid)!  // The text has the form.
    private let client = PushClientID(device: DeviceID(7)!, secret: 9)  // 7 is a device's number.
    private let hello = #"{"messageType":"hello","use_webpush":true}"#
    private let register = #"{"messageType":"register","channelID":"\#(AutopushSessionTests.uuid)"}"#

    private func receive(
        _ text: String, _ session: inout AutopushSession, at uptime: Int64 = 0
    ) -> [AutopushSession.Directive] { session.received(Array(text.utf8), at: uptime) }

    private func live(at uptime: Int64 = 0) -> AutopushSession {
        var session = AutopushSession(at: uptime)
        _ = receive(hello, &session, at: uptime)
        _ = session.openingAnswered(.opened(client), at: uptime)
        return session
    }

    private func notification(_ id: Int64, isStored: Bool = true) -> (OutgoingNotification, ChannelMessage) {
        let message = ChannelMessage(channel: channel, envelope: WebPushEnvelope(contentEncoding: "", body: []))
        let notification = OutgoingNotification(
            id: NotificationID(rawValue: id), apnsID: APNsID(rawValue: "a"), team: TeamID(rawValue: "TEAM123456"),
            topic: Topic(rawValue: "web-push"), environment: .sandbox, lane: .apns, pushType: nil, priority: .immediate,
            collapseID: nil, acceptedAt: Timestamp(seconds: 0), expiresAt: isStored ? Timestamp(seconds: 60) : nil,
            payload: message.bytes)
        return (notification, message)
    }

    @Test func `a known client is served at once, a new one from its first subscription on`() {
        var known = AutopushSession(at: 0)
        let text = #"{"messageType":"hello","use_webpush":true,"uaid":"\#(client.text)"}"#
        #expect(receive(text, &known) == [.open(client)])
        #expect(known.openingAnswered(.opened(client), at: 0) == [.send(.hello(client)), .began])
        #expect(known.isLive)

        var new = AutopushSession(at: 0)
        #expect(receive(hello, &new) == [.open(nil)])
        #expect(new.openingAnswered(.drawn(client), at: 0) == [.send(.hello(client))])
        #expect(!new.isLive)
        #expect(receive(register, &new) == [.register(channel, key: nil)])
        let registered = AutopushSession.Registration.registered(channel, address: "https://a/b")
        #expect(
            new.registrationAnswered(registered, at: 0)
                == [.send(.registered(channel: channel, address: "https://a/b")), .began])
        #expect(new.isLive)
    }

    @Test func `a client that is not served is told why, and the connection ends`() {
        var refused = AutopushSession(at: 0)
        _ = receive(hello, &refused)
        #expect(
            refused.openingAnswered(.refused("no"), at: 0)
                == [.send(.helloRefused(status: 401, reason: "no")), .close(.revoked)])
        var unavailable = AutopushSession(at: 0)
        _ = receive(hello, &unavailable)
        #expect(unavailable.openingAnswered(.unavailable, at: 0) == [.close(.unavailable)])
        #expect(unavailable.isClosed && unavailable.deadline == nil)
        #expect(receive(register, &unavailable).isEmpty)
    }

    @Test(arguments: [
        (#"{"messageType":"ack","updates":[]}"#, "the first message must be hello"),
        ("{}", "the first message must be hello"),
        ("[", "a message must be a JSON object"),
    ])
    func `the first message is hello`(text: String, reason: String) {
        var session = AutopushSession(at: 0)
        guard case .close(.violation(let said)) = receive(text, &session).first else {
            Issue.record("the connection stays open")
            return
        }
        #expect(said.contains(reason) && session.isClosed)
    }

    @Test func `a second hello ends the connection`() {
        var session = live()
        #expect(receive(hello, &session) == [.close(.violation("hello was sent before"))])
    }

    @Test func `messages wait while a request waits for the register, and are answered in order`() {
        var session = live()
        #expect(receive(register, &session) == [.register(channel, key: nil)])
        #expect(session.wantsRead)
        #expect(receive("{}", &session).isEmpty)
        #expect(!session.wantsRead)
        #expect(receive(#"{"messageType":"unregister","channelID":"\#(Self.uuid)"}"#, &session).isEmpty)
        #expect(receive("{}", &session).isEmpty)
        let refusal = AutopushSession.Registration.refused(channel, status: 400, reason: "no")
        #expect(
            session.registrationAnswered(refusal, at: 0) == [
                .send(.registerRefused(channel: Self.uuid, status: 400, reason: "no")), .send(.ping),
                .unregister(channel),
            ])
        #expect(!session.wantsRead)
        #expect(
            session.unregistrationAnswered(channel, at: 0)
                == [.send(.unregistered(channel: Self.uuid, status: 200)), .send(.ping)])
        #expect(session.wantsRead)
    }

    @Test func `what needs no register is answered at once`() {
        var session = live()
        #expect(receive("{}", &session) == [.send(.ping)])
        #expect(receive(#"{"messageType":"broadcast_subscribe"}"#, &session) == [.send(.broadcast)])
        let refused = receive(#"{"messageType":"register","channelID":"no"}"#, &session)
        guard case .send(.registerRefused("no", 401, _)) = refused.first else {
            Issue.record("an id in another form is taken")
            return
        }
        #expect(
            receive(#"{"messageType":"unregister","channelID":"no"}"#, &session)
                == [.send(.unregistered(channel: "no", status: 200))])
    }

    @Test func `a message counts against the window until it is acknowledged`() {
        var configuration = AutopushSession.Configuration()
        configuration.windowLimit = 3
        var session = AutopushSession(configuration: configuration, at: 0)
        #expect(session.send([notification(1)], now: Timestamp(seconds: 0)).isEmpty, "nobody is served yet")
        _ = receive(hello, &session)
        _ = session.openingAnswered(.opened(client), at: 0)
        let sent = session.send([notification(1), notification(2, isStored: false)], now: Timestamp(seconds: 10))
        let message = notification(1).1
        #expect(
            sent == [
                .send(.notification(message, version: "1", ttl: 50)),
                .send(.notification(message, version: "2", ttl: 0)),
            ])
        #expect(session.capacity == 1)
        #expect(session.unacknowledgedAttempts.map(\.rawValue) == [2])
        let ack =
            #"{"messageType":"ack","updates":[{"version":"1"},{"version":"2","code":101},{"version":"9","code":102},"#
            + #"{"version":"none"}]}"#
        let (first, second, other) = (
            NotificationID(rawValue: 1), NotificationID(rawValue: 2), NotificationID(rawValue: 9)
        )
        // The third was sent on an earlier connection.
        #expect(
            receive(ack, &session) == [
                .acknowledged([first, other]), .attemptsAcknowledged([second]),
                .report([.init(id: first, outcome: .delivered), .init(id: second, outcome: .notDecrypted)]),
            ])
        #expect(
            receive(ack, &session) == [.acknowledged([first, second, other])],
            "what is said again is not reported again")
        #expect(session.capacity == 3 && session.unacknowledgedAttempts.isEmpty)
    }

    @Test(arguments: [true, false])
    func `a worker that failed is reported once, before the acknowledgement or after it`(isAfter: Bool) {
        var session = live()
        let nack = #"{"messageType":"nack","version":"4","code":301}"#
        let ack = #"{"messageType":"ack","updates":[{"version":"4"}]}"#
        #expect(receive(nack, &session).isEmpty, "it was not sent")
        _ = session.send([notification(4)], now: Timestamp(seconds: 0))
        if isAfter { _ = receive(ack, &session) }
        let report = AutopushSession.Receipt(id: NotificationID(rawValue: 4), outcome: .workerFailed(301))
        #expect(receive(nack, &session) == [.report([report])])
        #expect(receive(nack, &session).isEmpty)
        if !isAfter { _ = receive(ack, &session) }
        #expect(receive(nack, &session).isEmpty)
        #expect(receive(#"{"messageType":"nack","version":"x","code":301}"#, &session).isEmpty)
    }

    @Test func `a message whose worker failed is not reported as shown`() {
        var session = live()
        _ = session.send([notification(4)], now: Timestamp(seconds: 0))
        _ = receive(#"{"messageType":"nack","version":"4","code":301}"#, &session)
        #expect(
            receive(#"{"messageType":"ack","updates":[{"version":"4"}]}"#, &session)
                == [.acknowledged([NotificationID(rawValue: 4)])])
    }

    @Test func `nothing more is read while many acknowledgements wait for the store`() {
        var configuration = AutopushSession.Configuration()
        configuration.recordLimit = 2
        var session = AutopushSession(configuration: configuration, at: 0)
        _ = receive(hello, &session)
        _ = session.openingAnswered(.opened(client), at: 0)
        for number: Int64 in 1...2 {
            #expect(session.wantsRead)
            _ = receive(#"{"messageType":"ack","updates":[{"version":"\#(number)"}]}"#, &session)
        }
        #expect(!session.wantsRead)
        session.acknowledgementRecorded()
        #expect(session.wantsRead)
    }

    @Test func `a client that acknowledges too much that was not sent is closed`() {
        var configuration = AutopushSession.Configuration()
        configuration.foreignLimit = 2
        var session = AutopushSession(configuration: configuration, at: 0)
        _ = receive(hello, &session)
        _ = session.openingAnswered(.opened(client), at: 0)
        let ack = #"{"messageType":"ack","updates":[{"version":"1"},{"version":"2"}]}"#
        #expect(receive(ack, &session) == [.acknowledged([NotificationID(rawValue: 1), NotificationID(rawValue: 2)])])
        guard case .close(.violation) = receive(ack, &session).first else {
            Issue.record("the connection stays open")
            return
        }
    }

    @Test func `a message that another code ended is not acknowledged as delivered`() {
        var session = live()
        _ = session.send([notification(1), notification(2)], now: Timestamp(seconds: 0))
        let ack = #"{"messageType":"ack","updates":[{"version":"1","code":102},{"version":"2","code":100}]}"#
        let (first, second) = (NotificationID(rawValue: 1), NotificationID(rawValue: 2))
        #expect(
            receive(ack, &session) == [
                .acknowledged([first, second]),
                .report([.init(id: first, outcome: .notDelivered), .init(id: second, outcome: .delivered)]),
            ])
    }

    @Test func `a client that says no hello, or answers no ping, is given up`() {
        var silent = AutopushSession(at: 100)
        #expect(silent.deadline == 10_100)
        #expect(silent.tick(at: 10_099).isEmpty)
        // A frame that is no message is no hello.
        silent.receivedFrame(at: 5_000)
        #expect(silent.tick(at: 10_100) == [.close(.timeout)])

        var session = live(at: 0)
        #expect(session.deadline == 300_000)
        _ = receive("{}", &session, at: 1_000)
        #expect(session.tick(at: 300_000).isEmpty)
        #expect(session.tick(at: 301_000) == [.ping])
        #expect(session.deadline == 311_000)
        session.receivedFrame(at: 305_000)
        #expect(session.deadline == 605_000)
        #expect(session.tick(at: 605_000) == [.ping])
        #expect(session.tick(at: 615_000) == [.close(.timeout)])
        #expect(session.end(.stopping).isEmpty, "it has ended")
    }

    @Test func `every reason has a code that may be sent`() {
        let reasons: [AutopushSession.Reason] = [
            .violation("x"), .timeout, .superseded, .revoked, .stopping, .unavailable, .closedByClient,
        ]
        for reason in reasons {
            #expect([1000, 1001, 1008, 1013].contains(reason.closing.code))
            #expect(reason.closing.text.utf8.count <= 123)
        }
    }
}

import CoreValues
import Foundation
import RelayAgent
import RelayProtocol
import Testing

@Suite struct RelayQueuedMessageTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    private static let there = RelayDevice(id: "9", name: "there", kind: "phone", presence: .offline)
    private static let here = RelayDevice(id: "1", name: "here", kind: "desktop")
    private static let age: Int64 = 86_400_000

    private mutating func connect(presence: RelayPresence = .offline) {
        var there = Self.there
        there.presence = presence
        _ = host.sessionOpened(at: 0)
        _ = host.received(.welcome(device: "1", revision: 1, devices: [Self.here, there]), at: 0)
    }

    @discardableResult private mutating func ask(
        _ request: RelayRequest, client: ClientNumber = 1, app: String = "a.b", terminal: Bool = false,
        at now: Timestamp = 0
    ) -> [Host.Directive] {
        host.take(request, from: client, app: app, name: "A", isTerminal: terminal, at: now)
    }

    private static func tell(_ id: UUID, device: String = "9", deadline: Int64? = nil) -> RelayRequest {
        .command(
            request: 5, id: id, device: device, deadline: deadline,
            .tell(app: "x", service: "s", message: ["n": 1]))
    }

    private func answers(_ directives: [Host.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .tell(_, .answered(_, _, let outcome)) = $0 { outcome } else { nil } }
    }

    private func asked(_ directives: [Host.Directive]) -> [(call: Int64, id: UUID)] {
        directives.compactMap {
            guard case .tell(_, .asked(let call, let id, "9", _, let asked)) = $0, asked.isOneWay else { return nil }
            return (call, id)
        }
    }

    private func kept(_ directives: [Host.Directive]) -> [ReceivedMessage] {
        directives.compactMap { if case .keep(let queuedMessage) = $0 { queuedMessage } else { nil } }
    }

    private func confirmed(_ directives: [Host.Directive]) -> [UUID] {
        directives.compactMap { if case .send(.queuedMessageTaken("9", let id)) = $0 { id } else { nil } }
    }

    private func ends(_ directives: [Host.Directive]) throws -> [RelayStatus] {
        try directives.compactMap {
            guard case .send(.route(let route)) = $0, case .outcome(_, let outcome) = try RelayContent(route.body)
            else { return nil }
            return outcome.status
        }
    }

    private mutating func life(of id: UUID, at now: Timestamp = 0) -> [RelayNotice] {
        ask(.life(request: 8, id: id), at: now).compactMap {
            if case .tell(_, let notice) = $0 { notice } else { nil }
        }
    }

    private mutating func publish(
        _ access: RelayService.Access = .sameUser, client: ClientNumber = 2, app: String = "x"
    ) {
        ask(
            .publish(
                request: 1, services: [RelayService(name: "s", access: access)], schemes: [], attributes: [:]),
            client: client, app: app)
    }

    private mutating func arrive(
        _ id: UUID, app: String = "x", deadline: Int64 = 100_000, at now: Timestamp = 0
    ) throws -> [Host.Directive] {
        let call = RelayContent.call(RelayCall(app: app, service: "s", caller: "c", message: ["n": 1]))
        return host.received(
            .queuedMessage(QueuedMessage(peer: "9", id: id, deadline: deadline, body: try call.encoded())), at: now)
    }

    // MARK: Telling

    @Test("What is told to a device that is away is answered once the server keeps it, and is sent from then on")
    mutating func telling() throws {
        connect()
        let id = UUID()
        let sent = ask(Self.tell(id))
        let queuedMessages = sent.compactMap {
            if case .send(.queuedMessage(let queuedMessage)) = $0 { queuedMessage } else { nil }
        }
        #expect(queuedMessages.map(\.deadline) == [Self.age] && queuedMessages.map(\.peer) == ["9"])
        #expect(answers(sent).isEmpty)
        #expect(answers(host.received(.queuedMessageKept(id), at: 1)).map(\.status) == [.success])
        // Whoever told it may go; it waits all the same.
        #expect(!host.removeClient(1, at: 2).contains { if case .send = $0 { true } else { false } })
        #expect(life(of: id) == [.life(request: 8, .sent, nil)])
        let outcome = try RelayContent.outcome(command: id, RelayOutcome(.denied)).encoded()
        let route = RelayRoute(peer: "9", id: UUID(), deadline: nil, body: outcome)
        _ = host.received(.route(route), at: 3)
        #expect(life(of: id) == [.life(request: 8, .failed, .denied)])
    }

    @Test("What cannot be told is answered at once, and what the server refuses with its reason")
    mutating func refusals() {
        let id = UUID()
        #expect(answers(ask(Self.tell(id))).map(\.status) == [.networkUnavailable])
        connect()
        #expect(answers(ask(Self.tell(id, device: "7"))).map(\.status) == [.unknownDevice])
        #expect(answers(ask(Self.tell(id, deadline: 29 * Self.age))).map(\.status) == [.failed])
        for (reason, status) in [
            (RelayUndelivered.full, RelayStatus.resourceLimits), (.notKept, .notDelivered),
            (.untrusted, .notAuthorized), (.expired, .expired),
        ] {
            ask(Self.tell(id))
            #expect(answers(host.received(.undelivered(id: id, reason), at: 1)).map(\.status) == [status])
        }
        // That the device goes away means nothing to it; that the path to the server does, does.
        ask(Self.tell(id))
        #expect(answers(host.received(.interrupted(device: "9"), at: 1)).isEmpty)
        #expect(answers(host.sessionClosed(at: 2)).map(\.status) == [.outcomeUnknown])
    }

    @Test(
        "A queued message that waits is taken back by its app or a terminal, and by nobody else; one that expires is told"
    )
    mutating func recalling() {
        connect()
        let id = UUID()
        ask(Self.tell(id))
        _ = host.received(.queuedMessageKept(id), at: 1)
        #expect(answers(ask(.cancel(request: 6, id: id), client: 4, app: "other")).map(\.status) == [.failed])
        let asked = ask(.cancel(request: 6, id: id), client: 3, terminal: true)
        #expect(asked.contains(.send(.recall(device: "9", id: id))))
        #expect(answers(asked).isEmpty)
        #expect(answers(host.received(.recalled(id: id, didWait: false), at: 2)).map(\.status) == [.failed])
        #expect(life(of: id) == [.life(request: 8, .sent, nil)])
        ask(.cancel(request: 6, id: id))
        #expect(answers(host.received(.recalled(id: id, didWait: true), at: 2)).map(\.status) == [.success])
        #expect(life(of: id) == [.life(request: 8, .cancelled, .cancelled)])
        let other = UUID()
        ask(Self.tell(other))
        _ = host.received(.queuedMessageKept(other), at: 1)
        _ = host.received(.undelivered(id: other, .expired), at: 9)
        #expect(
            life(of: other) == [.life(request: 8, .expired, .expired, "its deadline came before it reached the device")]
        )
    }

    // MARK: Taking

    @Test(
        "QueuedMessages for one app come one after the other; each is confirmed once it is written down, and told once")
    mutating func taking() throws {
        connect(presence: .online)
        publish()
        let ids = [UUID(), UUID()]
        let first = asked(try arrive(ids[0]))
        #expect(first.map(\.id) == [ids[0]])
        #expect(asked(try arrive(ids[1])).isEmpty)
        // What comes again meanwhile, as in a new session with the server, is not given again.
        #expect(try arrive(ids[0]).isEmpty)
        let answered = ask(
            .answer(call: first[0].call, RelayOutcome(.success, message: ["x": 1])), client: 2, app: "x")
        #expect(kept(answered).map(\.status) == [.success])
        #expect(asked(answered).map(\.id) == [ids[1]])
        #expect(confirmed(answered).isEmpty)
        #expect(try ends(answered).isEmpty)
        let written = host.kept(kept(answered), isWritten: true, at: 1)
        #expect(confirmed(written) == [ids[0]])
        #expect(try ends(written) == [.success])
        let again = try arrive(ids[0])
        #expect(asked(again).isEmpty && confirmed(again) == [ids[0]])
        #expect(try ends(again) == [.success])
    }

    @Test("An agent that begins anew gives nothing again of which it is written down that it was taken")
    mutating func anew() throws {
        let (old, new) = (UUID(), UUID())
        host.restoreReceived(
            [ReceivedMessage(key: QueuedMessageKey(sender: "9", id: old), until: 500, status: .failed)], at: 1)
        connect(presence: .online)
        publish()
        let again = try arrive(old)
        #expect(asked(again).isEmpty && confirmed(again) == [old])
        #expect(try ends(again) == [.failed])
        #expect(asked(try arrive(new)).map(\.id) == [new])
    }

    @Test("Attempts of earlier runs of the agent count, and end a message that was given three times", arguments: 0...3)
    mutating func attempts(_ earlier: Int) throws {
        let id = UUID()
        let attempt = DeliveryAttempt(key: QueuedMessageKey(sender: "9", id: id), until: 100_000)
        host.restoreReceived([], attempts: Array(repeating: attempt, count: earlier), at: 0)
        connect(presence: .online)
        publish()
        var came = try arrive(id)
        var tries = 0
        for (last, next) in [(2, 3), (3, 4), (4, 5)] as [(ClientNumber, ClientNumber)] {
            guard !asked(came).isEmpty else { break }
            tries += 1
            #expect(came.contains(.keepAttempt(attempt)))
            came = host.removeClient(last, at: 0)
            let services = [RelayService(name: "s", access: .sameUser)]
            came += ask(
                .publish(request: 1, services: services, schemes: [], attributes: [:]), client: next, app: "x")
        }
        #expect(tries == 3 - earlier && kept(came).map(\.status) == [.outcomeUnknown])
    }

    @Test("What was not written down is not confirmed, and not given again while the agent runs")
    mutating func notWritten() throws {
        connect(presence: .online)
        publish()
        let id = UUID()
        let call = try #require(asked(try arrive(id)).first?.call)
        let queuedMessages = kept(ask(.answer(call: call, RelayOutcome(.success)), client: 2, app: "x"))
        #expect(confirmed(host.kept(queuedMessages, isWritten: false, at: 1)).isEmpty)
        #expect(asked(try arrive(id)).isEmpty)
    }

    @Test(
        "A queued message whose app is not there, or that may not come, or comes too late, or is none, ends with its reason"
    )
    mutating func ends() throws {
        connect(presence: .online)
        #expect(kept(try arrive(UUID())).map(\.status) == [.appNotInstalled])
        publish(.off)
        #expect(kept(try arrive(UUID())).map(\.status) == [.serviceUnavailable])
        #expect(kept(try arrive(UUID(), deadline: 5, at: 5)).map(\.status) == [.expired])
        ask(.manage(request: 1, .deny(device: "9", app: "x", service: "s")), client: 3, terminal: true)
        publish()
        #expect(kept(try arrive(UUID())).map(\.status) == [.notAuthorized])
        let broken = host.received(.queuedMessage(QueuedMessage(peer: "9", id: UUID(), deadline: 9, body: [])), at: 0)
        #expect(confirmed(broken).count == 1 && kept(broken).isEmpty)
    }

    @Test("An app that does not run is started, and then given its queued messages in their order")
    mutating func starting() throws {
        connect(presence: .online)
        publish()
        _ = host.removeClient(2, at: 0)
        let ids = (0..<3).map { _ in UUID() }
        let came = try ids.flatMap { try arrive($0) }
        #expect(came.filter { $0 == .start(app: "x") }.count == 1)
        // One that ends before it has offered the service costs no queued message.
        #expect(kept(host.notRunning(app: "x", at: 1)).isEmpty)
        publish(client: 4)
        var given: [UUID] = []
        var next = asked(
            ask(
                .publish(
                    request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]),
                client: 5, app: "y"))
        #expect(next.isEmpty)
        // The first is asked by now; its answer brings the next.
        for call in 1...20 where given.count < 3 {
            next = asked(ask(.answer(call: Int64(call), RelayOutcome(.success)), client: 4, app: "x"))
            given += next.map(\.id)
        }
        #expect(given == Array(ids.dropFirst()))
    }

    @Test("An app that ends before it has confirmed is given its queued message again, three times at most")
    mutating func appEnds() throws {
        connect(presence: .online)
        publish()
        let id = UUID()
        #expect(asked(try arrive(id)).count == 1)
        for (last, client) in [(2, 3), (3, 4)] as [(ClientNumber, ClientNumber)] {
            #expect(kept(host.removeClient(last, at: 0)).isEmpty)
            let begun = host.take(
                .publish(
                    request: 1, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]),
                from: client, app: "x", name: "A", isTerminal: false, at: 0)
            #expect(asked(begun).map(\.id) == [id])
        }
        #expect(kept(host.removeClient(4, at: 0)).map(\.status) == [.outcomeUnknown])
    }

    @Test("While too much is under way here a queued message waits for its turn; it does not end")
    mutating func busy() throws {
        connect(presence: .online)
        publish()
        let call = try RelayContent.call(RelayCall(app: "x", service: "s", caller: "c", message: [:])).encoded()
        var calls: [Int64] = []
        for _ in 0..<256 {
            let route = RelayRoute(peer: "9", id: UUID(), deadline: 90_000, body: call)
            for case .tell(2, .asked(let number, _, _, _, _)) in host.received(.route(route), at: 0) {
                calls.append(number)
            }
        }
        #expect(calls.count == 256)
        let ids = [UUID(), UUID()]
        for id in ids {
            let came = try arrive(id)
            #expect(asked(came).isEmpty && kept(came).isEmpty)
        }
        let first = asked(ask(.answer(call: calls[0], RelayOutcome(.success)), client: 2, app: "x"))
        #expect(first.map(\.id) == [ids[0]])
        let second = ask(.answer(call: try #require(first.first?.call), RelayOutcome(.success)), client: 2, app: "x")
        #expect(asked(second).map(\.id) == [ids[1]])
    }

    @Test("A sender that is away hears of its queued message's end when it is back")
    mutating func senderAway() throws {
        connect()
        let id = UUID()
        let queuedMessages = kept(try arrive(id))
        let written = host.kept(queuedMessages, isWritten: true, at: 1)
        #expect(confirmed(written) == [id])
        #expect(try ends(written).isEmpty)
        var there = Self.there
        there.presence = .online
        let told = host.received(.changed(revision: 2, there), at: 2)
        #expect(try ends(told) == [.appNotInstalled])
        #expect(try ends(host.received(.changed(revision: 3, there), at: 3)).isEmpty)
        // It was not there after all: it hears of it when it is.
        let routes = told.compactMap { if case .send(.route(let route)) = $0 { route.id } else { nil } }
        let notTold = RelayFrame.undelivered(id: try #require(routes.last), .unavailable)
        #expect(try ends(host.received(notTold, at: 4)).isEmpty)
        #expect(try ends(host.received(.changed(revision: 5, there), at: 5)) == [.appNotInstalled])
    }
}

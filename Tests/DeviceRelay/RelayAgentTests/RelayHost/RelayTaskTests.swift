import CoreValues
import Foundation
import RelayAgent
import RelayProtocol
import Testing

/// What becomes of commands of other devices that are carried out here.
@Suite struct RelayTaskTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    private mutating func connect(at now: Timestamp = 0) {
        _ = host.sessionOpened(at: now)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        let there = RelayDevice(id: "9", name: "there", kind: "phone")
        _ = host.received(.welcome(device: "1", revision: 1, devices: [here, there]), at: now)
    }

    @discardableResult private mutating func ask(_ request: RelayRequest, at now: Timestamp = 0) -> [Host.Directive] {
        host.take(request, from: 1, app: "a.b", name: "A", isTerminal: false, at: now)
    }

    private mutating func arrive(
        _ content: RelayContent, id: UUID, deadline: Int64? = 1000, at now: Timestamp = 0
    ) throws -> [Host.Directive] {
        host.received(
            .route(RelayRoute(peer: "9", id: id, deadline: deadline, body: try content.encoded())), at: now)
    }

    private func replies(_ directives: [Host.Directive]) throws -> [RelayOutcome] {
        try directives.compactMap {
            guard case .send(.route(let route)) = $0, case .outcome(_, let outcome) = try RelayContent(route.body)
            else { return nil }
            return outcome
        }
    }

    private func notes(_ directives: [Host.Directive]) -> [RelayStatus] {
        directives.compactMap { if case .note(let entry) = $0 { entry.status } else { nil } }
    }

    private static let service = RelayService(name: "s", access: .sameUser)
    private static let call = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "c", message: [:]))

    private func number(of directives: [Host.Directive]) throws -> Int64 {
        try #require(
            directives.compactMap { if case .tell(_, .asked(let number, _, _, _, _)) = $0 { number } else { nil } }
                .first)
    }

    @Test("An answer that was given while the way was lost is there for who asks again")
    mutating func answersAfterALoss() throws {
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let id = UUID()
        let task = try number(of: arrive(Self.call, id: id))
        _ = host.sessionClosed(at: 1)
        #expect(try replies(ask(.answer(call: task, RelayOutcome(.success, message: ["a": 2])), at: 2)).isEmpty)
        connect(at: 3)
        #expect(try replies(arrive(Self.call, id: id, at: 4)).map(\.message) == [["a": 2]])
    }

    @Test("What was not answered before its deadline is noted, and who asks again is told")
    mutating func tellsOfAMissedDeadline() throws {
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let id = UUID()
        _ = try arrive(Self.call, id: id)
        #expect(notes(host.due(at: 1000)) == [.outcomeUnknown])
        #expect(try replies(arrive(Self.call, id: id, deadline: 5000, at: 1001)).map(\.status) == [.outcomeUnknown])
    }

    @Test("A call that is cancelled is noted as such")
    mutating func notesACancel() throws {
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let id = UUID()
        _ = try arrive(Self.call, id: id)
        #expect(notes(try arrive(.cancel(command: id), id: UUID())) == [.cancelled])
    }

    @Test(
        "What a service of the agent's own has begun is ended by a cancel and at the deadline",
        arguments: [true, false])
    mutating func endsOwnServices(_ isCancelled: Bool) throws {
        var settings = host.settings
        settings.grants.insert(RelaySettings.Grant(device: "9", app: "aldaba.relay", service: "clipboard"))
        host = Host(settings: settings, ownServices: ["clipboard"])
        connect()
        let id = UUID()
        let call = RelayContent.call(RelayCall(app: "aldaba.relay", service: "clipboard", caller: "c", message: [:]))
        let served = try arrive(call, id: id).compactMap {
            if case .serve(let ticket, _, _) = $0 { ticket } else { nil }
        }
        let ticket = try #require(served.first)
        let ended = isCancelled ? try arrive(.cancel(command: id), id: UUID()) : host.due(at: 1000)
        #expect(ended.contains(.endService(ticket: ticket)))
        #expect(notes(ended) == [isCancelled ? .cancelled : .outcomeUnknown])
        #expect(try replies(host.served(ticket, RelayOutcome(.success), at: 1001)).isEmpty)
    }

    @Test("What a caller that goes away had asked is taken back there", arguments: [false, true])
    mutating func callersThatGo(_ waits: Bool) throws {
        connect()
        let id = UUID()
        ask(
            .command(
                request: 1, id: id, device: "9", deadline: 500, waits: waits,
                .call(app: "x", service: "s", message: [:])))
        let ended = host.removeClient(1, at: 1)
        let sent = ended.compactMap { if case .send(.route(let route)) = $0 { route } else { nil } }
        #expect(try sent.map { try RelayContent($0.body) } == [.cancel(command: id)])
        #expect(ended.contains(.send(.withdraw(device: "9", id: id))) == waits)
    }

    private static func again(_ firstGivenAt: Int64) -> RelayContent {
        var call = RelayCall(app: "a.b", service: "s", caller: "c", message: [:])
        call.firstGivenAt = firstGivenAt
        return .call(call)
    }

    @Test("What may have been done before this device's agent began is not done again")
    mutating func repetitionsAfterARestart() throws {
        connect(at: 10_000)
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]), at: 10_000)
        let (before, after) = (UUID(), UUID())
        #expect(
            try replies(arrive(Self.again(9_000), id: before, deadline: 90_000, at: 20_000)).map(\.status)
                == [.outcomeUnknown])
        #expect(
            try replies(arrive(Self.again(9_000), id: before, deadline: 90_000, at: 20_001)).map(\.status)
                == [.outcomeUnknown])
        _ = try number(of: arrive(Self.again(16_000), id: after, deadline: 90_000, at: 20_000))
    }

    @Test("A command that is given again says since when it may have been done")
    mutating func repetitions() throws {
        connect()
        let id = UUID()
        func firstGiven(_ directives: [Host.Directive]) throws -> [Int64?] {
            try directives.compactMap { directive -> Int64?? in
                guard case .send(.route(let route)) = directive else { return nil }
                return .some(try RelayContent(route.body).firstGivenAt)
            }
        }
        let request = RelayRequest.command(
            request: 1, id: id, device: "9", deadline: nil, .call(app: "x", service: "s", message: [:]))
        #expect(try firstGiven(ask(request, at: 5)) == [nil])
        _ = host.received(.undelivered(id: id, .unavailable), at: 6)
        #expect(try firstGiven(ask(request, at: 7)) == [nil])
        _ = host.received(.interrupted(device: "9"), at: 8)
        #expect(try firstGiven(ask(request, at: 9)) == [7])
        _ = host.received(.undelivered(id: id, .unavailable), at: 10)
        #expect(try firstGiven(ask(request, at: 11)) == [7])
    }

    @Test("An answer to what an earlier host had asked answers nothing else")
    mutating func earlierQuestions() throws {
        host = Host(settings: host.settings, firstTask: 70)
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let first = try number(of: arrive(Self.call, id: UUID()))
        #expect(first == 71)
        #expect(try replies(ask(.answer(call: 1, RelayOutcome(.success)))).isEmpty)
    }

    @Test("The ping can be denied, too")
    mutating func denyingThePing() throws {
        connect()
        let ping = RelayContent.call(RelayCall(app: Host.ownApp, service: "ping", caller: "c", message: [:]))
        #expect(try replies(arrive(ping, id: UUID())).map(\.status) == [.success])
        _ = host.take(
            .manage(request: 1, .deny(device: "9", app: Host.ownApp, service: "ping")), from: 2, app: "t", name: "T",
            isTerminal: true, at: 0)
        #expect(try replies(arrive(ping, id: UUID())).map(\.status) == [.notAuthorized])
    }

    @Test("A watcher is told what kind of obstacle there is")
    mutating func obstacles() {
        func told(_ directives: [Host.Directive]) -> DiscoveryFailure? {
            directives.lazy.compactMap { if case .tell(_, .watchFailed(let kind, _)) = $0 { kind } else { nil } }.first
        }
        #expect(told(ask(.watch(request: 1))) == .notConnected)
        #expect(told(host.received(.refused("no"), at: 0)) == .refused)
        #expect(told(ask(.watch(request: 1))) == .refused)
        host = Host(settings: RelaySettings(name: "here"))
        #expect(told(ask(.watch(request: 1))) == .noAccount)
    }

    @Test("An app that opens every scheme allows the system to open none")
    mutating func anAppForEverySchemeAllowsNothing() throws {
        connect()
        ask(.publish(request: 1, services: [], schemes: ["*"], attributes: [:]))
        let open = RelayContent.launch(RelayLaunch(uri: "smb://host/share", caller: "c"))
        let unnamed = try arrive(open, id: UUID())
        #expect(unnamed.contains { if case .findOpener(_, "smb", nil) = $0 { true } else { false } })
        #expect(!unnamed.contains { if case .open = $0 { true } else { false } })
        let named = try arrive(.launch(RelayLaunch(uri: "smb://host/share", app: "a.b", caller: "c")), id: UUID())
        #expect(named.contains { if case .tell(1, .launch) = $0 { true } else { false } })
    }

    @Test("What the system opens for longer than its deadline wakes nobody meanwhile")
    mutating func anOpenDialogWakesNobody() throws {
        connect()
        let opening = try arrive(.launch(RelayLaunch(uri: "https://example.org/", caller: "c")), id: UUID())
        let ticket = try #require(
            opening.compactMap { if case .open(let ticket, _, _) = $0 { ticket } else { nil } }.first)
        _ = host.due(at: 100)
        for moment in Int64(1000)..<1003 {
            let directives = host.due(at: Timestamp(rawValue: moment))
            #expect(!directives.contains { if case .wake = $0 { true } else { false } })
        }
        #expect(try replies(host.launchEnded(ticket, RelayOutcome(.success), at: 2000)).map(\.status) == [.success])
    }

    private func tickets(_ directives: [Host.Directive]) -> [Int64] {
        directives.compactMap { if case .ask(let ticket, _) = $0 { ticket } else { nil } }
    }

    private func carriedOut(_ directives: [Host.Directive]) -> [UUID] {
        directives.compactMap { if case .tell(1, .asked(_, let id, _, _, _)) = $0 { id } else { nil } }
    }

    private mutating func publishGranted() {
        connect()
        let services = ["s", "u"].map { RelayService(name: $0, access: .granted) }
        ask(.publish(request: 1, services: services, schemes: [], attributes: [:]))
    }

    @Test("What needs the person's word while they are asked of the same device waits for its turn")
    mutating func waitingForTheWord() throws {
        publishGranted()
        let ids = (0..<3).map { _ in UUID() }
        let other = RelayContent.call(RelayCall(app: "a.b", service: "u", caller: "c", message: [:]))
        let first = try #require(tickets(try arrive(Self.call, id: ids[0])).first)
        for (id, content) in [(ids[1], Self.call), (ids[2], other)] {
            let come = try arrive(content, id: id)
            #expect(try tickets(come).isEmpty && replies(come).isEmpty)
        }
        let once = host.decided(first, .once, at: 1)
        #expect(carriedOut(once) == [ids[0]])
        let second = try #require(tickets(once).first)
        let denied = host.decided(second, .deny, at: 2)
        #expect(try replies(denied).map(\.status) == [.notAuthorized])
        let third = try #require(tickets(denied).first)
        let takenBack = try arrive(.cancel(command: ids[2]), id: UUID())
        #expect(takenBack.contains { if case .withdraw(third) = $0 { true } else { false } })
    }

    @Test(
        "What waits for the same word of the person has the same answer",
        arguments: [RelayQuestion.Answer.always, .deny, nil])
    mutating func sameWord(answer: RelayQuestion.Answer?) throws {
        publishGranted()
        let ids = (0..<3).map { _ in UUID() }
        let come = try ids.flatMap { try arrive(Self.call, id: $0) }
        let asked = tickets(come)
        #expect(asked.count == 1)
        let decided = host.decided(try #require(asked.first), answer, at: 1)
        #expect(carriedOut(decided) == (answer == .always ? ids : []))
        #expect(try replies(decided).map(\.status) == (answer == .always ? [] : ids.map { _ in .notAuthorized }))
        #expect(tickets(decided).isEmpty)
    }

    @Test("A person who says nothing refuses all that waits; the deadline of what is allowed is the caller's own")
    mutating func timeout() throws {
        publishGranted()
        _ = try arrive(Self.call, id: UUID(), deadline: 300_000)
        _ = try arrive(Self.call, id: UUID(), deadline: 300_000, at: 1_000)
        let silence = host.due(at: 60_000)
        #expect(try replies(silence).map(\.status) == [.notAuthorized, .notAuthorized])
        let asked = tickets(try arrive(Self.call, id: UUID(), deadline: 300_000, at: 60_001))
        let allowed = host.decided(try #require(asked.first), .once, at: 70_000)
        #expect(
            allowed.contains { if case .tell(1, .asked(_, _, _, 300_000, _)) = $0 { true } else { false } })
    }

    @Test("What is allowed after its deadline, as after a suspension, is not carried out any more")
    mutating func allowedTooLate() throws {
        publishGranted()
        let asked = tickets(try arrive(Self.call, id: UUID(), deadline: 30_000))
        let late = host.decided(try #require(asked.first), .once, at: 9_000_000)
        #expect(carriedOut(late).isEmpty)
        #expect(try replies(late).map(\.status) == [.expired])
    }

    @Test("A connection's id is that of one connection, whoever opens another under it")
    mutating func connectionIDs() throws {
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let id = UUID()
        let open = RelayContent.open(app: "a.b", service: "s", caller: "c")
        #expect(try replies(try arrive(open, id: id)).map(\.status) == [.success])
        let stranger = RelayDevice(id: "8", name: "other", kind: "phone")
        _ = host.received(.changed(revision: 2, stranger), at: 1)
        let taken = host.received(
            .route(RelayRoute(peer: "8", id: id, deadline: 1000, body: try open.encoded())), at: 1)
        #expect(try replies(taken).map(\.status) == [.failed])
        #expect(!taken.contains { if case .tell(1, .opened) = $0 { true } else { false } })
    }

    @Test("An app hears that its connections are closed when this device leaves its account")
    mutating func leaving() throws {
        connect()
        ask(.publish(request: 1, services: [Self.service], schemes: [], attributes: [:]))
        let id = UUID()
        _ = try arrive(.open(app: "a.b", service: "s", caller: "c"), id: id)
        let left = host.take(.manage(request: 9, .leave), from: 7, app: "t", name: "T", isTerminal: true, at: 2)
        #expect(left.contains { if case .tell(1, .closed(id, _)) = $0 { true } else { false } })
    }
}

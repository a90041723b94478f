import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct RelayGuestTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    static func guest(_ id: String = "7", key: UInt8 = 1) -> RelayDevice {
        var device = RelayDevice(id: id, name: "guest", kind: "phone")
        device.key = [UInt8](repeating: key, count: 32)
        return device
    }

    mutating func begin(_ access: RelayService.Access) {
        _ = host.sessionOpened(at: 0)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        let own = RelayDevice(id: "9", name: "own", kind: "desktop")
        _ = host.received(.welcome(device: "1", revision: 1, devices: [here, own]), at: 0)
        let publish = RelayRequest.publish(
            request: 1, services: [RelayService(name: "s", access: access)], schemes: [], attributes: [:])
        _ = host.take(publish, from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        _ = host.received(.visited(Self.guest()), at: 0)
    }

    mutating func say(_ content: RelayContent, from device: String = "7", asGuest: Bool = true) throws -> [Host
        .Directive]
    {
        let route = RelayRoute(peer: device, id: UUID(), deadline: 90_000, body: try content.encoded())
        return host.received(.route(route), isGuests: asGuest, at: 0)
    }

    static let call = RelayContent.call(RelayCall(app: "a.b", service: "s", caller: "", message: [:]))

    func statuses(_ directives: [Host.Directive]) throws -> [RelayStatus] {
        try directives.compactMap {
            guard case .send(.route(let route)) = $0, case .outcome(_, let outcome) = try RelayContent(route.body)
            else { return nil }
            return outcome.status
        }
    }

    func question(_ directives: [Host.Directive]) -> (ticket: Int64, question: RelayQuestion)? {
        directives.lazy.compactMap { if case .ask(let ticket, let question) = $0 { (ticket, question) } else { nil } }
            .first
    }

    func isAsked(_ directives: [Host.Directive]) -> Bool {
        directives.contains { if case .tell(1, .asked) = $0 { true } else { false } }
    }

    @Test("What is open to anyone is asked by the person's devices at once, and by others after the person's word")
    mutating func anyone() throws {
        begin(.anyone)
        #expect(isAsked(try say(Self.call, from: "9", asGuest: false)))
        let asked = question(try say(Self.call))
        let first = try #require(asked)
        #expect(first.question.isGuests && first.question.deviceName == "guest")
        #expect(isAsked(host.decided(first.ticket, .once, at: 0)))
        let again = question(try say(Self.call))
        let second = try #require(again)
        #expect(isAsked(host.decided(second.ticket, .always, at: 0)))
        #expect(isAsked(try say(Self.call)))
        // The same id with another key is somebody else.
        _ = host.received(.removed(revision: 0, device: "7"), at: 0)
        _ = host.received(.visited(Self.guest(key: 2)), at: 0)
        let other = question(try say(Self.call))
        let third = try #require(other)
        _ = host.decided(third.ticket, .deny, at: 0)
        #expect(try statuses(try say(Self.call)) == [.notAuthorized])
    }

    @Test("Nothing else is open to others", arguments: [RelayService.Access.off, .sameUser, .granted])
    mutating func closed(access: RelayService.Access) throws {
        begin(access)
        let grant = RelayRequest.manage(
            request: 2, .grant(device: "*", app: "a.b", service: "s", allowed: true))
        _ = host.take(grant, from: 2, app: "t", name: "T", isTerminal: true, at: 0)
        #expect(try statuses(try say(Self.call)) == [.serviceUnavailable])
        let open = RelayContent.open(app: "a.b", service: "s", caller: "")
        #expect(try statuses(try say(open)) == [.serviceUnavailable])
    }

    @Test(
        "Others may only ask services",
        arguments: [
            RelayContent.launch(RelayLaunch(uri: "https://example.org/", caller: "")),
            .offer(RelayOffer(name: "f", size: 1, modified: 1)), .rekey(AccountKey().text, proof: []),
            .call(RelayCall(app: "aldaba.relay", service: "clipboard", caller: "", message: [:])),
            .call(RelayCall(app: "aldaba.relay", service: "ping", caller: "", message: [:])),
            .pathBegins(connection: UUID()),
        ])
    mutating func limits(content: RelayContent) throws {
        begin(.anyone)
        let account = host.settings.account
        let directives = try say(content)
        let told = try statuses(directives)
        #expect(told == [.denied] || told == [.serviceUnavailable])
        #expect(directives.allSatisfy { if case .open = $0 { false } else { true } })
        #expect(host.settings.account == account)
    }

    @Test("Of a device that nobody told of nothing is taken, and the person's own is no guest")
    mutating func unknown() throws {
        begin(.anyone)
        #expect(try say(Self.call, from: "8").isEmpty)
        _ = host.received(.visited(Self.guest("9")), at: 0)
        #expect(try say(Self.call, from: "9").isEmpty)
    }

    @Test(
        "What a guest wanted that has gone is not carried out, whatever the person says then",
        arguments: [RelayQuestion.Answer.once, .deny, nil], [true, false])
    mutating func goneGuests(answer: RelayQuestion.Answer?, isSessionLost: Bool) throws {
        begin(.anyone)
        let asked = try #require(question(try say(Self.call)))
        #expect(try question(say(Self.call)) == nil)
        let gone =
            isSessionLost
            ? host.sessionClosed(at: 1) : host.received(.removed(revision: 0, device: "7"), at: 1)
        #expect(gone.contains(.withdraw(ticket: asked.ticket)))
        let decided = host.decided(asked.ticket, answer, at: 2)
        #expect(!isAsked(decided) && question(decided) == nil)
        #expect(!isAsked(host.due(at: 80_000)))
        #expect(host.settings.grants.isEmpty && host.settings.denials == nil)
    }

    @Test("A guest that comes with another key under its id has asked nothing yet")
    mutating func anotherKey() throws {
        begin(.anyone)
        let asked = try #require(question(try say(Self.call)))
        let visited = host.received(.visited(Self.guest(key: 2)), at: 1)
        #expect(visited.contains(.withdraw(ticket: asked.ticket)))
        #expect(!isAsked(host.decided(asked.ticket, .always, at: 2)))
        #expect(host.settings.grants.isEmpty)
    }

    @Test("A device of another person's is found, and only its services are asked")
    mutating func asking() {
        begin(.off)
        _ = host.take(.find(request: 5, device: "7"), from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        let found = host.received(.found(Self.guest()), at: 0)
        #expect(found.contains(.tell(1, .found(request: 5, Self.guest()))))
        func ask(_ order: RelayOrder) -> [Host.Directive] {
            host.take(
                .command(request: 6, id: nil, device: "7", deadline: 900, order), from: 1, app: "a.b", name: "A",
                isTerminal: false, at: 0)
        }
        func leaves(_ directives: [Host.Directive]) -> Bool {
            directives.contains { if case .send(.route) = $0 { true } else { false } }
        }
        #expect(leaves(ask(.call(app: "x", service: "y", message: [:]))))
        #expect(!leaves(ask(.launch(uri: "https://example.org/", app: nil, fallback: nil, preferredApps: []))))
        let none = host.take(.find(request: 7, device: "8"), from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
        #expect(none.contains(.send(.find(device: "8"))))
        let told = host.received(.notFound(device: "8"), at: 0)
        guard case .tell(1, .answered(7, _, let outcome))? = told.first else {
            return #expect(Bool(false), "nobody is told")
        }
        #expect(outcome.status == .unknownDevice)
    }

    @Test("What the server calls the person's device is never sealed for as a guest's")
    func listed() {
        var seals = RelaySeals()
        seals.begin(device: "1", account: AccountKey())
        let route = RelayRoute(peer: "7", id: UUID(), deadline: nil, body: [1])
        func leaves() -> Bool { if case .send = seals.outgoing(.route(route), at: 0) { true } else { false } }
        _ = seals.incoming(.visited(Self.guest()), at: 0)
        #expect(leaves())
        _ = seals.incoming(.changed(revision: 2, Self.guest()), at: 0)
        #expect(!leaves())
        _ = seals.incoming(.visited(Self.guest()), at: 0)
        #expect(!leaves())
    }
}

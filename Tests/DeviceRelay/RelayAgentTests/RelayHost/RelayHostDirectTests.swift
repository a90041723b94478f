import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct RelayHostDirectTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))

    static let there = RelayDevice(
        id: "ignored", name: "there", kind: "phone", presence: .offline,
        apps: [RelayApp(id: "x", name: "X", services: ["s"])])

    init() { host.isCalled("1") }

    mutating func meet(at now: Timestamp = 0) throws -> [Host.Directive] {
        let introduced = try arrive(.introduction(Self.there))
        return introduced + host.reached("9", isDirect: true, at: now)
    }

    mutating func arrive(_ content: RelayContent) throws -> [Host.Directive] {
        host.received(
            .route(RelayRoute(peer: "9", id: UUID(), deadline: 1000, body: try content.encoded())), at: 0)
    }

    mutating func ask(_ request: RelayRequest) -> [Host.Directive] {
        host.take(request, from: 1, app: "a.b", name: "A", isTerminal: false, at: 0)
    }

    static func call() -> RelayRequest {
        .command(request: 5, id: UUID(), device: "9", deadline: 500, .call(app: "x", service: "s", message: [:]))
    }

    func answers(_ directives: [Host.Directive]) -> [RelayStatus] {
        directives.compactMap { if case .tell(_, .answered(_, _, let outcome)) = $0 { outcome.status } else { nil } }
    }

    func sent(_ directives: [Host.Directive]) throws -> [RelayContent] {
        try directives.compactMap {
            if case .send(.route(let route)) = $0 { try RelayContent(route.body) } else { nil }
        }
    }

    mutating func connect(presence: RelayPresence = .online) {
        _ = host.sessionOpened(at: 0)
        let here = RelayDevice(id: "1", name: "here", kind: "desktop")
        let device = RelayDevice(id: "9", name: "there", kind: "phone", presence: presence)
        _ = host.received(.welcome(device: "1", revision: 1, devices: [here, device]), at: 0)
    }

    @Test("Devices that meet without the server tell what there is on them, and are listed and asked")
    mutating func alone() throws {
        _ = ask(.watch(request: 1))
        let directives = try meet()
        guard case .introduction(let own)? = try sent(directives).first else {
            return #expect(Bool(false), "nothing is told")
        }
        #expect(own.name == "here" && own.apps.map(\.id) == [Host.ownApp])
        let seen = directives.compactMap { if case .tell(1, .added(let device)) = $0 { device } else { nil } }
        #expect(seen.map(\.id) == ["9"] && seen.map(\.presence) == [.online] && seen.map(\.reach) == [.direct])
        let asked = ask(Self.call())
        #expect(answers(asked) == [])
        guard case .call? = try sent(asked).first else { return #expect(Bool(false), "nothing is asked") }
        #expect(answers(host.lost("9", at: 1)) == [.outcomeUnknown])
        _ = host.reached("9", isDirect: false, at: 1)
        #expect(answers(ask(Self.call())) == [.networkUnavailable])
    }

    @Test("What is new on this device is told those that are reached without the server")
    mutating func news() throws {
        _ = try meet()
        let published = ask(
            .publish(
                request: 2, services: [RelayService(name: "s", access: .sameUser)], schemes: [], attributes: [:]))
        guard case .introduction(let own)? = try sent(published).first else {
            return #expect(Bool(false), "nothing is told")
        }
        #expect(own.apps.map(\.id).contains("a.b"))
    }

    @Test(
        "The end of the session ends what was under way by the server, and nothing that goes directly",
        arguments: [true, false])
    mutating func sessionEnds(isDirect: Bool) throws {
        connect()
        if isDirect { _ = try meet() }
        _ = ask(Self.call())
        #expect(answers(host.sessionClosed(at: 1)) == (isDirect ? [] : [.outcomeUnknown]))
        #expect(answers(ask(Self.call())) == (isDirect ? [] : [.networkUnavailable]))
    }

    @Test("The server's word that a device went away ends nothing that goes directly")
    mutating func interruption() throws {
        connect()
        _ = try meet()
        _ = ask(Self.call())
        #expect(answers(host.received(.interrupted(device: "9"), at: 1)) == [])
        var away = Self.there
        away.id = "9"
        #expect(answers(host.received(.changed(revision: 2, away), at: 6)) == [])
        #expect(answers(ask(Self.call())) == [])
        #expect(answers(host.lost("9", at: 7)) == [.outcomeUnknown, .outcomeUnknown])
        _ = host.reached("9", isDirect: false, at: 7)
        #expect(answers(ask(Self.call())) == [.notDelivered])
    }
}

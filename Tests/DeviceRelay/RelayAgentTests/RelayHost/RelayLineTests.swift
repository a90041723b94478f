import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

/// Two devices whose hosts are joined, and a connection between apps on them, over a path that can be lost.
@Suite struct RelayLineTests {
    typealias Host = RelayHost

    var hosts = [1, 2].map { Host(settings: RelaySettings(name: "\($0)", account: AccountKey())) }
    var told: [[RelayNotice]] = [[], []]
    /// Whether what is sent is lost.
    var isCut = false
    var now: Timestamp = 0
    let line = UUID()

    static let devices = ["1", "2"].map { RelayDevice(id: $0, name: $0, kind: "desktop") }

    mutating func follow(_ directives: [Host.Directive], _ side: Int) {
        for directive in directives {
            switch directive {
            case .send(.route(var route)) where !isCut:
                route.peer = "\(side + 1)"
                follow(hosts[1 - side].received(.route(route), at: now), 1 - side)
            case .tell(_, let notice): told[side].append(notice)
            default: break
            }
        }
    }

    mutating func say(_ request: RelayRequest, _ side: Int, terminal: Bool = false) {
        let directives = hosts[side].take(
            request, from: terminal ? 9 : 1, app: "a.b", name: "A", isTerminal: terminal, at: now)
        follow(directives, side)
    }

    mutating func due() { for side in [0, 1] { follow(hosts[side].due(at: now), side) } }

    mutating func begin() {
        for side in [0, 1] {
            _ = hosts[side].sessionOpened(at: 0)
            _ = hosts[side].received(.welcome(device: "\(side + 1)", revision: 1, devices: Self.devices), at: 0)
        }
        let service = RelayService(name: "s", access: .sameUser)
        say(.publish(request: 1, services: [service], schemes: [], attributes: [:]), 1)
        say(.command(request: 2, id: line, device: "2", deadline: 9_000, .open(app: "a.b", service: "s")), 0)
        told = [[], []]
    }

    /// The first device's session ends.
    mutating func cut() {
        isCut = true
        follow(hosts[0].sessionClosed(at: now), 0)
        follow(hosts[1].received(.interrupted(device: "1"), at: now), 1)
    }

    /// It begins another.
    mutating func comeBack() {
        isCut = false
        follow(hosts[0].sessionOpened(at: now), 0)
        follow(hosts[1].received(.changed(revision: 2, Self.devices[0]), at: now), 1)
        follow(hosts[0].received(.welcome(device: "1", revision: 2, devices: Self.devices), at: now), 0)
    }

    mutating func ask(_ number: Int64, _ side: Int = 0, deadline: Int64 = 500_000) -> UUID {
        let id = UUID()
        say(
            .command(
                request: 100 + number, id: id, device: "", deadline: deadline,
                .send(connection: line, message: ["n": .integer(number)])), side)
        return id
    }

    /// What was asked, in order, with the calls' numbers.
    func asked(_ side: Int = 1) -> [(call: Int64, number: RelayValue?)] {
        told[side].compactMap {
            if case .asked(let call, _, _, _, let asked) = $0 { (call, asked.message["n"]) } else { nil }
        }
    }

    mutating func answer(_ call: Int64, _ side: Int = 1) {
        say(.answer(call: call, RelayOutcome(.success, message: ["a": .integer(call)])), side)
    }

    func outcomes(_ side: Int = 0) -> [Int64: RelayStatus] {
        told[side].reduce(into: [:]) {
            if case .answered(let request, _, let outcome) = $1 { $0[request] = outcome.status }
        }
    }

    func closes(_ side: Int) -> [RelayCloseReason] {
        told[side].compactMap { if case .closed(line, let reason) = $0 { reason } else { nil } }
    }

    @Test("What is asked while the way is lost, or was on it, is asked once and in order when the way is back")
    mutating func resumption() {
        begin()
        _ = ask(1)
        isCut = true
        _ = ask(2)
        cut()
        _ = ask(3)
        answer(asked()[0].call)
        #expect(outcomes().isEmpty)
        now = 60_000
        comeBack()
        #expect(asked().map(\.number) == [1, 2, 3])
        #expect(outcomes() == [101: .success])
        for call in asked().dropFirst().map(\.call) { answer(call) }
        #expect(outcomes() == [101: .success, 102: .success, 103: .success])
        #expect(closes(0).isEmpty && closes(1).isEmpty)
        _ = ask(4, 1)
        #expect(asked(0).map(\.number) == [4])
    }

    @Test("A device that does not come back in time ends the connection, and what never left was not delivered")
    mutating func grace() {
        begin()
        _ = ask(1)
        cut()
        _ = ask(2)
        now = 119_999
        due()
        #expect(closes(0).isEmpty && outcomes().isEmpty)
        now = 120_000
        due()
        #expect(closes(0) == [.unknown] && closes(1) == [.unknown])
        #expect(outcomes() == [101: .outcomeUnknown, 102: .notDelivered])
        comeBack()
        _ = ask(3)
        #expect(outcomes()[103] == .connectionClosed)
    }

    @Test("The deadline of a question counts while the way is lost")
    mutating func deadlines() {
        begin()
        cut()
        _ = ask(1, deadline: 1_000)
        now = 1_000
        due()
        #expect(outcomes() == [101: .expired])
        comeBack()
        #expect(asked().isEmpty)
    }

    @Test("What one side closed meanwhile, or does not know any more, is closed on the other when the way is back")
    mutating func closing() {
        begin()
        cut()
        say(.close(request: 5, connection: line, .completed), 1)
        comeBack()
        #expect(closes(0) == [.completed])
        say(.command(request: 2, id: UUID(), device: "2", deadline: 9_000, .open(app: "a.b", service: "s")), 0)
        guard case .opened(let second, _, _, _, _)? = told[1].last else {
            return #expect(Bool(false), "it is not opened")
        }
        cut()
        hosts[1] = Host(settings: hosts[1].settings)
        _ = hosts[1].sessionOpened(at: now)
        _ = hosts[1].received(.welcome(device: "2", revision: 1, devices: Self.devices), at: now)
        comeBack()
        #expect(told[0].contains(.closed(connection: second, .unknown)))
    }

    @Test("What had left before the other device began anew may have been done; what had not, was not")
    mutating func restart() {
        begin()
        _ = ask(1)
        cut()
        _ = ask(2)
        hosts[1] = Host(settings: hosts[1].settings)
        follow(hosts[1].sessionOpened(at: now), 1)
        follow(hosts[1].received(.welcome(device: "2", revision: 1, devices: Self.devices), at: now), 1)
        comeBack()
        #expect(closes(0) == [.unknown])
        #expect(outcomes() == [101: .outcomeUnknown, 102: .connectionClosed])
    }

    @Test("A connection is closed there where its opening is taken back here, or comes too late", arguments: [0, 1, 2])
    mutating func openingTakenBack(_ way: Int) {
        begin()
        let second = UUID()
        // The answer is lost.
        let order = RelayOrder.open(app: "a.b", service: "s")
        let asked = hosts[0].take(
            .command(request: 7, id: second, device: "2", deadline: 5_000, order), from: 1, app: "a.b", name: "A",
            isTerminal: false, at: now)
        for case .send(.route(var route)) in asked {
            route.peer = "1"
            _ = hosts[1].received(.route(route), at: now)
        }
        #expect(hosts[1].connections[second] != nil && hosts[0].connections[second] == nil)
        switch way {
        case 0: say(.cancel(request: 8, id: second), 0)
        case 1: follow(hosts[0].removeClient(1, at: now), 0)
        default:
            now = 5_000
            follow(hosts[0].due(at: now), 0)
        }
        #expect(hosts[1].connections[second] == nil)
        #expect(told[1].contains(.closed(connection: second, .cancelled)))
    }

    @Test("The app that opened a connection is told to the one that is asked")
    mutating func callerOfAConnection() {
        begin()
        say(.command(request: 2, id: UUID(), device: "2", deadline: 9_000, .open(app: "a.b", service: "s")), 0)
        guard case .opened(_, "1", "a.b", "s", "a.b")? = told[1].last else {
            return #expect(Bool(false), "it is not opened")
        }
    }

    @Test("What the other device could not read is asked again, with all that came after it")
    mutating func begunAnew() {
        begin()
        isCut = true
        let first = ask(1)
        isCut = false
        _ = ask(2)
        follow(hosts[0].received(.undelivered(id: first, .begunAnew), at: now), 0)
        #expect(asked().map(\.number) == [2, 1])
        #expect(outcomes().isEmpty)
        follow(hosts[0].received(.undelivered(id: first, .expired), at: now), 0)
        #expect(outcomes() == [101: .outcomeUnknown])
    }

    @Test("A connection over which nothing passes ends on both sides; one that is in use does not")
    mutating func idleness() {
        begin()
        say(.manage(request: 1, .connections(idle: 60, grace: nil)), 0, terminal: true)
        now = 50_000
        _ = ask(1)
        now = 100_000
        due()
        answer(asked()[0].call)
        now = 159_999
        due()
        #expect(closes(0).isEmpty)
        now = 160_000
        due()
        #expect(closes(0) == [.idle] && closes(1) == [.idle])
    }

    @Test("What the person denies ends the connections that are open for it")
    mutating func denial() {
        begin()
        say(.manage(request: 1, .deny(device: "1", app: "a.b", service: "s")), 1, terminal: true)
        #expect(closes(0) == [.cancelled] && closes(1) == [.cancelled])
    }

    @Test("A question is over when the other side closes the connection without an answer")
    mutating func closedUnanswered() {
        begin()
        let question = UUID()
        say(.command(request: 3, id: question, device: "", deadline: 9_000, .send(connection: line, message: [:])), 0)
        say(.close(request: 4, connection: line, .completed), 1)
        #expect(
            told[0].contains {
                if case .answered(3, question, let outcome) = $0 { outcome.status == .outcomeUnknown } else { false }
            })
        #expect(told[0].contains(.closed(connection: line, .completed)))
    }
}

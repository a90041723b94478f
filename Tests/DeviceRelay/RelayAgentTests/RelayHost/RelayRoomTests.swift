import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

/// Commands that wait for room.
@Suite struct RelayRoomTests {
    typealias Host = RelayHost

    var host = Host(settings: RelaySettings(name: "here", account: AccountKey()))
    let ids = (0..<500).map { _ in UUID() }

    private mutating func connect() {
        _ = host.sessionOpened(at: 0)
        let devices = ["1", "9"].map { RelayDevice(id: $0, name: $0, kind: "desktop") }
        _ = host.received(.welcome(device: "1", revision: 1, devices: devices), at: 0)
    }

    private mutating func ask(_ request: RelayRequest, client: ClientNumber = 1, at now: Timestamp = 0) -> [Host
        .Directive]
    {
        host.take(request, from: client, app: "a.b", name: "A", isTerminal: client == 9, at: now)
    }

    private mutating func call(_ id: UUID, deadline: Int64 = 20_000, at now: Timestamp = 0) -> [Host.Directive] {
        let order = RelayOrder.call(app: "x", service: "s", message: [:])
        return ask(.command(request: 5, id: id, device: "9", deadline: deadline, order), at: now)
    }

    private mutating func answered(_ id: UUID, at now: Timestamp = 1) throws -> [Host.Directive] {
        let body = try RelayContent.outcome(command: id, RelayOutcome(.success)).encoded()
        return host.received(.route(RelayRoute(peer: "9", id: UUID(), deadline: nil, body: body)), at: now)
    }

    private func sent(_ directives: [Host.Directive]) -> [UUID] {
        directives.compactMap { if case .send(.route(let route)) = $0 { route.id } else { nil } }
    }

    private func ends(_ directives: [Host.Directive]) -> [RelayOutcome] {
        directives.compactMap { if case .tell(_, .answered(_, _, let outcome)) = $0 { outcome } else { nil } }
    }

    @Test("500 calls that are asked at once leave in their order as others are answered, and each has its answer")
    mutating func many() throws {
        connect()
        var left: [UUID] = []
        for id in ids {
            let directives = call(id)
            #expect(ends(directives).isEmpty)
            left += sent(directives)
        }
        #expect(left == Array(ids.prefix(64)))
        guard case .tell(_, .life(_, .requesting, nil, _))? = ask(.life(request: 6, id: ids[499]), client: 9).first
        else {
            Issue.record("one that waits is not requesting")
            return
        }
        var answers = 0
        var next = 0
        while next < left.count {
            let directives = try answered(left[next])
            answers += ends(directives).filter { $0.status == .success }.count
            left += sent(directives)
            next += 1
        }
        #expect(left == ids)
        #expect(answers == 500)
        #expect(host.departures.isEmpty)
    }

    @Test("What waits for room until its deadline ends as resourceLimits, and the detail names the limit")
    mutating func deadlines() {
        connect()
        for id in ids.prefix(65) { _ = call(id, deadline: id == ids[64] ? 900 : 20_000) }
        let due = host.due(at: 900)
        #expect(ends(due).map(\.status) == [.resourceLimits])
        #expect(ends(due).first?.detail?.contains("64 commands under way") == true)
        #expect(sent(due).isEmpty)
        #expect(host.departures.isEmpty)
    }

    @Test("What waits for room and is taken back is not heard of by the other device, and the next takes its place")
    mutating func cancel() throws {
        connect()
        for id in ids.prefix(67) { _ = call(id) }
        let cancelled = ask(.cancel(request: 6, id: ids[64]))
        #expect(sent(cancelled).isEmpty)
        #expect(ends(cancelled).map(\.status) == [.cancelled, .success])
        #expect(sent(try answered(ids[0])) == [ids[65]])
    }

    @Test("The end of an app takes out what waits of its commands")
    mutating func endOfAnApp() throws {
        connect()
        for id in ids.prefix(100) { _ = call(id) }
        let ended = host.removeClient(1, at: 1)
        // The 64 that had left are taken back there.
        #expect(sent(ended).count == 64)
        #expect(host.departures.isEmpty)
        #expect(sent(try answered(ids[0])).isEmpty)
    }

    @Test("When the device goes away, what waited for room has not been delivered, for certain")
    mutating func loss() {
        connect()
        for id in ids.prefix(70) { _ = call(id) }
        let lost = ends(host.received(.interrupted(device: "9"), at: 1)).map(\.status)
        #expect(lost.filter { $0 == .notDelivered }.count == 6)
        #expect(lost.filter { $0 == .outcomeUnknown }.count == 64)
        #expect(host.departures.isEmpty)
    }

    @Test("Over a connection 32 questions are in flight; a close ends those that wait as not asked")
    mutating func connection() throws {
        connect()
        let line = UUID()
        _ = ask(.command(request: 1, id: line, device: "9", deadline: 9_000, .open(app: "x", service: "s")))
        _ = try answered(line)
        var left: [UUID] = []
        for id in ids.prefix(34) {
            left += sent(
                ask(
                    .command(
                        request: 2, id: id, device: "9", deadline: 9_000, .send(connection: line, message: [:]))))
        }
        #expect(left == Array(ids.prefix(32)))
        #expect(sent(try answered(ids[0])) == [ids[32]])
        let closed = ask(.close(request: 3, connection: line, .completed))
        #expect(ends(closed).map(\.status) == [.success, .connectionClosed])
        #expect(host.departures.isEmpty)
    }
}

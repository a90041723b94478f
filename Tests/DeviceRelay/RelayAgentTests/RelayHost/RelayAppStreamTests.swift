import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

/// Two devices whose hosts are joined; an app on the first gives streams to one on the second.
@Suite struct RelayAppStreamTests {
    typealias Host = RelayHost

    var hosts = [1, 2].map { Host(settings: RelaySettings(name: "\($0)", account: AccountKey())) }
    var told: [[RelayNotice]] = [[], []]
    let id = UUID()

    mutating func follow(_ directives: [Host.Directive], _ side: Int) {
        for directive in directives {
            switch directive {
            case .send(.route(var route)):
                route.peer = "\(side + 1)"
                follow(hosts[1 - side].received(.route(route), at: 0), 1 - side)
            case .tell(_, let notice): told[side].append(notice)
            default: break
            }
        }
    }

    mutating func say(_ request: RelayRequest, _ side: Int) {
        follow(hosts[side].take(request, from: 1, app: "a.b", name: "A", isTerminal: false, at: 0), side)
    }

    mutating func begin(
        size: Int64 = 3 << 20, access: RelayService.Access = .sameUser, deadline: Int64? = 90_000
    ) {
        let devices = ["1", "2"].map { RelayDevice(id: $0, name: $0, kind: "desktop") }
        for side in [0, 1] {
            _ = hosts[side].sessionOpened(at: 0)
            _ = hosts[side].received(.welcome(device: "\(side + 1)", revision: 1, devices: devices), at: 0)
        }
        say(
            .publish(
                request: 1, services: [RelayService(name: "s", access: access)], schemes: [], attributes: [:]), 1)
        let offer = RelayOffer(name: "f", size: size, modified: 0, app: "a.b", service: "s")
        say(.command(request: 2, id: id, device: "2", deadline: deadline, .stream(offer)), 0)
    }

    func steps(_ side: Int) -> [RelayStreamStep] {
        told[side].compactMap { if case .stream(id, let step) = $0 { step } else { nil } }
    }

    var outcome: RelayStatus? {
        told[0].lazy.compactMap { if case .answered(2, _, let outcome) = $0 { outcome.status } else { nil } }.first
    }

    /// SHA-256 of 1, 2, 3.
    let digest: [UInt8] = [
        0x03, 0x90, 0x58, 0xc6, 0xf2, 0xc0, 0xcb, 0x49, 0x2c, 0x53, 0x3b, 0x0a, 0x4d, 0x14, 0xef, 0x77,
        0xcc, 0x0f, 0x78, 0xab, 0xcc, 0xce, 0xd5, 0x28, 0x7d, 0x84, 0xa1, 0xa2, 0x01, 0x1c, 0xfb, 0x81,
    ]

    @Test("Pieces, digest and outcome go from app to app")
    mutating func whole() {
        begin(size: 3)
        #expect(told[1].contains { if case .offered(id, "1", _) = $0 { true } else { false } })
        say(.stream(id, .pull(offset: 0, length: 3, prefix: [7])), 1)
        #expect(steps(0) == [.pull(offset: 0, length: 3, prefix: [7])])
        say(.stream(id, .piece(offset: 0, [1, 2, 3])), 0)
        say(.stream(id, .allGiven(digest: digest)), 0)
        #expect(steps(1) == [.piece(offset: 0, [1, 2, 3]), .allGiven(digest: digest)])
        #expect(outcome == nil)
        say(.stream(id, .taken(RelayOutcome(.success))), 1)
        #expect(outcome == .success)
        #expect(hosts[0].streams.apps.isEmpty && hosts[1].streams.apps.isEmpty)
    }

    @Test("A stream ends whose pieces stop coming, and one that nobody takes any further", arguments: [true, false])
    mutating func silence(isAsked: Bool) {
        begin(size: 3, deadline: 3_600_000)
        say(.stream(id, .pull(offset: 0, length: 3, prefix: [])), 1)
        say(.stream(id, .piece(offset: 0, isAsked ? [1, 2] : [1, 2, 3])), 0)
        let timeout: Timestamp = 0 + (isAsked ? AppStreams.giverTimeout : AppStreams.takerTimeout)
        #expect(hosts[1].streams.apps.nextMoment == timeout)
        follow(hosts[1].due(at: timeout - 1), 1)
        #expect(!steps(1).contains(.lost) && outcome == nil)
        follow(hosts[1].due(at: timeout), 1)
        #expect(steps(1).last == .lost)
        #expect(outcome == .failed)
        #expect(hosts[0].streams.apps.isEmpty && hosts[1].streams.apps.isEmpty)
    }

    @Test("The agent makes the digest of what begins at 0, also where it begins anew")
    mutating func digestOfAgent() {
        begin(size: 3)
        say(.stream(id, .pull(offset: 1, length: 2, prefix: [7])), 1)
        say(.stream(id, .piece(offset: 1, [8, 9])), 0)
        say(.stream(id, .pull(offset: 0, length: 3, prefix: [])), 1)
        say(.stream(id, .piece(offset: 0, [1, 2])), 0)
        say(.stream(id, .piece(offset: 2, [3])), 0)
        say(.stream(id, .allGiven(digest: [])), 0)
        #expect(steps(1).last == .allGiven(digest: digest))
    }

    @Test("What came is compared by the agent, where it saw all of it", arguments: [0, 1] as [Int64])
    mutating func comparison(_ start: Int64) {
        begin(size: 3)
        say(.stream(id, .pull(offset: start, length: 3 - start, prefix: [7])), 1)
        say(.stream(id, .piece(offset: start, [1, 2, 3].suffix(Int(3 - start)))), 0)
        say(.stream(id, .allGiven(digest: [9])), 0)
        #expect(steps(1).last == .allGiven(digest: start == 0 ? [] : [9]))
    }

    @Test(
        "Pieces that lie nowhere in the stream are passed on to nobody", arguments: [-1, 3, .max - 1, .max] as [Int64])
    mutating func pieceElsewhere(_ offset: Int64) throws {
        begin(size: 3)
        say(.stream(id, .pull(offset: 0, length: 3, prefix: [])), 1)
        say(.stream(id, .piece(offset: 0, [1])), 0)
        say(.stream(id, .piece(offset: offset, [2])), 0)
        #expect(steps(1) == [.piece(offset: 0, [1])])
        // Nobody has seen all of it, so that no digest is the right one.
        say(.stream(id, .allGiven(digest: digest)), 0)
        #expect(steps(1).last == .allGiven(digest: []))
    }

    @Test("A digest that is not said, of what did not begin at 0, ends the stream")
    mutating func missingDigest() {
        begin(size: 3)
        say(.stream(id, .pull(offset: 1, length: 2, prefix: [7])), 1)
        say(.stream(id, .piece(offset: 1, [2, 3])), 0)
        say(.stream(id, .allGiven(digest: [])), 0)
        #expect(outcome == .failed)
    }

    @Test("No more may be asked for than the window, and no more is given than was asked for")
    mutating func window() {
        begin()
        say(.stream(id, .pull(offset: 0, length: RelayStreamStep.window, prefix: [])), 1)
        #expect(steps(0).count == 1)
        say(.stream(id, .pull(offset: RelayStreamStep.window, length: 1, prefix: [])), 1)
        #expect(outcome == .failed)
        #expect(steps(0).count == 1)
        var other = Self()
        other.begin()
        other.say(.stream(other.id, .piece(offset: 0, [1])), 0)
        #expect(other.outcome == .failed)
        #expect(other.steps(1).allSatisfy { if case .piece = $0 { false } else { true } })
    }

    @Test("Nobody else says anything about a stream")
    mutating func others() {
        begin()
        say(.stream(UUID(), .pull(offset: 0, length: 1, prefix: [])), 1)
        let stranger = hosts[1].take(
            .stream(id, .taken(RelayOutcome(.success))), from: 9, app: "c.d", name: "C", isTerminal: false, at: 0)
        #expect(stranger.isEmpty && outcome == nil)
        // Who gives cannot take, nor the reverse.
        say(.stream(id, .taken(RelayOutcome(.success))), 0)
        say(.stream(id, .piece(offset: 0, [1])), 1)
        #expect(outcome == nil && steps(0).isEmpty && steps(1).isEmpty)
    }

    @Test("A service that is not open takes no stream")
    mutating func closed() {
        begin(access: .off)
        #expect(outcome == .serviceUnavailable)
    }

    @Test("The end of either app is told to the other")
    mutating func ends() {
        begin()
        follow(hosts[0].removeClient(1, at: 0), 0)
        #expect(steps(1) == [.lost])
        var other = Self()
        other.begin()
        other.follow(other.hosts[1].removeClient(1, at: 0), 1)
        #expect(other.outcome == .outcomeUnknown)
        #expect(other.hosts[0].streams.apps.isEmpty)
    }

    @Test("When the way is lost both hear of it")
    mutating func lost() {
        begin()
        for side in [0, 1] { follow(hosts[side].received(.interrupted(device: "\(2 - side)"), at: 0), side) }
        #expect(outcome == .outcomeUnknown)
        #expect(steps(1) == [.lost])
    }
}

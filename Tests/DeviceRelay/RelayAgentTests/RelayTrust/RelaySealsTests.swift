import CoreValues
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct RelaySealsTests {
    /// Two devices of one account that know of each other, and what the server sees between them.
    final class Pair {
        var a = RelaySeals()
        var b = RelaySeals()

        init(_ accountA: AccountKey = AccountKey(), _ accountB: AccountKey? = nil) {
            a.begin(device: "a", account: accountA)
            b.begin(device: "b", account: accountB ?? accountA)
            meet()
        }

        init(copying other: Pair) {
            a = other.a
            b = other.b
        }

        func meet() {
            if let device = Self.described(&a, "a") { _ = b.incoming(.changed(revision: 1, device), at: 0) }
            if let device = Self.described(&b, "b") { _ = a.incoming(.changed(revision: 1, device), at: 0) }
        }

        static func described(_ seals: inout RelaySeals, _ id: String) -> RelayDevice? {
            let hello = RelayFrame.hello(token: [], RelayDevice(id: id, name: id, kind: "desktop"))
            guard case .send(.hello(_, let device, _, _)) = seals.outgoing(hello, at: 0) else {
                return nil
            }
            return device
        }

        /// What the server carries when a device says something to the other.
        func seal(
            _ body: [UInt8], fromA: Bool = true, deadline: Int64? = 9, isBulk: Bool = false, at now: Timestamp = 0
        ) -> RelayRoute? {
            let route = RelayRoute(
                peer: fromA ? "b" : "a", id: UUID(), deadline: deadline, body: body, isBulk: isBulk)
            let outgoing = fromA ? a.outgoing(.route(route), at: now) : b.outgoing(.route(route), at: now)
            guard case .send(.route(var sealed)) = outgoing else { return nil }
            sealed.peer = fromA ? "a" : "b"
            return sealed
        }

        /// What the other device reads, and what goes back at once.
        func open(_ route: RelayRoute, atB: Bool = true) -> [UInt8]? {
            let incoming = atB ? b.incoming(.route(route), at: 0) : a.incoming(.route(route), at: 0)
            if case .route(var answer)? = incoming.answer {
                answer.peer = atB ? "b" : "a"
                let back = atB ? a.incoming(.route(answer), at: 0) : b.incoming(.route(answer), at: 0)
                if let told = back.frame { notes.append(told) }
            }
            guard case .route(let opened)? = incoming.frame else { return nil }
            return opened.body
        }
        /// What the sender is told for a body that could not be opened.
        var notes: [RelayFrame] = []
    }

    @Test("What is said in either direction is read there, and nothing of it by the server")
    func secrecy() throws {
        let pair = Pair()
        let secret = Array("a secret text of some length".utf8)
        for round in 0..<6 {
            let route = try #require(pair.seal(secret, fromA: round % 2 == 0))
            #expect(!String(decoding: route.body, as: UTF8.self).contains("secret"))
            #expect(route.body.first == (round == 0 ? 1 : 3))
            #expect(pair.open(route, atB: round % 2 == 0) == secret)
        }
    }

    @Test("A session that carried much gives way to another, and nothing of what is said is lost")
    func usedUp() throws {
        let pair = Pair()
        pair.a.limit = NoiseLimit(messages: 4, bytes: 1000)
        var begun = 0
        for round in 0..<20 {
            let body = [UInt8](repeating: UInt8(round), count: round == 7 ? 1500 : 10)
            let route = try #require(pair.seal(body))
            if route.body.first == 1 { begun += 1 }
            #expect(pair.open(route) == body)
        }
        // The first message of each belongs to the handshake; the one of 1,500 bytes uses a session up by itself.
        #expect(begun == 5)
    }

    @Test("Nothing leaves for a device that has not proven to be of the account")
    func slippedIn() {
        let pair = Pair(AccountKey(), AccountKey())
        #expect(pair.seal([1]) == nil)
        var fresh = RelaySeals()
        fresh.begin(device: "a", account: AccountKey())
        guard
            case .refused(.undelivered(_, .untrusted)) = fresh.outgoing(
                .route(RelayRoute(peer: "b", id: UUID(), deadline: nil, body: [])), at: 0)
        else { return #expect(Bool(false), "it leaves") }
    }

    @Test("A device cannot take another's place with the other's own proof")
    func swapped() throws {
        let pair = Pair()
        let described = Pair.described(&pair.b, "b")
        var device = try #require(described)
        device.id = "c"
        _ = pair.a.incoming(.changed(revision: 2, device), at: 0)
        guard
            case .refused = pair.a.outgoing(
                .route(RelayRoute(peer: "c", id: UUID(), deadline: nil, body: [])), at: 0)
        else { return #expect(Bool(false), "c is believed") }
    }

    @Test("What was changed, bound to another id, deadline or sender, or comes again is not opened")
    func tampered() throws {
        for isFirst in [true, false] {
            let pair = Pair()
            if !isFirst { _ = pair.open(try #require(pair.seal([0]))) }
            let route = try #require(pair.seal([7, 7]))
            for change: (inout RelayRoute) -> Void in [
                { $0.body[$0.body.count - 1] ^= 1 }, { $0.body[30] ^= 1 }, { $0.id = UUID() }, { $0.deadline = 10 },
                { $0.deadline = nil }, { $0.peer = "c" }, { $0.body.removeLast() }, { $0.body = [] },
                { $0.body[0] = 9 },
            ] {
                var changed = route
                change(&changed)
                let other = Pair(copying: pair)
                #expect(other.open(changed) == nil)
            }
            #expect(pair.open(route) == [7, 7])
            #expect(pair.open(route) == nil)
        }
    }

    @Test("A message that was lost does not hold up the next")
    func lost() throws {
        let pair = Pair()
        _ = pair.open(try #require(pair.seal([0])))
        _ = pair.seal([1])
        #expect(pair.open(try #require(pair.seal([2]))) == [2])
    }

    @Test("Where the other device has begun anew, the sender hears that nobody knows, and the next is read")
    func restart() throws {
        let pair = Pair()
        let account = AccountKey()
        pair.a.begin(device: "a", account: account)
        pair.b.begin(device: "b", account: account)
        pair.meet()
        _ = pair.open(try #require(pair.seal([0])))
        let lost = try #require(pair.seal([1]))
        pair.b = RelaySeals()
        pair.b.begin(device: "b", account: account)
        #expect(pair.open(lost) == nil)
        #expect(pair.notes == [.undelivered(id: lost.id, .begunAnew)])
        pair.meet()
        #expect(pair.open(try #require(pair.seal([2]))) == [2])
    }

    @Test("The session in which the other speaks is kept, however many are begun beside it")
    func crowd() throws {
        let pair = Pair()
        // Both begin at once, so that each speaks in a session of its own.
        let (one, other) = (try #require(pair.seal([1])), try #require(pair.seal([2], fromA: false)))
        #expect(pair.open(one) == [1] && pair.open(other, atB: false) == [2])
        for round in 0..<40 {
            // What waits for no answer begins a session each time.
            let begun = (0..<3).compactMap { _ in pair.seal([3], at: Timestamp(seconds: Int64(round + 1) * 3600)) }
            for route in begun { #expect(pair.open(route) == [3]) }
            // Pieces of a file have sessions of their own.
            for _ in 0..<40 { if let piece = pair.seal([5], isBulk: true, at: 1) { _ = pair.open(piece) } }
            let said = try #require(pair.seal([4], fromA: false))
            #expect(said.body.first == 3 && pair.open(said, atB: false) == [4])
        }
    }

    @Test("A session serves an hour")
    func age() throws {
        let pair = Pair()
        _ = pair.open(try #require(pair.seal([0])))
        #expect(pair.seal([1], at: 3_599_999)?.body.first == 3)
        #expect(pair.seal([1], at: 3_600_000)?.body.first == 1)
    }
}

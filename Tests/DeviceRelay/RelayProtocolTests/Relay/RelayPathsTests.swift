import AldabaTestSupport
import Foundation
import Testing

@testable import RelayProtocol

@Suite struct RelayPathsTests {
    /// Two devices with a path by the server and one of their own, each of which keeps its order; steps are followed
    /// when they are told to.
    struct Pair {
        struct Random: RandomNumberGenerator {
            var state: UInt64
            mutating func next() -> UInt64 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return state ^ (state >> 31)
            }
        }

        var paths = [RelayPaths(), RelayPaths()]
        let names = ["a", "b"]
        /// What is under way to each, by the server and directly.
        var byServer: [[RelayRoute]] = [[], []]
        var directly: [[(connection: UUID, message: DirectMessage)]] = [[], []]
        /// The connection that carries; nothing comes over others.
        var open: UUID?
        /// What came, in its order.
        var came: [[UInt8]] = [[], []]
        var viaDirect = [0, 0]
        var refused = 0
        var lost = [0, 0]
        var now: Int64 = 0
        /// Which of the two have a session with the server.
        var isOpen = [true, true]

        init() { for side in [0, 1] { _ = paths[side].sessionOpened(without: [], at: 0) } }

        mutating func follow(_ steps: [RelayPaths.Step], _ side: Int) {
            for step in steps {
                switch step {
                case .relay(var route):
                    route.peer = names[side]
                    #expect(isOpen[side])
                    // What the server cannot pass on it says so.
                    if isOpen[1 - side] { byServer[1 - side].append(route) } else { refused += 1 }
                case .direct(let connection, let message): directly[1 - side].append((connection, message))
                case .deliver(let route):
                    came[side].append(route.body[0])
                    viaDirect[side] += 1
                case .refuse: refused += 1
                case .lost: lost[side] += 1
                case .close, .reach, .wake: break
                }
            }
        }

        mutating func say(_ byte: UInt8, _ side: Int) {
            let route = RelayRoute(peer: names[1 - side], id: UUID(), deadline: nil, body: [byte])
            follow(paths[side].send(route, at: now), side)
        }

        /// Has the next message by the server come.
        mutating func hearByServer(_ side: Int) {
            guard !byServer[side].isEmpty else { return }
            let route = byServer[side].removeFirst()
            switch try? RelayContent(route.body) {
            case .pathBegins(let connection):
                follow(paths[side].announced(connection, by: route.peer), side)
            case .pathEnded(let connection, let received, let isAnswer):
                follow(
                    paths[side].counted(connection, received: received, isAnswer: isAnswer, by: route.peer, at: now),
                    side)
            default: came[side].append(route.body[0])
            }
        }

        mutating func hearDirectly(_ side: Int) {
            guard !directly[side].isEmpty else { return }
            let (connection, message) = directly[side].removeFirst()
            guard connection == open else { return }
            follow(paths[side].receive(message, over: connection, at: now), side)
        }

        mutating func connect() {
            let connection = UUID()
            open = connection
            for side in [0, 1] { follow(paths[side].opened(connection, with: names[1 - side], at: now), side) }
        }

        /// The connection breaks: what is under way on it is lost.
        mutating func cut() {
            guard let connection = open else { return }
            open = nil
            for side in [0, 1] { follow(paths[side].closed(connection, at: now), side) }
        }

        mutating func openSession(_ side: Int) {
            guard !isOpen[side] else { return }
            isOpen[side] = true
            let absent: Set<String> = isOpen[1 - side] ? [] : [names[1 - side]]
            follow(paths[side].sessionOpened(without: absent, at: now), side)
            if isOpen[1 - side] { paths[1 - side].isThere(names[side]) }
        }

        /// The session of a device ends: what is under way by the server is lost.
        mutating func closeSession(_ side: Int) {
            guard isOpen[side] else { return }
            isOpen[side] = false
            byServer = [[], []]
            follow(paths[side].sessionClosed(at: now), side)
            if isOpen[1 - side] { follow(paths[1 - side].isAway(names[side], at: now), 1 - side) }
        }

        mutating func settle() {
            while !byServer.allSatisfy(\.isEmpty) || !directly.allSatisfy(\.isEmpty) {
                for side in [0, 1] {
                    hearByServer(side)
                    hearDirectly(side)
                }
            }
        }
    }

    @Test(
        "What is said goes by the server, then waits until the other has said that all of it has come, and then goes directly"
    )
    func begins() {
        var pair = Pair()
        pair.say(1, 0)
        pair.connect()
        pair.say(2, 0)
        #expect(pair.byServer[1].count == 2)
        pair.settle()
        #expect(pair.paths[0].isDirect("b") && pair.paths[1].isDirect("a"))
        pair.say(3, 0)
        #expect(pair.byServer[1].isEmpty)
        pair.settle()
        #expect(pair.came[1] == [1, 2, 3])
        #expect(pair.viaDirect == [0, 2])
    }

    @Test("When the connection breaks the rest goes by the server, once and in its order")
    func breaks() {
        var pair = Pair()
        pair.connect()
        pair.settle()
        for byte in 1...6 { pair.say(UInt8(byte), 0) }
        for _ in 1...3 { pair.hearDirectly(1) }
        pair.cut()
        pair.say(7, 0)
        pair.settle()
        #expect(pair.came[1] == [1, 2, 3, 4, 5, 6, 7])
        #expect(pair.viaDirect == [0, 3])
        #expect(!pair.paths[0].isDirect("b"))
    }

    @Test("Without a sign for half a second the connection counts as broken; an idle one is asked for a sign")
    func silence() {
        var pair = Pair()
        pair.connect()
        pair.settle()
        pair.say(1, 0)
        pair.directly = [[], []]
        pair.now = RelayPaths.timeout - 1
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        #expect(pair.byServer[1].isEmpty)
        pair.now += 1
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        pair.settle()
        #expect(pair.came[1] == [1])
        #expect(!pair.paths[1].isConnected("a"))
        pair.connect()
        pair.settle()
        pair.now += RelayPaths.quiet
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        #expect(pair.directly[1].map(\.message) == [.probe(number: 1)])
        pair.settle()
        pair.now += RelayPaths.timeout
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        #expect(pair.paths[0].isDirect("b"))
    }

    @Test("A connection that only one side had is given up without a loss")
    func oneSided() {
        var pair = Pair()
        let connection = UUID()
        pair.follow(pair.paths[0].opened(connection, with: "b", at: 0), 0)
        pair.say(1, 0)
        pair.settle()
        pair.follow(pair.paths[0].closed(connection, at: 0), 0)
        pair.say(2, 0)
        pair.settle()
        #expect(pair.came[1] == [1, 2])
        pair.say(3, 0)
        #expect(pair.byServer[1].count == 1)
    }

    @Test("Where the other device does not say in time that it is ready, the connection is given up")
    func unready() {
        var pair = Pair()
        pair.connect()
        pair.directly = [[], []]
        pair.say(1, 0)
        for side in [0, 1] { while !pair.byServer[side].isEmpty { pair.hearByServer(side) } }
        pair.directly = [[], []]
        pair.now = RelayPaths.readyTimeout
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        pair.settle()
        #expect(pair.came[1] == [1])
        #expect(!pair.paths[0].isConnected("b"))
    }

    @Test("When the other device lost its session, what waited is told not to have arrived")
    func lost() {
        var pair = Pair()
        pair.connect()
        pair.settle()
        pair.say(1, 0)
        pair.cut()
        pair.say(2, 0)
        pair.follow(pair.paths[0].isAway("b", at: pair.now), 0)
        #expect(pair.refused == 1)
        #expect(pair.lost == [1, 0])
        pair.byServer = [[], []]
        pair.say(3, 0)
        #expect(pair.byServer[1].map(\.body) == [[3]])
    }

    @Test("Where there is no way by the server a connection is used at once, and with it ends all that was under way")
    func alone() {
        var pair = Pair()
        for side in [0, 1] { pair.closeSession(side) }
        pair.say(1, 0)
        #expect(pair.refused == 1)
        pair.connect()
        #expect(pair.paths[0].isDirect("b") && pair.paths[1].isDirect("a"))
        pair.say(2, 0)
        pair.settle()
        #expect(pair.came[1] == [2])
        pair.say(3, 0)
        pair.cut()
        #expect(pair.lost == [1, 1])
        pair.settle()
        #expect(pair.came[1] == [2])
    }

    @Test(
        "A connection outlives the session of either device, and what waited for the server's word goes over it",
        arguments: [0, 1])
    func outlives(side: Int) {
        var pair = Pair()
        pair.connect()
        pair.say(1, 0)
        pair.closeSession(side)
        pair.say(2, 0)
        pair.settle()
        #expect(pair.came[1] == [1, 2] && pair.refused == 0 && pair.lost == [0, 0])
        pair.openSession(side)
        pair.say(3, 0)
        pair.cut()
        pair.say(4, 0)
        pair.settle()
        #expect(pair.came[1] == [1, 2, 3, 4])
    }

    @Test("A device that went away with its session is found out within half a second")
    func gone() {
        var pair = Pair()
        pair.connect()
        pair.settle()
        pair.now = 100
        pair.closeSession(1)
        pair.directly = [[], []]
        pair.now += RelayPaths.timeout
        pair.follow(pair.paths[0].due(at: pair.now), 0)
        #expect(pair.lost == [1, 0] && !pair.paths[0].isConnected("b"))
    }

    @Test(
        "Whatever breaks when, nothing comes twice or out of its order where sessions with the server end, too",
        arguments: 0..<300)
    func storms(ofSessions seed: Int) {
        var pair = Pair()
        var random = Pair.Random(state: UInt64(seed) &* 6997 &+ 1)
        var said: [UInt8] = [0, 0]
        var closing: [UUID?] = [nil, nil]
        for _ in 0..<800 {
            pair.now += Int64.random(in: 0...20, using: &random)
            let side = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<24, using: &random) {
            case 0..<6 where said[side] < 250:
                said[side] += 1
                pair.say(said[side], side)
            case 6..<12: pair.hearByServer(side)
            case 12..<17: pair.hearDirectly(side)
            case 17 where pair.open == nil && closing == [nil, nil]: pair.connect()
            case 18 where pair.open != nil:
                closing = [pair.open, pair.open]
                pair.open = nil
            case 19, 20:
                // Each side sees the end in its own time.
                guard let connection = closing[side] else { break }
                closing[side] = nil
                pair.follow(pair.paths[side].closed(connection, at: pair.now), side)
            case 21: pair.closeSession(side)
            case 22: pair.openSession(side)
            default: pair.follow(pair.paths[side].due(at: pair.now), side)
            }
        }
        pair.settle()
        for side in [0, 1] {
            let came = pair.came[side]
            #expect(zip(came, came.dropFirst()).allSatisfy { $0 < $1 }, "\(came)")
        }
    }

    @Test("What the other device does not take is refused beyond the bound")
    func bounded() {
        var pair = Pair()
        pair.connect()
        pair.settle()
        for _ in 0..<RelayPaths.limit { pair.say(1, 0) }
        #expect(pair.refused == 0)
        pair.say(1, 0)
        #expect(pair.refused == 1)
        pair.settle()
        pair.say(1, 0)
        #expect(pair.refused == 1)
    }

    @Test("Whatever breaks when, all comes once and in its order", arguments: 0..<200)
    func storms(seed: Int) {
        var pair = Pair()
        var random = Pair.Random(state: UInt64(seed) &* 7919 &+ 1)
        var said: [[UInt8]] = [[], []]
        for _ in 0..<600 {
            pair.now += Int64.random(in: 0...20, using: &random)
            let side = Int.random(in: 0...1, using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6 where said[side].count < 250:
                let byte = UInt8(said[side].count)
                said[side].append(byte)
                pair.say(byte, side)
            case 6..<12: pair.hearByServer(side)
            case 12..<17: pair.hearDirectly(side)
            case 17: if pair.open == nil { pair.connect() }
            case 18: pair.cut()
            default: pair.follow(pair.paths[side].due(at: pair.now), side)
            }
        }
        pair.settle()
        #expect(pair.came[1] == said[0])
        #expect(pair.came[0] == said[1])
        #expect(pair.refused == 0)
    }
}

import AldabaTestSupport
import Testing

@testable import AldabaAPNs

/// A pool against a server that does everything that APNs was seen to do, at random.
private struct Simulation {
    private struct Peer {
        var limit = 0
        var isReady = false
        var isGoingAway = false
        var isProven = false
        /// The requests in flight, in the order of their streams.
        var requests: [Int] = []
    }

    private var pool: ConnectionPool
    private var random: SeededGenerator
    private var now = PoolInstant.now
    private var peers: [Int: Peer] = [:]
    private var submitted = 0
    private var open: Set<Int> = []
    private var endings: [Int: ConnectionPool.Ending] = [:]
    /// The requests that the server has processed, by how many times, and those that it may have.
    private var processed: [Int: Int] = [:]
    private let resendsUnanswered: Bool
    /// The requests that were written, and the latest of them that was written for the first time.
    private var written: Set<Int> = []
    private var latest = 0

    init(seed: UInt64, resendsUnanswered: Bool, startsWithOneStream: Bool) {
        random = SeededGenerator(seed: seed)
        var rules = ConnectionPool.Rules()
        rules.connections = Int.random(in: 1...4, using: &random)
        rules.streams = Int.random(in: 1...20, using: &random)
        rules.resendsUnanswered = resendsUnanswered
        rules.startsWithOneStream = startsWithOneStream
        self.resendsUnanswered = resendsUnanswered
        pool = ConnectionPool(rules: rules)
    }

    mutating func run(steps: Int) throws {
        for _ in 0..<steps { try step() }
        try feed(.shutDown)
        // Everything that is still open ends at its deadline.
        for _ in 0..<1000 where !open.isEmpty {
            now = pool.nextWake ?? now
            try feed(.wake)
            for number in peers.keys.sorted() where peers[number]?.isReady == false { try close(number) }
        }
        #expect(open.isEmpty)
        #expect(endings.count == submitted)
        #expect(pool.connections.isEmpty && pool.requests.isEmpty && pool.queued == 0)
        for (request, times) in processed where !resendsUnanswered {
            #expect(times == 1, "request \(request) was processed \(times) times")
        }
        for (request, ending) in endings {
            if case .failed(_, mayHaveBeenProcessed: false) = ending { #expect(processed[request] == nil) }
        }
    }

    private mutating func step() throws {
        now = now + .milliseconds(Int.random(in: 0...400, using: &random))
        if let wake = pool.nextWake, wake <= now { try feed(.wake) }
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<7:
            submitted += 1
            open.insert(submitted)
            try feed(
                .submit(request: submitted, deadline: now + .seconds(Int.random(in: 1...40, using: &random))))
        case 7: if let request = open.sorted().randomElement(using: &random) { try feed(.cancel(request: request)) }
        default: try act()
        }
    }

    /// The server does something on a connection.
    private mutating func act() throws {
        guard let number = peers.keys.sorted().randomElement(using: &random), let peer = peers[number] else { return }
        guard peer.isReady else {
            return Bool.random(using: &random) ? try settings(number) : try close(number)
        }
        switch Int.random(in: 0..<24, using: &random) {
        case 0: try settings(number)
        case 1: try close(number)
        case 2: try goAway(number)
        case 3: try feed(.pingAcknowledged(connection: number))
        case 4, 5: try endStream(number) { .refused(request: $0, connection: $1) }
        case 6:
            // The stream is reset, before or after the request was processed.
            let isProcessed = Bool.random(using: &random)
            try endStream(number, isProcessed: isProcessed) { .lost(request: $0, connection: $1) }
        case 7: try endStream(number) { .answered(request: $0, connection: $1, .tokenExpired) }
        case 8: try endStream(number) { .answered(request: $0, connection: $1, .tokenRenewedEarly) }
        case 9: try endStream(number) { .answered(request: $0, connection: $1, .leaving) }
        case 10: try endStream(number) { .answered(request: $0, connection: $1, .plain) }
        default:
            if peer.requests.count > 0 { peers[number]?.isProven = true }
            try endStream(number, isProcessed: true) { .answered(request: $0, connection: $1, .proven) }
        }
    }

    private mutating func settings(_ number: Int) throws {
        let limit = [1, 1, 2, 5, 100, 1000].randomElement(using: &random) ?? 1
        peers[number]?.limit = limit
        peers[number]?.isReady = true
        try feed(.settings(connection: number, streamLimit: limit))
    }

    private mutating func close(_ number: Int) throws {
        guard let peer = peers.removeValue(forKey: number) else { return }
        let sent = Int.random(in: 0...peer.requests.count, using: &random)
        for request in peer.requests[..<sent] where Bool.random(using: &random) {
            processed[request, default: 0] += 1
        }
        try feed(.closed(connection: number, unprocessed: Set(peer.requests[sent...])))
    }

    private mutating func goAway(_ number: Int) throws {
        peers[number]?.isGoingAway = true
        try feed(.goAway(connection: number))
        guard let requests = peers[number]?.requests, !requests.isEmpty else { return }
        let kept = Int.random(in: 0...requests.count, using: &random)
        peers[number]?.requests = Array(requests[..<kept])
        for request in requests[kept...] { try feed(.refused(request: request, connection: number)) }
    }

    private mutating func endStream(
        _ number: Int, isProcessed: Bool = false, _ event: (Int, Int) -> ConnectionPool.Event
    ) throws {
        guard let count = peers[number]?.requests.count, count > 0 else { return }
        let request = peers[number]?.requests.remove(at: Int.random(in: 0..<count, using: &random))
        guard let request else { return }
        if isProcessed { processed[request, default: 0] += 1 }
        try feed(event(request, number))
    }

    private mutating func feed(_ event: ConnectionPool.Event) throws {
        var directives: [ConnectionPool.Directive] = []
        pool.handle(event, at: now, using: &random, into: &directives)
        for directive in directives { try perform(directive) }
        let live = pool.connections.values.filter { !$0.isRetired }.count
        #expect(live <= pool.rules.connections)
        #expect(pool.connections.count <= 2 * pool.rules.connections)
        #expect(pool.connections.values.reduce(0) { $0 + $1.inFlight } == pool.inFlight)
    }

    private mutating func perform(_ directive: ConnectionPool.Directive) throws {
        switch directive {
        case .dial(let connection):
            #expect(peers[connection] == nil)
            peers[connection] = Peer()
        case .write(let request, let connection):
            let peer = try #require(peers[connection])
            #expect(peer.isReady && !peer.isGoingAway && open.contains(request))
            #expect(peer.requests.count < min(peer.limit, pool.rules.streams))
            #expect(peer.isProven || !pool.rules.startsWithOneStream || peer.requests.isEmpty)
            peers[connection]?.requests.append(request)
            if written.insert(request).inserted {
                #expect(request > latest, "request \(request) was written after request \(latest)")
                latest = request
            }
        case .abandon(let request, let connection):
            guard let place = peers[connection]?.requests.firstIndex(of: request) else { return }
            peers[connection]?.requests.remove(at: place)
            // The reset may come too late.
            if Bool.random(using: &random) { processed[request, default: 0] += 1 }
        case .ping, .renewToken: break
        case .close(let connection):
            // Bytes that are under way may still be processed.
            for request in peers.removeValue(forKey: connection)?.requests ?? []
            where Bool.random(using: &random) {
                processed[request, default: 0] += 1
            }
        case .finish(let request, let ending):
            #expect(open.remove(request) != nil, "request \(request) ended twice")
            #expect(endings.updateValue(ending, forKey: request) == nil)
        }
    }
}

@Suite struct PoolSimulationTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `every request ends once, within the limits, and is processed at most once`(seed: UInt64) throws {
        var simulation = Simulation(
            seed: seed, resendsUnanswered: false, startsWithOneStream: seed.isMultiple(of: 2))
        try simulation.run(steps: 3000)
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `every request ends once also where unanswered ones are sent again`(seed: UInt64) throws {
        var simulation = Simulation(seed: seed, resendsUnanswered: true, startsWithOneStream: seed.isMultiple(of: 2))
        try simulation.run(steps: 3000)
    }
}

import AldabaTestSupport
import Testing

@testable import AldabaAPNs

/// A pool with a clock that a test moves, and what it directed.
struct PoolTable {
    typealias Directive = ConnectionPool.Directive

    let start = PoolInstant.now
    private(set) var pool: ConnectionPool
    private var random = SeededGenerator(seed: 1)
    private(set) var elapsed = Duration.zero

    init(_ change: (inout ConnectionPool.Rules) -> Void = { _ in }) {
        var rules = ConnectionPool.Rules()
        rules.startsWithOneStream = false
        change(&rules)
        pool = ConnectionPool(rules: rules)
    }

    /// Handles an event and returns the directives.
    mutating func handle(_ event: ConnectionPool.Event) -> [Directive] {
        var directives: [Directive] = []
        pool.handle(event, at: start + elapsed, using: &random, into: &directives)
        return directives
    }

    mutating func submit(_ request: Int, within time: Duration = .seconds(30)) -> [Directive] {
        handle(.submit(request: request, deadline: start + elapsed + time))
    }

    /// Moves the clock to each time at which the pool wants to be woken, as far as a duration from now.
    mutating func advance(_ duration: Duration) -> [Directive] {
        let end = elapsed + duration
        var directives: [Directive] = []
        while let wake = pool.nextWake, wake <= start + end {
            elapsed = max(elapsed, wake - start)
            directives += handle(.wake)
        }
        elapsed = end
        return directives
    }

    /// Makes the first connection ready, with requests from 1 written to it.
    mutating func ready(requests: Int = 1, limit: Int = 100) {
        for request in 1...requests { _ = submit(request) }
        _ = handle(.settings(connection: 1, streamLimit: limit))
    }
}

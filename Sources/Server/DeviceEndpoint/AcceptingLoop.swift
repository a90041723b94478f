/// Which of several event loops takes the next connection. A value.
///
/// Guarantees: while there are few connections they are of few loops, so that a message from device to device seldom wakes a second
/// thread; a loop that has ``crowd`` connections takes one only where each has as many, and none has ``slack`` fewer.
///
/// ```swift
/// var loops = AcceptingLoop(of: 2)
/// loops.opened(on: 0)
/// loops.current  // 0, until it has 256 connections
/// ```
struct AcceptingLoop: Sendable {
    /// How many connections a loop takes before the next one takes any.
    static var crowd: Int { 256 }
    /// By how many connections two loops differ before the other one takes connections.
    static var slack: Int { 64 }

    /// The loop that takes the next connection.
    private(set) var current = 0
    private var counts: [Int]

    /// - Parameter count: How many loops there are; at least one.
    init(of count: Int) { counts = [Int](repeating: 0, count: max(1, count)) }

    /// A connection of a loop has begun.
    mutating func opened(on loop: Int) {
        counts[loop] += 1
        choose()
    }

    /// A connection of a loop has ended.
    mutating func closed(on loop: Int) {
        counts[loop] -= 1
        choose()
    }

    private mutating func choose() {
        if let roomy = counts.firstIndex(where: { $0 < Self.crowd }) {
            let isEmptier = roomy < current && counts[roomy] <= Self.crowd - Self.slack
            if isEmptier || counts[current] >= Self.crowd { current = roomy }
        } else if let least = counts.indices.min(by: { counts[$0] < counts[$1] }),
            counts[current] >= counts[least] + Self.slack
        {
            current = least
        }
    }
}

/// The choice of the event loop that accepts the next connection. A value.
///
/// Guarantees: while there are few connections they belong to few loops, so that a message from device to device seldom
/// wakes a second thread. A loop with ``crowd`` connections accepts another only when each loop has as many, and none
/// has ``slack`` fewer.
///
/// ```swift
/// var loops = AcceptingLoop(of: 2)
/// loops.opened(on: 0)
/// loops.current  // 0, until it has 256 connections
/// ```
struct AcceptingLoop: Sendable {
    /// The number of connections that a loop accepts before the next one accepts any.
    static var crowd: Int { 256 }
    /// The difference of two loops' connections at which the other one accepts connections.
    static var slack: Int { 64 }

    /// The loop that accepts the next connection.
    private(set) var current = 0
    private var counts: [Int]

    /// - Parameter count: The number of loops; at least one.
    init(of count: Int) { counts = [Int](repeating: 0, count: max(1, count)) }

    /// Records that a connection of a loop was opened.
    mutating func opened(on loop: Int) {
        counts[loop] += 1
        choose()
    }

    /// Records that a connection of a loop was closed.
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

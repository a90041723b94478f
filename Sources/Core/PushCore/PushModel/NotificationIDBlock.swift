/// Ids of one node for one batch of changes, where several nodes give ids to the same devices.
///
/// A device's ids rise whatever the nodes' clocks say. A device that has a later id from another node gets the ids of
/// ``next(after:)``. They have the number of the node plus 256, so that they are none of the node's other ids.
package struct NotificationIDBlock: Hashable, Sendable {
    /// The number of nodes that may give ids to the same devices.
    package static let nodeLimit: UInt16 = 256

    private let node: Int64
    private let milliseconds: Range<Int64>
    private var used: Int64 = 0
    private var late: Int

    init(node: Int64, milliseconds: Range<Int64>, late: Int) {
        self.node = node
        self.milliseconds = milliseconds
        self.late = late
    }

    private static let counters = Int64(1) << Int64(NotificationIDGenerator.counterBits)

    private static func id(at milliseconds: Int64, node: Int64, counter: Int64) -> Int64 {
        (milliseconds << Int64(NotificationIDGenerator.nodeBits) | node) << Int64(NotificationIDGenerator.counterBits)
            | counter
    }

    /// The number of bits below the milliseconds in an id.
    package static let lowBits = NotificationIDGenerator.nodeBits + NotificationIDGenerator.counterBits

    /// The highest number below the ids of the block's milliseconds, those of any node.
    package var lastBefore: Int64 { milliseconds.lowerBound << Int64(Self.lowBits) - 1 }

    /// The highest id of the block.
    package var last: Int64 { Self.id(at: milliseconds.upperBound - 1, node: node, counter: Self.counters - 1) }

    /// The highest number in the milliseconds of `count` ids after another id.
    package static func last(of count: Int, after id: Int64) -> Int64 {
        (id >> Int64(lowBits) + Int64(count) + 1) << Int64(lowBits) - 1
    }

    /// The next id; `nil` after the last one.
    package mutating func next() -> NotificationID? {
        guard used < Int64(milliseconds.count) * Self.counters else { return nil }
        defer { used += 1 }
        return NotificationID(
            rawValue: Self.id(
                at: milliseconds.lowerBound + used / Self.counters, node: node, counter: used % Self.counters))
    }

    /// An id of the millisecond after that of another id.
    package mutating func next(after id: Int64) -> NotificationID {
        defer { late += 1 }
        return NotificationID(
            rawValue: Self.id(
                at: id >> Int64(Self.lowBits) + 1, node: node | Int64(Self.nodeLimit),
                counter: Int64(late) % Self.counters))
    }
}

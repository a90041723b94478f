/// A generator of notification ids: 41 bits of milliseconds since 2024, 9 bits of node, 13 bits of counter.
///
/// Guarantees: every id is greater than the one before, even when the clock steps back. No id is greater than the
/// ceiling, which the owner makes durable before it raises it here. So a generator that begins above the last durable
/// ceiling repeats no id, even after a crash. When the clock has passed the ceiling, the generator continues counting
/// below it.
package struct NotificationIDGenerator: Sendable {
    /// 2024-01-01 UTC; the 41 bits last until 2093.
    package static let epoch = Timestamp(seconds: 1_704_067_200)
    static let nodeBits = 9
    static let counterBits = 13

    private let node: Int64
    private var last: Int64
    private var ceiling: Int64
    /// The number of ids that blocks have given after other nodes' ids.
    private var late = 0

    /// Creates a generator that continues above the last run's durable ceiling.
    ///
    /// - Parameters:
    ///   - node: This server's number, `0 ... 511`; only its low nine bits are used.
    ///   - highWater: The ceiling that the last run made durable; `0` on a new store.
    package init(node: UInt16, highWater: Int64) {
        self.node = Int64(node & 0x1FF)
        self.last = max(0, highWater)
        self.ceiling = max(0, highWater)
    }

    /// The smallest id that belongs to an instant on this node.
    package func floor(at instant: Timestamp) -> Int64 {
        let elapsed = min(max(0, instant.milliseconds(since: Self.epoch)), (1 << 41) - 1)
        return elapsed << Int64(Self.nodeBits + Self.counterBits) | node << Int64(Self.counterBits)
    }

    /// The approximate time at which an id was made; an id from an inaccurate clock yields an earlier or later instant.
    package static func instant(of id: NotificationID) -> Timestamp {
        epoch.adding(milliseconds: id.rawValue >> Int64(nodeBits + counterBits))
    }

    /// The ceiling to make durable next, so that ids suffice until `instant`; where the last id is ahead of the clock, for a quarter of a
    /// second more.
    package func ceiling(until instant: Timestamp) -> Int64 { max(floor(at: instant), last + (1 << 30)) }

    /// Allows ids up to `newCeiling`, which the owner has made durable. A lower one changes nothing.
    package mutating func raiseCeiling(to newCeiling: Int64) { ceiling = max(ceiling, newCeiling) }

    /// The next id, or `nil` when no id is left below the ceiling: the owner must raise it first.
    package mutating func next(now: Timestamp) -> NotificationID? {
        let start = floor(at: now)
        // A clock that jumped past the ceiling must not use up the ids below it at once.
        let candidate = start > ceiling ? successor : max(successor, start)
        guard candidate <= ceiling else { return nil }
        last = candidate
        return NotificationID(rawValue: candidate)
    }

    /// The id after the last one; when the counter is used up, the first of the next millisecond, so that the
    /// node's bits stay this node's.
    private var successor: Int64 {
        let bits = Int64(Self.nodeBits + Self.counterBits)
        let isUsedUp = last & (1 << Int64(Self.counterBits) - 1) == 1 << Int64(Self.counterBits) - 1
        let isForeign = (last >> Int64(Self.counterBits)) & 0x1FF != node
        return isUsedUp || isForeign ? ((last >> bits) + 1) << bits | node << Int64(Self.counterBits) : last + 1
    }

    /// Takes a block of ids, which are whole milliseconds of this node; `nil` when there are not so many below the ceiling.
    package mutating func reserve(_ count: Int, now: Timestamp) -> NotificationIDBlock? {
        let bits = Int64(Self.nodeBits + Self.counterBits)
        let start = floor(at: now)
        let next = (last >> bits) + 1
        let first = start > ceiling ? next : max(next, start >> bits)
        let length = max(1, (Int64(count) + (1 << Int64(Self.counterBits)) - 1) >> Int64(Self.counterBits))
        let block = NotificationIDBlock(node: node, milliseconds: first..<first + length, late: late)
        guard block.last <= ceiling else { return nil }
        last = block.last
        late = (late + count) & (1 << Self.counterBits - 1)
        return block
    }

    /// The highest id made so far (or the high-water mark it started from).
    package var highest: NotificationID { NotificationID(rawValue: last) }
}

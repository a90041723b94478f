import Synchronization

/// The number of bytes that are buffered for all connections of an endpoint together. Thread-safe.
final class PendingBytesBudget: Sendable {
    /// The maximum number of bytes.
    static let limit = 512 << 20

    private let taken = Atomic(0)

    /// - Returns: `false` when the limit would be exceeded.
    func take(_ count: Int) -> Bool {
        if taken.wrappingAdd(count, ordering: .relaxed).newValue <= Self.limit { return true }
        give(count)
        return false
    }

    /// Releases bytes.
    func give(_ count: Int) { taken.wrappingSubtract(count, ordering: .relaxed) }

    /// The number of buffered bytes.
    var count: Int { taken.load(ordering: .relaxed) }
}

/// The frames that other devices sent while the connection was choked, in order; bulk frames come after all others.
struct HeldFrames {
    /// The maximum number of buffered bytes of messages.
    static let limit = 1 << 20
    /// The maximum number of buffered bytes of bulk frames: the most that a device requests at a time, 8 MiB of files
    /// and 16 MiB of apps' streams.
    static let bulkLimit = 24 << 20

    /// A queue of frames, in order, with a maximum size in bytes.
    private struct Queue {
        let limit: Int
        var frames: [[UInt8]] = []
        var start = 0
        var size = 0

        var isEmpty: Bool { start == frames.count }

        mutating func add(_ frame: [UInt8]) -> Bool {
            guard size + frame.count <= limit else { return false }
            size += frame.count
            frames.append(frame)
            return true
        }

        mutating func next() -> [UInt8]? {
            guard start < frames.count else { return nil }
            let frame = frames[start]
            // A removed frame must not stay in memory until the queue is empty.
            frames[start] = []
            start += 1
            size -= frame.count
            if start == frames.count {
                frames = []
                start = 0
            }
            return frame
        }
    }

    private let capacity: PendingBytesBudget
    private var messages = Queue(limit: limit)
    private var pieces = Queue(limit: bulkLimit)

    /// - Parameter capacity: The limit that is shared with other connections.
    init(capacity: PendingBytesBudget) { self.capacity = capacity }

    var isEmpty: Bool { messages.isEmpty && pieces.isEmpty }

    /// - Returns: `false` when the limit would be exceeded.
    mutating func hold(_ frame: [UInt8], isBulk: Bool) -> Bool {
        guard capacity.take(frame.count) else { return false }
        if isBulk ? pieces.add(frame) : messages.add(frame) { return true }
        capacity.give(frame.count)
        return false
    }

    /// Removes the oldest frame.
    mutating func next() -> [UInt8]? {
        guard let frame = messages.next() ?? pieces.next() else { return nil }
        capacity.give(frame.count)
        return frame
    }

    /// Drops all frames.
    mutating func drop() {
        while next() != nil {}
    }
}

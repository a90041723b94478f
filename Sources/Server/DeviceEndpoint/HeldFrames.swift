import Synchronization

/// How many bytes are held for all connections of an endpoint together. Thread-safe.
final class HeldRoom: Sendable {
    /// The most bytes.
    static let limit = 512 << 20

    private let taken = Atomic(0)

    /// - Returns: `false` when there is no room for so many bytes.
    func take(_ count: Int) -> Bool {
        if taken.wrappingAdd(count, ordering: .relaxed).newValue <= Self.limit { return true }
        give(count)
        return false
    }

    /// These bytes are not held any more.
    func give(_ count: Int) { taken.wrappingSubtract(count, ordering: .relaxed) }

    /// How many bytes are held.
    var count: Int { taken.load(ordering: .relaxed) }
}

/// What other devices sent while the connection was choked, in order; pieces of large things after everything else.
struct HeldFrames {
    /// The most bytes that are held of messages.
    static let limit = 1 << 20
    /// The most bytes that are held of pieces: what a device asks for at most at a time, 8 MiB of files and 16 of apps' streams.
    static let bulkLimit = 24 << 20

    /// What waits, in order; at most so many bytes.
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
            // What was taken does not stay in memory until the queue is empty.
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

    private let room: HeldRoom
    private var messages = Queue(limit: limit)
    private var pieces = Queue(limit: bulkLimit)

    /// - Parameter room: What is shared with other connections.
    init(room: HeldRoom) { self.room = room }

    var isEmpty: Bool { messages.isEmpty && pieces.isEmpty }

    /// - Returns: `false` when too much is held already.
    mutating func hold(_ frame: [UInt8], isBulk: Bool) -> Bool {
        guard room.take(frame.count) else { return false }
        if isBulk ? pieces.add(frame) : messages.add(frame) { return true }
        room.give(frame.count)
        return false
    }

    /// Takes out what has waited longest.
    mutating func next() -> [UInt8]? {
        guard let frame = messages.next() ?? pieces.next() else { return nil }
        room.give(frame.count)
        return frame
    }

    /// Gives up what is held.
    mutating func drop() {
        while next() != nil {}
    }
}

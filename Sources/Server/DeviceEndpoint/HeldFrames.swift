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

    private var messages = Queue(limit: limit)
    private var pieces = Queue(limit: bulkLimit)

    var isEmpty: Bool { messages.isEmpty && pieces.isEmpty }

    /// - Returns: `false` when too much is held already.
    mutating func hold(_ frame: [UInt8], isBulk: Bool) -> Bool {
        isBulk ? pieces.add(frame) : messages.add(frame)
    }

    /// Takes out what has waited longest.
    mutating func next() -> [UInt8]? { messages.next() ?? pieces.next() }
}

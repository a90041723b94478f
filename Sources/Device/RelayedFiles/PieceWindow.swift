/// How many bytes of a file may be under way at a time, in whole pieces. A value.
///
/// It is twice what comes in the shortest time from a question to its first piece: enough that the way never rests, and so little
/// that what else the devices say to each other waits behind few pieces. It begins small and grows by what it finds. While the devices
/// say something else it is what the way itself holds, so that nothing waits in a queue: a piece, where the way is short.
package struct PieceWindow {
    /// Nothing is under way.
    package init() {}

    /// The least and the most that is under way, in bytes.
    package static let range: ClosedRange<Int64> = 256 << 10...8 << 20

    /// The bytes that may be under way while the devices say nothing else.
    package private(set) var bytes = range.lowerBound
    /// The bytes that may be under way while they do.
    package var bytesBesideTalk: Int64 {
        let piece = Int64(RelayFiles.pieceSize)
        return shortest > 1 && shortest < .max ? max(piece, bytes / 2 / piece * piece) : piece
    }
    /// A question whose answer is awaited: where it begins, when it was asked, and how much had come by then.
    private var sample: (position: Int64, askedAt: Int64, arrived: Int64)?
    /// The shortest time from a question to its first piece, in milliseconds.
    private var shortest = Int64.max

    /// Pieces from this position on are asked for.
    package mutating func asked(from position: Int64, arrived: Int64, at now: Int64) {
        if sample == nil { sample = (position, now, arrived) }
    }

    /// All up to this position has come.
    package mutating func arrived(upTo position: Int64, at now: Int64) {
        guard let (asked, askedAt, before) = sample, position > asked else { return }
        sample = nil
        // The clock was set back: how long it took is not known.
        guard now >= askedAt else { return }
        // Less than a millisecond counts as one.
        let elapsed = max(1, now - askedAt)
        shortest = min(shortest, elapsed)
        let (product, overflow) = max(0, position.subtractingReportingOverflow(before).partialValue)
            .multipliedReportingOverflow(by: 2 * shortest)
        let wanted = min(max(overflow ? .max : product / elapsed, Self.range.lowerBound), Self.range.upperBound)
        // Whole pieces: what is asked for is not cut into smaller ones.
        bytes = wanted - wanted % Int64(RelayFiles.pieceSize)
    }

    /// What was asked for will not come.
    package mutating func forgetSample() { sample = nil }
}

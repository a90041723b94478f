import CoreValues

/// The most bytes of a file that may be in transit, in whole pieces. A value.
///
/// The window is twice the number of bytes that arrive in the shortest round trip from a request to its first piece. So
/// the network is never idle, and other messages wait behind few pieces only. It starts small and grows with the
/// measurements. While the devices exchange other messages it is the capacity of the network alone, so that nothing is
/// queued: one piece, where the round trip is short.
package struct PieceWindow {
    /// A window without measurements.
    package init() {}

    /// The least and the most bytes in transit.
    package static let range: ClosedRange<Int64> = 256 << 10...8 << 20

    /// The most bytes in transit while the devices exchange no other messages.
    package private(set) var bytes = range.lowerBound
    /// The most bytes in transit while they do.
    package var bytesBesideTalk: Int64 {
        let piece = Int64(RelayFiles.pieceSize)
        return shortest > 1 && shortest < .max ? max(piece, bytes / 2 / piece * piece) : piece
    }
    /// A question whose answer is awaited: where it begins, when it was asked, and how much had come by then.
    private var sample: (position: Int64, askedAt: Timestamp, arrived: Int64)?
    /// The shortest time from a question to its first piece, in milliseconds.
    private var shortest = Int64.max

    /// Pieces from this position on are asked for.
    package mutating func asked(from position: Int64, arrived: Int64, at now: Timestamp) {
        if sample == nil { sample = (position, now, arrived) }
    }

    /// All up to this position has come.
    package mutating func arrived(upTo position: Int64, at now: Timestamp) {
        guard let (asked, askedAt, before) = sample, position > asked else { return }
        sample = nil
        // The clock was set back: how long it took is not known.
        guard now >= askedAt else { return }
        // Less than a millisecond counts as one.
        let elapsed = max(1, now.milliseconds(since: askedAt))
        shortest = min(shortest, elapsed)
        let (product, overflow) = max(0, position.subtractingReportingOverflow(before).partialValue)
            .multipliedReportingOverflow(by: 2 * shortest)
        let wanted = min(max(overflow ? .max : product / elapsed, Self.range.lowerBound), Self.range.upperBound)
        // Whole pieces: what is asked for is not cut into smaller ones.
        bytes = wanted - wanted % Int64(RelayFiles.pieceSize)
    }

    /// Discards the current measurement: the pieces that were requested will not arrive.
    package mutating func forgetSample() { sample = nil }
}

import PushCore

/// The moment of an event, by the owner's clocks.
package struct SessionTime: Hashable, Sendable {
    /// Milliseconds of a clock that never goes back; only differences of it mean anything.
    package var uptime: Int64
    /// The time of day, for what is written into packets.
    package var wall: Timestamp

    /// Takes the readings of two clocks at one moment.
    package init(uptime: Int64, wall: Timestamp) {
        self.uptime = uptime
        self.wall = wall
    }
}

extension Int64 {
    /// The sum, held at the ends of the range: an interval from a peer can be anything.
    func saturatingSum(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? (other < 0 ? .min : .max) : sum
    }
}

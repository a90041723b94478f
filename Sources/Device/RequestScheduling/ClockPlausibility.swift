import LocalSchedule

/// Whether the wall clock is trusted, as a value without a clock.
///
/// One rule: a jump of the wall clock by more than 25 hours against CLOCK_BOOTTIME, in either direction, makes it suspect. It is
/// trusted again when it has stood for 60 seconds, or at once when it is set back to where it was. A smaller step is trusted.
package struct ClockPlausibility: Sendable, Hashable {
    package enum State: Sendable, Hashable {
        case trusted
        /// It jumped forward. It is trusted from this time of CLOCK_BOOTTIME on, in milliseconds.
        case suspectAhead(until: Int64)
        /// It jumped back. It is trusted from this time of CLOCK_BOOTTIME on, in milliseconds.
        case suspectBehind(until: Int64)
    }

    /// How long a suspect clock must stand, in milliseconds.
    package static let settlingTime: Int64 = 60_000
    /// How long a machine may be off before its clock is suspect, in milliseconds: 60 days.
    package static let longestAbsence: Int64 = 60 * 86_400_000
    /// Offsets of an unchanged clock differ by less, in milliseconds.
    private static let readingError: Int64 = 1000

    package private(set) var state = State.trusted
    /// The wall clock's offset from CLOCK_BOOTTIME when it was last trusted, in milliseconds; `nil` before the first reading.
    private var trustedOffset: Int64?
    /// The offset since which a suspect clock stands.
    private var standingOffset: Int64 = 0

    package init(state: State = State.trusted, trustedOffset: Int64? = nil) {
        self.state = state
        self.trustedOffset = trustedOffset
    }

    package var isTrusted: Bool { state == .trusted }

    /// When a suspect clock is trusted, in milliseconds of CLOCK_BOOTTIME; `nil` for a trusted one.
    package var deadline: Int64? {
        switch state {
        case .trusted: nil
        case .suspectAhead(let until), .suspectBehind(let until): until
        }
    }

    /// The first reading. The newest time in the store is where the wall clock was; without one the clock is trusted. A
    /// machine may have been off for up to 60 days: a clock that is ahead by less is trusted.
    package mutating func begin(_ now: ClockReading, newest: Instant?) {
        state = .trusted
        let wasOff = newest.map { $0 < now.wall && now.wall.since($0) <= Self.longestAbsence } ?? true
        trustedOffset = wasOff ? nil : newest?.since(Instant(milliseconds: now.sinceBoot))
        observe(now)
    }

    /// A later reading.
    ///
    /// - Returns: Whether a trusted clock became suspect, or a suspect one trusted.
    @discardableResult package mutating func observe(_ now: ClockReading) -> Bool {
        let wasTrusted = isTrusted
        let jump = Self.difference(now.wallOffset, trustedOffset ?? now.wallOffset)
        if jump.magnitude <= LocalSchedule.largestPlausibleStep {
            trust(now)
        } else if let deadline, Self.difference(now.wallOffset, standingOffset).magnitude < Self.readingError {
            if now.sinceBoot >= deadline { trust(now) }
        } else {
            standingOffset = now.wallOffset
            let until = Instant(milliseconds: now.sinceBoot).advanced(by: Self.settlingTime).milliseconds
            state = jump > 0 ? .suspectAhead(until: until) : .suspectBehind(until: until)
        }
        return isTrusted != wasTrusted
    }

    private mutating func trust(_ now: ClockReading) {
        trustedOffset = now.wallOffset
        state = .trusted
    }

    private static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        Instant(milliseconds: left).since(Instant(milliseconds: right))
    }
}

import PushCore
import Scheduling

/// Whether the wall clock is trusted, as a value without a clock.
///
/// One rule: a step of the wall clock against CLOCK_BOOTTIME by more than 25 hours, in either direction, makes it
/// suspect. A smaller step is trusted. A suspect clock is trusted again once it has run for 60 seconds without being
/// set. It is trusted at once when it is set to within 25 hours of its expected time.
package struct ClockPlausibility: Sendable, Hashable {
    /// Whether the wall clock is trusted. A suspect clock has the direction of its jump, and the time from which it is
    /// trusted.
    package enum State: Sendable, Hashable {
        /// The clock is plausible: requests for a date fire by it.
        case trusted
        /// The clock jumped forward. Unless it is set again, it is trusted from this time of CLOCK_BOOTTIME on, in
        /// milliseconds.
        case suspectAhead(until: Int64)
        /// The clock jumped back. Unless it is set again, it is trusted from this time of CLOCK_BOOTTIME on, in
        /// milliseconds.
        case suspectBehind(until: Int64)
    }

    /// How long a suspect clock must run without being set until it is trusted, in milliseconds.
    package static let settlingTime: Int64 = 60_000
    /// How far the first reading may be ahead of the newest time in the store, in milliseconds: 60 days. The machine
    /// may have been off for so long.
    package static let longestAbsence: Int64 = 60 * 86_400_000
    /// The most by which two offsets of a clock that nobody set can differ, in milliseconds.
    private static let readingError: Int64 = 1000

    /// Whether the wall clock is trusted, as of the last reading.
    package private(set) var state = State.trusted
    /// The wall clock's offset from CLOCK_BOOTTIME when it was last trusted, in milliseconds; `nil` before the first
    /// reading.
    private var trustedOffset: Int64?
    /// The offset that a suspect clock has kept since it was last set, in milliseconds.
    private var standingOffset: Int64 = 0

    /// A clock that is trusted and has not been read, unless told otherwise.
    ///
    /// - Parameters:
    ///   - state: Whether the wall clock is trusted.
    ///   - trustedOffset: Its offset from CLOCK_BOOTTIME when it was last trusted, in milliseconds.
    package init(state: State = State.trusted, trustedOffset: Int64? = nil) {
        self.state = state
        self.trustedOffset = trustedOffset
    }

    /// Whether the wall clock is trusted.
    package var isTrusted: Bool { state == .trusted }

    /// When a suspect clock is trusted, in milliseconds of CLOCK_BOOTTIME; `nil` for a trusted one.
    package var deadline: Int64? {
        switch state {
        case .trusted: nil
        case .suspectAhead(let until), .suspectBehind(let until): until
        }
    }

    /// The first reading. It is compared with the newest time in the store: the clock is trusted where it is ahead by
    /// no more than ``longestAbsence``, or behind by no more than 25 hours. Where the store has no time, it is trusted.
    package mutating func begin(_ now: ClockReading, newest: Timestamp?) {
        state = .trusted
        let wasOff = newest.map { $0 < now.wall && now.wall.milliseconds(since: $0) <= Self.longestAbsence } ?? true
        trustedOffset = wasOff ? nil : newest?.milliseconds(since: Timestamp(rawValue: now.sinceBoot))
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
            let until = Timestamp(rawValue: now.sinceBoot).adding(milliseconds: Self.settlingTime).rawValue
            state = jump > 0 ? .suspectAhead(until: until) : .suspectBehind(until: until)
        }
        return isTrusted != wasTrusted
    }

    private mutating func trust(_ now: ClockReading) {
        trustedOffset = now.wallOffset
        state = .trusted
    }

    private static func difference(_ left: Int64, _ right: Int64) -> Int64 {
        Timestamp(rawValue: left).milliseconds(since: Timestamp(rawValue: right))
    }
}

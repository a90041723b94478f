import Glibc

/// Waiting on a thread of one's own.
package enum Pause {
    /// Waits until one of the descriptors has something, or the time has come; returns early when a signal interrupts it.
    ///
    /// - Parameter deadline: `nil` waits for the descriptors alone.
    /// - Returns: `false` when the descriptors cannot be waited for, which another try would not change.
    @discardableResult
    package static func poll(_ descriptors: inout [pollfd], until deadline: ContinuousClock.Instant?) -> Bool {
        Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadline)) >= 0 || errno == EINTR
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        // At most as long as poll can wait, and rounded up, not to wake too early.
        let rest = min(max(.zero, deadline - .now), .seconds(1_000_000)).components
        return Int32(clamping: rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000 + 1)
    }
}

/// How long to wait before something that failed is tried again: twice as long each time.
package struct GrowingPause: Sendable {
    /// The next pause.
    private var next: Duration
    private let first: Duration
    private let longest: Duration

    /// Begins with the first pause, and ends at the longest.
    package init(first: Duration = .seconds(1), longest: Duration = .seconds(60)) {
        (self.next, self.first, self.longest) = (first, first, longest)
    }

    /// When to try again, from now on.
    package mutating func deadline() -> ContinuousClock.Instant {
        defer { next = min(next * 2, longest) }
        return .now + next
    }

    /// It went well: the pauses begin anew.
    package mutating func reset() { next = first }
}

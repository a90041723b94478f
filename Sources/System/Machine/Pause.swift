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
        return Int32(clamping: min(max(.zero, deadline - .now), .seconds(1_000_000)).milliseconds + 1)
    }
}

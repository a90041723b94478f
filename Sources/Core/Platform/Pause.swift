import Glibc

/// Blocking waits on a dedicated thread.
package enum Pause {
    /// Waits until one of the descriptors is ready, or the deadline; returns early when a signal interrupts it.
    ///
    /// - Parameter deadline: The end of the wait; `nil` for none.
    /// - Returns: `false` when the descriptors cannot be polled, which another attempt would not change.
    @discardableResult
    package static func poll(_ descriptors: inout [pollfd], until deadline: ContinuousClock.Instant?) -> Bool {
        Glibc.poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: deadline)) >= 0 || errno == EINTR
    }

    private static func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        // At most the longest wait of poll, and rounded up, so that it does not wake too early.
        return Int32(clamping: min(max(.zero, deadline - .now), .seconds(1_000_000)).milliseconds + 1)
    }
}

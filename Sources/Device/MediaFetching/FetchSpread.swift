import AgentWire

/// How long a device waits before it fetches, so that not all devices fetch at once.
///
/// The sender says over how many seconds they shall spread; each draws its moment within them evenly.
package enum FetchSpread {
    /// The moment of one device.
    ///
    /// - Parameters:
    ///   - seconds: What the sender asked for; more than ``MediaRequest/spreadLimit`` counts as that, and what is no
    ///     number above 0 as 0.
    ///   - random: A number drawn evenly from all there are.
    /// - Returns: Less than the seconds that count.
    package static func delay(over seconds: Double, random: UInt64) -> Duration {
        guard seconds > 0 else { return .zero }
        let milliseconds = (min(seconds, MediaRequest.spreadLimit) * 1000).rounded()
        // 53 bits are what a Double holds.
        return .milliseconds(Int64(milliseconds * (Double(random >> 11) / Double(1 << 53))))
    }
}

import AgentEngine
import AgentProtocol

/// How long a device waits before it fetches, so that not all devices fetch at once.
///
/// The sender sets the number of seconds over which devices spread; each draws its moment evenly within them.
package enum FetchJitter {
    /// The delay of one device.
    ///
    /// - Parameters:
    ///   - seconds: The sender's value. More than ``MediaRequest/spreadLimit`` counts as that; a value that is not a
    ///     number above 0 counts as 0.
    ///   - random: A number drawn evenly from all there are.
    /// - Returns: A delay below the seconds that count.
    package static func delay(over seconds: Double, random: UInt64) -> Duration {
        guard seconds > 0 else { return .zero }
        let milliseconds = (min(seconds, MediaRequest.spreadLimit) * 1000).rounded()
        // 53 bits are what a Double holds.
        return .milliseconds(Int64(milliseconds * (Double(random >> 11) / Double(1 << 53))))
    }
}

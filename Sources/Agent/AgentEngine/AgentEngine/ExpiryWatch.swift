import PushCore

/// Decides when to check next for expired messages.
///
/// Guarantees: of all instants that were noted the earliest counts.
struct ExpiryWatch: Sendable {
    /// The longest pause until the next check, in milliseconds: longer ones would not follow the clock when that is
    /// set.
    static let longestPause: Int64 = 3_600_000

    private var watched: Timestamp?

    /// Records that something expires at an instant.
    ///
    /// - Returns: The milliseconds after which to call ``passed(_:)``; `nil` where an earlier check is due already.
    mutating func watch(_ instant: Timestamp, now: Timestamp) -> Int64? {
        if let watched, watched <= instant { return nil }
        watched = instant
        return min(max(0, instant.rawValue - now.rawValue), Self.longestPause)
    }

    /// The pause for an instant is over.
    ///
    /// - Returns: Whether it is time to look; not where an earlier look has taken its place.
    mutating func passed(_ instant: Timestamp) -> Bool {
        guard watched == instant else { return false }
        watched = nil
        return true
    }
}

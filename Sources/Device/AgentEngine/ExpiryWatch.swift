import PushModel

/// When what expires is looked at next.
///
/// Guarantees: of all instants that were noted the earliest counts.
struct ExpiryWatch: Sendable {
    /// The longest pause until the next look, in milliseconds: longer ones would not follow the clock when that is set.
    static let longestPause: Int64 = 3_600_000

    private var watched: Timestamp?

    /// Something expires at an instant.
    ///
    /// - Returns: After how many milliseconds ``passed(_:)`` is to be told; `nil` where an earlier look is due already.
    mutating func note(_ instant: Timestamp, now: Timestamp) -> Int64? {
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

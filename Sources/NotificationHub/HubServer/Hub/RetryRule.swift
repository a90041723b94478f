import PushCore

/// The rule for retries of a notification that a push service could not accept.
package enum RetryRule {
    /// The time after the first attempt in which retries are made: half an hour, in milliseconds.
    static let timeout: Int64 = 1_800_000
    /// The longest pause between attempts that the rule makes itself: five minutes, in milliseconds.
    private static let longestPause: Int64 = 300_000

    /// The pause after a number of failed attempts, in milliseconds: it doubles from a second to five minutes.
    package static func pause(after attempts: Int) -> Int64 {
        min(longestPause, 1000 << Int64(min(max(attempts - 1, 0), 20)))
    }

    /// The time of the next attempt; `nil` where there is none. Pauses double from a second, but the push service's own
    /// delay is the minimum.
    ///
    /// - Parameter attempts: The number of attempts, including this one.
    static func next(retryAfter wish: Int64, attempts: Int, firstAt: Timestamp, now: Timestamp) -> Timestamp? {
        let pause = max(wish, Self.pause(after: attempts))
        let next = now.adding(milliseconds: pause)
        return next.milliseconds(since: firstAt) <= timeout ? next : nil
    }
}

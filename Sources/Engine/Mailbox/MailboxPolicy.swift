/// How many of an app's notifications may wait for one device in one lane, and what gives way when there are more.
public struct MailboxPolicy: Hashable, Sendable {
    /// What happens when the limit is reached.
    public enum Overflow: String, Sendable, CaseIterable {
        /// The oldest leaves as `dropped(overflow)`.
        case dropOldest
        /// All that waits leaves as `dropped(overflow)`, and a tombstone says how many they were.
        case clear
        /// Only the newest waits, as with APNs; the earlier ones leave as `replaced`.
        case keepNewest
    }

    /// How many notifications may wait; at least 1.
    public var limit: Int
    /// What gives way when the limit is reached.
    public var overflow: Overflow
    /// How many collapse ids may wait; at least 1. ``limit`` then counts only notifications without a collapse id. One
    /// collapse id more makes the one with the oldest notification leave as `dropped(overflow)`, without a tombstone.
    ///
    /// `nil` when ``limit`` counts everything.
    public let collapseLimit: Int?

    /// A policy whose limit counts everything; a limit below 1 is taken as 1.
    public init(limit: Int = 1000, overflow: Overflow = .dropOldest) {
        self.limit = max(1, limit)
        self.overflow = overflow
        collapseLimit = nil
    }

    /// FCM's rule: 100 messages without a collapse key and 4 collapse keys; one more clears (Firebase, "About FCM
    /// messages", on non-collapsible and collapsible messages).
    public static func fcm(limit: Int = 100, collapseLimit: Int = 4) -> MailboxPolicy {
        MailboxPolicy(clearingBeyond: limit, collapseLimit: collapseLimit)
    }

    private init(clearingBeyond limit: Int, collapseLimit: Int) {
        self.limit = max(1, limit)
        overflow = .clear
        self.collapseLimit = max(1, collapseLimit)
    }
}

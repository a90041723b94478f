/// How much of an app's mail waits for one device in one lane, and what gives way when there is more.
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

    /// Notifications that may wait per device; at least 1.
    public var limit: Int
    /// What gives way when the limit is reached.
    public var overflow: Overflow
    /// Collapse ids that may wait beside the limit, which then counts only what has none; at least 1. Beyond it the
    /// collapse id whose notification is the oldest leaves as `dropped(overflow)`, without a tombstone.
    ///
    /// `nil` when the limit counts everything.
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

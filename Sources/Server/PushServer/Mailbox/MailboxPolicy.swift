/// The limit on an app's notifications for one device in one lane, and the behaviour when it is exceeded.
package struct MailboxPolicy: Hashable, Sendable {
    /// The behaviour when the limit is reached.
    package enum Overflow: String, Sendable, CaseIterable {
        /// The oldest leaves as `dropped(overflow)`.
        case dropOldest
        /// All queued notifications leave as `dropped(overflow)`, and a tombstone contains their number.
        case clear
        /// Only the newest waits, as with APNs; the earlier ones leave as `replaced`.
        case keepNewest
    }

    /// How many notifications may wait; at least 1.
    package var limit: Int
    /// The behaviour when the limit is reached.
    package var overflow: Overflow
    /// How many collapse ids may wait; at least 1. ``limit`` then counts only notifications without a collapse id. One
    /// collapse id more makes the one with the oldest notification leave as `dropped(overflow)`, without a tombstone.
    ///
    /// `nil` when ``limit`` counts everything.
    package let collapseLimit: Int?

    /// A policy whose limit counts everything; a limit below 1 is taken as 1.
    package init(limit: Int = 1000, overflow: Overflow = .dropOldest) {
        self.limit = max(1, limit)
        self.overflow = overflow
        collapseLimit = nil
    }

    /// FCM's rule: 100 messages without a collapse key and 4 collapse keys; one more clears (Firebase, "About FCM
    /// messages", on non-collapsible and collapsible messages).
    package static func fcm(limit: Int = 100, collapseLimit: Int = 4) -> MailboxPolicy {
        MailboxPolicy(clearingBeyond: limit, collapseLimit: collapseLimit)
    }

    private init(clearingBeyond limit: Int, collapseLimit: Int) {
        self.limit = max(1, limit)
        overflow = .clear
        self.collapseLimit = max(1, collapseLimit)
    }
}

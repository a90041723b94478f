/// How much of an app's mail waits for one device, and what gives way when there is more.
public struct MailboxPolicy: Hashable, Sendable {
    /// What happens when the limit is reached.
    public enum Overflow: String, Sendable, CaseIterable {
        /// The oldest leaves as `dropped(overflow)`.
        case dropOldest
        /// Only the newest waits, as with APNs; the earlier ones leave as `replaced`.
        case keepNewest
    }

    /// Notifications that may wait per device; at least 1.
    public var limit: Int
    public var overflow: Overflow

    public init(limit: Int = 1000, overflow: Overflow = .dropOldest) {
        self.limit = max(1, limit)
        self.overflow = overflow
    }
}

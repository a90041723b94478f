/// The notifications of the list that belong together: those of one app with one thread identifier.
public struct NotificationThread: Codable, Hashable, Sendable {
    /// The thread's identifier; empty for what names none.
    public var thread: String
    /// How many there are, one at least.
    public var count: Int
    /// The one that came last.
    public var newest: ListedNotification
    /// The summary of the others; `nil` where there are none.
    public var others: String?

    /// Sums a thread up.
    public init(thread: String, count: Int, newest: ListedNotification, others: String? = nil) {
        self.thread = thread
        self.count = count
        self.newest = newest
        self.others = others
    }
}

import PushModel

/// The timelines' `sent` lines that are not written yet: a value.
///
/// A device acknowledges most notifications within milliseconds. So a line waits for its notification's next change and
/// is written with that, in one transaction; what nothing happens to is due after ``patienceMilliseconds``.
struct SentLines {
    static let patienceMilliseconds: Int64 = 1000

    private var lines: [NotificationID: Timestamp] = [:]
    /// The ids in the order of their lines; those that were written since are passed over.
    private var order: [(id: NotificationID, at: Timestamp)] = []
    private var head = 0
    /// What the transaction that is under way has taken.
    private var taken: [(id: NotificationID, at: Timestamp)] = []

    /// Whether nothing waits.
    var isEmpty: Bool { lines.isEmpty }

    /// Notifications were written to a connection.
    mutating func sent(_ ids: [NotificationID], at now: Timestamp) {
        for id in ids where lines.updateValue(now, forKey: id) == nil { order.append((id, now)) }
    }

    /// The line of a notification that changes, for the transaction that is under way; `nil` when it is written.
    mutating func take(_ id: NotificationID) -> TimelineEntry? {
        guard !lines.isEmpty, let at = lines.removeValue(forKey: id) else { return nil }
        taken.append((id, at))
        return TimelineEntry(at: at, state: .sent, source: .server)
    }

    /// What has waited long enough.
    mutating func due(at now: Timestamp) -> [NotificationID] {
        var due: [NotificationID] = []
        // A clock that was set back makes everything due: a line is worth more than the wait for company.
        while head < order.count, !(0..<Self.patienceMilliseconds).contains(now.milliseconds(since: order[head].at)) {
            if lines[order[head].id] != nil { due.append(order[head].id) }
            head += 1
        }
        if head > 64, head > order.count / 2 {
            order.removeSubrange(..<head)
            head = 0
        }
        return due
    }

    /// Every notification whose line waits.
    var ids: [NotificationID] { Array(lines.keys) }

    /// The transaction is durable.
    mutating func committed() { taken.removeAll(keepingCapacity: true) }

    /// The transaction failed: what it had taken waits again.
    mutating func failed() {
        for (id, at) in taken {
            lines[id] = at
            order.append((id, at))
        }
        taken = []
    }
}

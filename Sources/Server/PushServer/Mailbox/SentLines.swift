import PushCore

/// The timelines' `sent` lines that are not written yet: a value.
///
/// A device acknowledges most notifications within milliseconds. So a line waits for its notification's next change and
/// is written with that, in one transaction; what nothing happens to is due after ``timeout``.
package struct SentLines: Sendable {
    /// How long a line waits for a change of its notification at most.
    package static let timeout = Duration.seconds(1)

    private var lines: [NotificationID: Timestamp] = [:]
    /// The ids in the order of their lines; those that were written since are passed over.
    private var order: [(id: NotificationID, at: Timestamp)] = []
    private var head = 0
    /// The lines taken by the current transaction.
    private var taken: [(id: NotificationID, at: Timestamp)] = []

    /// No line waits.
    package init() {}

    /// Whether nothing waits.
    package var isEmpty: Bool { lines.isEmpty }

    /// Notifications were written to a connection.
    package mutating func sent(_ ids: [NotificationID], at now: Timestamp) {
        for id in ids where lines.updateValue(now, forKey: id) == nil { order.append((id, now)) }
    }

    /// Takes the line of a notification that changes, for the current transaction; `nil` when it is written.
    package mutating func take(_ id: NotificationID) -> TimelineEntry? {
        guard !lines.isEmpty, let at = lines.removeValue(forKey: id) else { return nil }
        taken.append((id, at))
        return TimelineEntry(at: at, state: .sent, source: .server)
    }

    /// The notifications whose line has been queued for ``timeout``.
    package mutating func due(at now: Timestamp) -> [NotificationID] {
        var due: [NotificationID] = []
        // A clock that was set back makes everything due: a line is worth more than the wait for company.
        while head < order.count, !(.zero..<Self.timeout).contains(now.duration(since: order[head].at)) {
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
    package var ids: [NotificationID] { Array(lines.keys) }

    /// The transaction is durable.
    package mutating func committed() { taken.removeAll(keepingCapacity: true) }

    /// The transaction failed: what it had taken waits again.
    package mutating func failed() {
        for (id, at) in taken {
            lines[id] = at
            order.append((id, at))
        }
        taken = []
    }
}

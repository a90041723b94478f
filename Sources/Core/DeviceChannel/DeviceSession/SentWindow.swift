import PushCore

/// The notifications that were written to a connection and are not acknowledged, in the order of their stream ids.
struct SentWindow: Sendable {
    private struct Entry {
        var stream: Int32
        var id: NotificationID
        var isStored: Bool
    }

    private var entries: [Entry] = []
    private var head = 0

    var count: Int { entries.count - head }

    /// The attempts (TTL 0) among them, which are stored nowhere.
    var attempts: [NotificationID] { entries[head...].lazy.filter { !$0.isStored }.map(\.id) }

    mutating func append(stream: Int32, id: NotificationID, isStored: Bool) {
        entries.append(Entry(stream: stream, id: id, isStored: isStored))
    }

    /// Takes out everything up to and with a stream id; those that are stored apart from those that are not.
    mutating func removeThrough(_ stream: Int32) -> (stored: [NotificationID], attempts: [NotificationID]) {
        var ids: (stored: [NotificationID], attempts: [NotificationID]) = ([], [])
        while head < entries.count, entries[head].stream <= stream {
            if entries[head].isStored {
                ids.stored.append(entries[head].id)
            } else {
                ids.attempts.append(entries[head].id)
            }
            head += 1
        }
        compact()
        return ids
    }

    /// Takes out single notifications, wherever they are.
    ///
    /// - Returns: The removed ids whose notifications are not stored.
    mutating func remove(_ ids: Set<NotificationID>) -> [NotificationID] {
        entries.removeSubrange(..<head)
        head = 0
        let attempts = entries.lazy.filter { !$0.isStored && ids.contains($0.id) }.map(\.id)
        let taken = Array(attempts)
        entries.removeAll { ids.contains($0.id) }
        compact()
        return taken
    }

    /// An empty window holds no memory; a long one gives back what was taken out once that is the larger half.
    private mutating func compact() {
        if head == entries.count {
            entries = []
            head = 0
        } else if head > 64, head > entries.count / 2 {
            entries.removeSubrange(..<head)
            head = 0
        }
    }
}

import PushCore

/// The latest broadcasts of a store, by their topics: a value.
///
/// Broadcasts for devices with known subscriptions are found in it without a statement of their own.
package struct LatestBroadcasts {
    private struct Entry {
        var sequence: Int64
        var topic: TopicNumber
        var broadcast: NotificationID
    }

    /// The maximum number of rows that are read of a topic.
    package static let limit = 256

    /// The entries, latest first.
    private var entries: [Entry] = []
    /// The sequence number after which every broadcast is included.
    private var floor: Int64

    /// Creates a list of everything after a sequence number, as long as fewer than ``limit`` rows are added.
    package init(after floor: Int64) { self.floor = floor }

    /// Adds a row that precedes those that were added so far.
    package mutating func prepend(sequence: Int64, topic: TopicNumber, broadcast: NotificationID) {
        entries.append(Entry(sequence: sequence, topic: topic, broadcast: broadcast))
        // Other topics of the last row's broadcast may be missing.
        if entries.count == Self.limit { floor = sequence }
    }

    /// The broadcasts that may be for a device, in order, at most ``DeviceAudience/broadcastLimit``; `nil` where its
    /// position is older than the list.
    package func broadcasts(for audience: DeviceAudience) -> [NotificationID]? {
        guard audience.cursor >= floor else { return nil }
        var found: [NotificationID] = []
        var last: Int64?
        for entry in entries.reversed() where entry.sequence > audience.cursor && entry.sequence != last {
            guard
                entry.topic == .everyone
                    || audience.memberships.contains(where: { $0.topic == entry.topic && $0.joined < entry.sequence })
            else { continue }
            found.append(entry.broadcast)
            last = entry.sequence
            if found.count == DeviceAudience.broadcastLimit { break }
        }
        return found
    }
}

import Fanout
import PushModel

/// The latest broadcasts of a store, by the topics under which they are found: a value.
///
/// Devices whose subscriptions are known find in it what concerns them, without a statement of their own.
struct LatestBroadcasts {
    private struct Entry {
        var sequence: Int64
        var topic: TopicNumber
        var broadcast: NotificationID
    }

    /// How many rows of a topic are read at most.
    static let limit = 256

    /// Latest first.
    private var entries: [Entry] = []
    /// Every broadcast after this sequence number is here.
    private var floor: Int64

    /// Knows everything after a sequence number, as long as fewer than ``limit`` rows are added.
    init(after floor: Int64) { self.floor = floor }

    /// Adds a row that comes before those that were added so far.
    mutating func prepend(sequence: Int64, topic: TopicNumber, broadcast: NotificationID) {
        entries.append(Entry(sequence: sequence, topic: topic, broadcast: broadcast))
        // Of the last row's broadcast other topics may be missing.
        if entries.count == Self.limit { floor = sequence }
    }

    /// What may concern a device, in order, at most ``DeviceAudience/broadcastLimit``; `nil` where that goes further back.
    func broadcasts(for audience: DeviceAudience) -> [NotificationID]? {
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

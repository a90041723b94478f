import PushCore

/// The notifications of one app, environment and lane, ordered by id.
///
/// Appending and removing cost O(log n) at most: a removed slot is only marked, and the marked ones are cut out when
/// they are more than half of all.
struct AppQueue: Sendable {
    struct Slot: Sendable {
        var id: NotificationID
        var expiresAt: Timestamp
        var collapseID: String?
        var isInFlight = false
        /// A later one has the same collapse id; it was in flight then, so it stays until the next login.
        var isOvertaken = false
        var isGone = false
    }

    /// The app, environment and lane of the notifications in a queue.
    struct Name: Hashable, Sendable {
        var app: AppID
        var environment: PushEnvironment
        var lane: Lane
    }

    let name: Name
    private var slots: [Slot] = []
    private var head = 0
    /// The newest id of each collapse id.
    private var newest: [String: NotificationID] = [:]
    /// The earliest expiry of all slots, or earlier: nothing has expired before it.
    private var earliestExpiry = Timestamp.distantFuture
    private(set) var count = 0
    /// How many of them have a collapse id.
    private var collapsibleCount = 0
    /// How many were overtaken and still wait.
    private var overtakenCount = 0

    init(name: Name) { self.name = name }

    var ids: [NotificationID] { slots[head...].lazy.filter { !$0.isGone }.map(\.id) }
    var oldest: NotificationID? { head < slots.count ? slots[head].id : nil }
    var overtaken: [NotificationID] { slots[head...].lazy.filter { !$0.isGone && $0.isOvertaken }.map(\.id) }

    /// How many have no collapse id.
    var plainCount: Int { count - collapsibleCount }
    /// How many collapse ids wait, and the one whose newest notification is the oldest.
    var collapseIDCount: Int { newest.count }
    var oldestCollapseID: String? { newest.min { $0.value < $1.value }?.key }

    func id(collapsing collapseID: String) -> NotificationID? { newest[collapseID] }
    func ids(collapsing collapseID: String) -> [NotificationID] {
        slots[head...].lazy.filter { !$0.isGone && $0.collapseID == collapseID }.map(\.id)
    }
    func contains(_ id: NotificationID) -> Bool { index(of: id) != nil }
    func isInFlight(_ id: NotificationID) -> Bool { index(of: id).map { slots[$0].isInFlight } ?? false }

    private func index(of id: NotificationID) -> Int? {
        var low = head
        var high = slots.count
        while low < high {
            let middle = low + (high - low) / 2
            if slots[middle].id < id { low = middle + 1 } else { high = middle }
        }
        return low < slots.count && slots[low].id == id && !slots[low].isGone ? low : nil
    }

    mutating func append(_ entry: Mailbox.Entry) {
        precondition(slots.last.map { $0.id < entry.id } ?? true, "ids are appended in increasing order")
        slots.append(Slot(id: entry.id, expiresAt: entry.expiresAt, collapseID: entry.collapseID))
        earliestExpiry = min(earliestExpiry, entry.expiresAt)
        if let collapseID = entry.collapseID {
            newest[collapseID] = entry.id
            collapsibleCount += 1
        }
        count += 1
    }

    /// Changes a slot; `false` when the id does not wait here.
    @discardableResult
    mutating func update(_ id: NotificationID, _ change: (inout Slot) -> Void) -> Bool {
        guard let index = index(of: id) else { return false }
        let wasOvertaken = slots[index].isOvertaken
        change(&slots[index])
        if slots[index].isOvertaken, !wasOvertaken { overtakenCount += 1 }
        return true
    }

    /// Everything is in flight.
    mutating func markInFlight() {
        for index in slots.indices { slots[index].isInFlight = true }
    }

    /// Nothing is in flight any more.
    mutating func clearInFlight() {
        for index in slots.indices where slots[index].isInFlight { slots[index].isInFlight = false }
    }

    /// Takes an id away; `false` when it does not wait here.
    mutating func remove(_ id: NotificationID) -> Bool {
        guard let index = index(of: id) else { return false }
        slots[index].isGone = true
        count -= 1
        if let collapseID = slots[index].collapseID {
            collapsibleCount -= 1
            if slots[index].isOvertaken { overtakenCount -= 1 }
            // What was overtaken still waits under its collapse id when its successor has left.
            if newest[collapseID] == id {
                newest[collapseID] = overtakenCount > 0 ? ids(collapsing: collapseID).last : nil
            }
        }
        while head < slots.count, slots[head].isGone { head += 1 }
        if slots.count > 2 * count + 32 {
            slots.removeAll(where: \.isGone)
            head = 0
        }
        if count == 0 { earliestExpiry = .distantFuture }
        return true
    }

    /// The ids whose time has passed.
    mutating func expired(at now: Timestamp) -> (ids: [NotificationID], since: Timestamp) {
        let since = earliestExpiry
        guard since <= now else { return ([], since) }
        let living = slots[head...].filter { !$0.isGone }
        earliestExpiry = living.lazy.map(\.expiresAt).filter { $0 > now }.min() ?? .distantFuture
        return (living.filter { $0.expiresAt <= now }.map(\.id), since)
    }
}

import PushCore

/// The queued notifications of one device, in order, by app, environment and lane.
package struct Mailbox: Sendable {
    /// A queued notification, as the owner's store keeps it.
    package struct Entry: Hashable, Sendable {
        /// The notification's internal id, and its place in the order.
        package var id: NotificationID
        /// The app that is to have it.
        package var app: AppID
        /// The environment of the app's registration.
        package var environment: PushEnvironment
        /// The lane in which it waits.
        package var lane: Lane
        /// The collapse id; `nil` where the notification replaces none.
        package var collapseID: String?
        /// The instant from which it is expired.
        package var expiresAt: Timestamp

        /// Makes the entry of one notification.
        package init(
            id: NotificationID, app: AppID, environment: PushEnvironment, lane: Lane, collapseID: String?,
            expiresAt: Timestamp
        ) {
            self.id = id
            self.app = app
            self.environment = environment
            self.lane = lane
            self.collapseID = collapseID
            self.expiresAt = expiresAt
        }
    }

    /// An action for the owner to carry out.
    package enum Directive: Hashable, Sendable {
        /// Delete the row of this id and record why it left.
        case remove(NotificationID, NotificationState)
        /// Store this, in place of an earlier one of the same app, environment and lane, and send it to the device.
        case tombstone(Tombstone)
        /// Delete the tombstone of this id: the device knows of it, or its app is gone.
        case removeTombstone(NotificationID)
        /// Store this, and send it to the device.
        case recall(Recall)
        /// Delete the recall of this id: the device knows of it, or too many wait.
        case removeRecall(NotificationID)
    }

    var queues: [AppQueue] = []
    /// The records of cleared notifications that are to be sent to the device.
    package private(set) var tombstones: [Tombstone]
    /// The recalls of withdrawn notifications that are to be sent to the device, in order.
    package internal(set) var recalls: [Recall]
    /// The notifications that have expired since ``takeMissed()``.
    private var missed: [MissedNotifications] = []

    /// Takes over what a store holds for the device, ordered by id.
    ///
    /// Where several wait under one collapse id, the earlier ones had been sent when they were overtaken: they
    /// go at the next ``sessionOpened(now:)``.
    package init(
        entries: some Sequence<Entry> = [], tombstones: some Sequence<Tombstone> = [],
        recalls: some Sequence<Recall> = []
    ) {
        self.tombstones = Array(tombstones)
        self.recalls = Array(recalls)
        for entry in entries {
            let place = queue(of: entry)
            if let collapseID = entry.collapseID, let earlier = queues[place].id(collapsing: collapseID) {
                queues[place].update(earlier) { $0.isOvertaken = true }
            }
            queues[place].append(entry)
        }
    }

    /// How many notifications wait, those in flight included.
    package var count: Int { queues.reduce(0) { $0 + $1.count } }

    /// How many wait for one app and environment in one lane.
    package func count(app: AppID, environment: PushEnvironment, lane: Lane) -> Int {
        let name = AppQueue.Name(app: app, environment: environment, lane: lane)
        return queues.first { $0.name == name }?.count ?? 0
    }

    /// Whether an id waits.
    package func contains(_ id: NotificationID) -> Bool { queues.contains { $0.contains(id) } }

    /// The ids that wait, in order, over all apps.
    package var ids: [NotificationID] { queues.flatMap(\.ids).sorted() }

    private mutating func queue(of entry: Entry) -> Int {
        let name = AppQueue.Name(app: entry.app, environment: entry.environment, lane: entry.lane)
        if let index = queues.firstIndex(where: { $0.name == name }) { return index }
        queues.append(AppQueue(name: name))
        return queues.count - 1
    }

    // MARK: Events

    /// Queues an accepted notification.
    ///
    /// - Parameter tombstoneID: An id between all earlier ones and the entry's, for the tombstone of a policy that
    ///   clears.
    /// - Precondition: `entry.id` is greater than every id that was appended before; a policy that clears has a
    ///   `tombstoneID`.
    /// - Returns: The directives for the notifications that it replaces or displaces.
    package mutating func appended(
        _ entry: Entry, policy: MailboxPolicy, tombstoneID: NotificationID? = nil, now: Timestamp
    ) -> [Directive] {
        let place = queue(of: entry)
        var directives: [Directive] = []
        if let collapseID = entry.collapseID, let earlier = queues[place].id(collapsing: collapseID) {
            if queues[place].isInFlight(earlier) {
                queues[place].update(earlier) { $0.isOvertaken = true }
            } else {
                remove(earlier, from: place, state: .replaced, directives: &directives)
            }
        }
        switch policy.overflow {
        case .dropOldest:
            if queues[place].count >= policy.limit { expire(place, now: now, &directives) }
            while queues[place].count >= policy.limit, let oldest = queues[place].oldest {
                remove(oldest, from: place, state: .dropped(.overflow), directives: &directives)
            }
        case .clear:
            guard let tombstoneID else { preconditionFailure("a policy that clears has an id for a tombstone") }
            if entry.collapseID != nil, let limit = policy.collapseLimit {
                makeRoom(for: entry, in: place, limit, now: now, &directives)
            } else {
                clear(place, policy, tombstoneID, now: now, &directives)
            }
        case .keepNewest:
            for id in queues[place].ids where !queues[place].isInFlight(id) {
                remove(id, from: place, state: .replaced, directives: &directives)
            }
        }
        queues[place].append(entry)
        return directives
    }

    /// Empties an app's lane that is full.
    private mutating func clear(
        _ place: Int, _ policy: MailboxPolicy, _ tombstoneID: NotificationID, now: Timestamp,
        _ directives: inout [Directive]
    ) {
        func isFull() -> Bool {
            (policy.collapseLimit == nil ? queues[place].count : queues[place].plainCount) >= policy.limit
        }
        guard isFull() else { return }
        expire(place, now: now, &directives)
        guard isFull() else { return }
        clear(place, .overflow, tombstoneID, now: now, &directives)
    }

    /// Empties an app's lane, and leaves a tombstone.
    private mutating func clear(
        _ place: Int, _ reason: NotificationState.DropReason, _ tombstoneID: NotificationID, now: Timestamp,
        _ directives: inout [Directive]
    ) {
        let ids = queues[place].ids
        for id in ids { remove(id, from: place, state: .dropped(reason), directives: &directives) }
        let name = queues[place].name
        directives += leave(
            Tombstone(
                id: tombstoneID, app: name.app, environment: name.environment, lane: name.lane, count: ids.count,
                since: now))
    }

    /// Adds a tombstone to an earlier one of the same app, environment and lane, and takes its place.
    private mutating func leave(_ new: Tombstone) -> [Directive] {
        var tombstone = new
        let name = AppQueue.Name(app: new.app, environment: new.environment, lane: new.lane)
        if let index = tombstones.firstIndex(where: { $0.isOf(name) }) {
            let earlier = tombstones.remove(at: index)
            tombstone.count += earlier.count
            tombstone.since = min(earlier.since, new.since)
        }
        tombstones.append(tombstone)
        return [.tombstone(tombstone)]
    }

    /// Makes space for a collapse id that is not queued yet.
    private mutating func makeRoom(
        for entry: Entry, in place: Int, _ limit: Int, now: Timestamp, _ directives: inout [Directive]
    ) {
        guard let collapseID = entry.collapseID, queues[place].id(collapsing: collapseID) == nil,
            queues[place].collapseIDCount >= limit
        else { return }
        expire(place, now: now, &directives)
        while queues[place].collapseIDCount >= limit, let oldest = queues[place].oldestCollapseID {
            // With what it overtook, so that it does not wait on under an earlier notification.
            for id in queues[place].ids(collapsing: oldest) {
                remove(id, from: place, state: .dropped(.overflow), directives: &directives)
            }
        }
    }

    /// Records that notifications were written to the device's connection; they are in flight from now on.
    package mutating func sent(_ ids: [NotificationID]) {
        for id in ids {
            for place in queues.indices where queues[place].update(id, { $0.isInFlight = true }) { break }
        }
    }

    /// Everything that waits may be in flight: another node has the device's session.
    package mutating func assumeSent() {
        for place in queues.indices { queues[place].markInFlight() }
    }

    /// The device has stored these, tombstones and recalls among them. Ids that do not wait are passed over.
    package mutating func acknowledged(_ ids: [NotificationID]) -> [Directive] {
        var directives: [Directive] = []
        for id in ids {
            for place in queues.indices where queues[place].contains(id) {
                remove(id, from: place, state: .acked, directives: &directives)
            }
            removeTombstones(&directives) { $0.id == id }
            removeRecall(id, &directives)
        }
        return directives
    }

    /// The device logged in, and what it has was acknowledged; nothing is in flight any more.
    package mutating func sessionOpened(now: Timestamp) -> [Directive] {
        var directives: [Directive] = []
        for place in queues.indices {
            for id in queues[place].overtaken { remove(id, from: place, state: .replaced, directives: &directives) }
            queues[place].clearInFlight()
            expire(place, now: now, &directives)
        }
        return directives
    }

    /// Time has passed: what has expired leaves.
    package mutating func expired(now: Timestamp) -> [Directive] {
        var directives: [Directive] = []
        for place in queues.indices { expire(place, now: now, &directives) }
        return directives
    }

    /// An app's registration in one environment ended: all that waits for it leaves, tombstones too.
    package mutating func unregistered(app: AppID, environment: PushEnvironment) -> [Directive] {
        var directives: [Directive] = []
        for place in queues.indices
        where queues[place].name.app == app && queues[place].name.environment == environment {
            for id in queues[place].ids {
                remove(id, from: place, state: .dropped(.unregistered), directives: &directives)
            }
        }
        removeTombstones(&directives) { $0.app == app && $0.environment == environment }
        return directives
    }

    /// How many lanes have something that waits.
    package var occupiedLanes: Int { queues.count { $0.count > 0 } }

    /// The device was away for too long: every lane is cleared, as a full one is.
    ///
    /// - Parameter tombstoneIDs: Greater than every id that was given before; at least ``occupiedLanes`` of them.
    package mutating func deviceInactive(tombstoneIDs: [NotificationID], now: Timestamp) -> [Directive] {
        var directives: [Directive] = []
        var ids = tombstoneIDs[...]
        for place in queues.indices {
            expire(place, now: now, &directives)
            guard queues[place].count > 0, let id = ids.popFirst() else { continue }
            clear(place, .inactive, id, now: now, &directives)
        }
        return directives
    }

    /// The device is back from a long absence: it is told of what expired meanwhile.
    ///
    /// - Parameter tombstoneID: Greater than every id that was given before.
    package mutating func deviceReturned(
        _ missed: MissedNotifications, tombstoneID: NotificationID
    ) -> [Directive] {
        leave(
            Tombstone(
                id: tombstoneID, app: missed.app, environment: missed.environment, lane: missed.lane,
                count: missed.count, since: missed.since))
    }

    /// Returns what has expired since the last call, by app, environment and lane.
    package mutating func takeMissed() -> [MissedNotifications] {
        defer { missed = [] }
        return missed
    }

    private mutating func removeTombstones(
        _ directives: inout [Directive], where isGone: (Tombstone) -> Bool
    ) {
        guard !tombstones.isEmpty else { return }
        directives += tombstones.filter(isGone).map { .removeTombstone($0.id) }
        tombstones.removeAll(where: isGone)
    }

    private mutating func expire(_ place: Int, now: Timestamp, _ directives: inout [Directive]) {
        let (ids, since) = queues[place].expired(at: now)
        guard !ids.isEmpty else { return }
        for id in ids { remove(id, from: place, state: .expired, directives: &directives) }
        let name = queues[place].name
        missed.add(
            MissedNotifications(
                app: name.app, environment: name.environment, lane: name.lane, count: ids.count, since: since))
    }

    mutating func remove(
        _ id: NotificationID, from place: Int, state: NotificationState, directives: inout [Directive]
    ) {
        if queues[place].remove(id) { directives.append(.remove(id, state)) }
    }
}

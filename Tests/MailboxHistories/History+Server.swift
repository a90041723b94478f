import PushCore
import PushServer

/// What the server does in a history.
extension History {
    mutating func accept() {
        let tombstoneID = newID()
        let lane: Lane = chance(2) ? .apns : .fcm
        let collapse = random.next() % 4
        let entry = Mailbox.Entry(
            id: newID(), app: AppID(rawValue: UInt32(random.next() % 2) + 1), environment: .sandbox, lane: lane,
            collapseID: collapse < 2 ? (collapse == 0 ? "a" : "b") : nil,
            expiresAt: now.adding(milliseconds: Int64(random.next() % 400) + 1))
        let policy = policies[lane == .apns ? 0 : 1]
        let directives = mailbox.appended(entry, policy: policy, tombstoneID: tombstoneID, now: now)
        accepted.append(entry)
        rows.append(entry)
        follow(directives)
        checkCap(of: entry, policy)
    }

    /// No more than may wait do.
    private mutating func checkCap(of entry: Mailbox.Entry, _ policy: MailboxPolicy) {
        let waiting = rows.filter { $0.app == entry.app && $0.lane == entry.lane }
        let counted = policy.collapseLimit == nil ? waiting : waiting.filter { $0.collapseID == nil }
        if policy.overflow != .keepNewest, counted.count > policy.limit { fault("\(counted.count) wait") }
        if let limit = policy.collapseLimit, Set(waiting.compactMap(\.collapseID)).count > limit {
            fault("too many collapse ids wait")
        }
    }

    /// Makes the changes durable that the mailbox asks for.
    mutating func follow(_ directives: [Mailbox.Directive]) {
        for directive in directives {
            switch directive {
            case .remove(let id, let state): end(id, state)
            case .tombstone(let tombstone):
                tombstones.removeAll { $0.app == tombstone.app && $0.lane == tombstone.lane }
                tombstones.append(tombstone)
            case .removeTombstone(let id):
                guard let index = tombstones.firstIndex(where: { $0.id == id }) else {
                    return fault("no tombstone \(id)")
                }
                told += tombstones.remove(at: index).count
            case .recall(let recall): recalls.append(recall)
            case .removeRecall(let id):
                guard let index = recalls.firstIndex(where: { $0.id == id }) else { return fault("no recall \(id)") }
                recalls.remove(at: index)
            }
        }
        countCleared(directives)
    }

    private mutating func end(_ id: NotificationID, _ state: NotificationState) {
        guard let index = rows.firstIndex(where: { $0.id == id }) else { return fault("\(id) left and did not wait") }
        let row = rows.remove(at: index)
        if ends.updateValue(state, forKey: id) != nil { fault("\(id) ended twice") }
        if state == .acked, !acknowledgedByDevice.contains(id) {
            fault("\(id) is acked, and the device has not said so")
        }
        if state == .expired, row.expiresAt > now { fault("\(id) expired too early") }
        if case .dropped(.unregistered) = state { fault("\(id) has an end that nobody asked for") }
    }

    /// What a tombstone of these directives stands for.
    private mutating func countCleared(_ directives: [Mailbox.Directive]) {
        guard directives.contains(where: { if case .tombstone = $0 { true } else { false } }) else { return }
        for case .remove(_, .dropped) in directives { cleared += 1 }
    }

    /// Writes what waits after the last id that was written, in order.
    mutating func write() {
        guard var connection else { return }
        var items = rows.filter { $0.id > connection.cursor && $0.expiresAt > now }
            .map { ($0.id, Item.notification($0.id)) }
        items += tombstones.filter { $0.id > connection.cursor }.map { ($0.id, .deletion($0)) }
        items += recalls.filter { $0.id > connection.cursor }.map { ($0.id, .recall($0)) }
        items.sort { $0.0 < $1.0 }
        let page = items.prefix(Int(random.next() % 4) + 1)
        guard let last = page.last else { return }
        connection.cursor = last.0
        connection.toDevice += page.map(\.1)
        self.connection = connection
        let written = page.compactMap { if case .notification(let id) = $0.1 { id } else { nil } }
        mailbox.sent(written)
        sent.formUnion(written)
    }

    /// An acknowledgement reaches the server, also on a connection whose device has another one by now.
    mutating func takeAcknowledgement(ofEarlier: Bool) {
        if ofEarlier {
            guard let ids = earlier?.toServer.first else { return }
            earlier?.toServer.removeFirst()
            follow(mailbox.acknowledged(ids))
        } else {
            guard let ids = connection?.toServer.first else { return }
            connection?.toServer.removeFirst()
            follow(mailbox.acknowledged(ids))
            connection?.toDevice.append(.confirmation(ids))
        }
    }

    /// The process ends; the next one has what is on the disk. The device's connections end with it.
    mutating func crash() {
        mailbox = Mailbox(entries: rows, tombstones: tombstones, recalls: recalls)
        connection = nil
        earlier = nil
    }

    /// A batch cannot be committed: nothing of it has happened, and what is in flight still is.
    mutating func failCommit() {
        guard let connection else { return }
        var tried = mailbox
        _ = tried.acknowledged(connection.toServer.flatMap(\.self))
        _ = tried.expired(now: now.adding(milliseconds: 500))
        let inFlight = rows.map(\.id).filter { $0 <= connection.cursor && sent.contains($0) }
        mailbox = Mailbox(entries: rows, tombstones: tombstones, recalls: recalls)
        mailbox.sent(inFlight)
    }

    mutating func passTime() {
        // Once in a while it is set back.
        now = now.adding(milliseconds: chance(5) ? -200 : Int64(random.next() % 150))
        follow(mailbox.expired(now: now))
    }

    mutating func beAway() {
        guard connection == nil else { return }
        let ids = (0..<mailbox.occupiedLanes).map { _ in newID() }
        follow(mailbox.deviceInactive(tombstoneIDs: ids, now: now))
        if !rows.isEmpty { fault("something waits for a device that is away for good") }
    }

    /// The provider takes one back, as the server's service does it.
    mutating func withdraw() {
        guard !accepted.isEmpty else { return }
        let id = accepted[Int(random.next() % UInt64(accepted.count))].id
        let recallID = newID()
        let withdrawal = mailbox.withdrawn([id])
        follow(withdrawal.directives)
        if !withdrawal.inFlight.allSatisfy(sent.contains) { fault("\(id) was in flight and never sent") }
        guard sent.contains(id) else { return }
        recalled.insert(id)
        follow(mailbox.recalled(Mailbox.Recall(id: recallID, notification: id, at: now)))
        if !recalls.contains(where: { $0.notification == id }) { fault("the device is not told that \(id) is gone") }
    }
}

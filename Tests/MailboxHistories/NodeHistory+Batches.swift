import PushCore
import PushServer

/// The batches of nodes in a history.
extension NodeHistory {
    /// A batch under way: the rows as it leaves them, and its effects.
    struct Batch {
        var database: Database
        var place: SessionLocation
        var block: NotificationIDBlock?
        var late: Int64?
        var delivered: [NotificationID] = []
        var wakes: [Int] = []
        var opened: UInt64?
    }

    /// Executes a batch at a node: locks the row, reads what has changed, decides, and commits.
    ///
    /// - Returns: The outcome.
    mutating func batch(at number: Int, ids: Int, _ body: (inout NodeHistory, inout Batch) -> Void) -> Commit {
        var next = database
        var block: NotificationIDBlock?
        if mistake != .idsFromTheClock {
            block = nodes[number].generator.reserve(ids, now: now.adding(milliseconds: nodes[number].offset))
        }
        if let block { next.row.reserve(ids, from: block) } else { next.row.revision += 1 }
        let isStale = nodes[number].revision + 1 != next.row.revision && mistake != .staleMailboxes
        if !nodes[number].isRead || isStale { readMailbox(number) }
        var batch = Batch(
            database: next,
            place: next.row.place(at: UInt16(number), epoch: nodes[number].session?.epoch) { [nodes] in
                nodes[Int($0)].isAlive
            }, block: block, late: block.map { $0.last } == next.row.lastID ? nil : Self.first(next.row.lastID, ids))
        if batch.place != .here { nodes[number].session = nil }
        body(&self, &batch)
        let outcome = outcome()
        if outcome == .made || outcome == .unknownMade { database = batch.database }
        guard outcome == .made else {
            (nodes[number].mailbox, nodes[number].isRead) = (Mailbox(), false)
            failed(batch, at: number)
            return outcome
        }
        committed(batch, at: number)
        return outcome
    }

    private static func first(_ last: Int64, _ ids: Int) -> Int64 {
        last - Int64(ids) << Int64(NotificationIDBlock.lowBits)
    }

    private mutating func readMailbox(_ number: Int) {
        nodes[number].mailbox = Mailbox(
            entries: database.entries, tombstones: database.tombstones, recalls: database.recalls)
        nodes[number].isRead = true
        let inFlight = nodes[number].inFlight.filter(nodes[number].mailbox.contains)
        nodes[number].inFlight = inFlight
        nodes[number].mailbox.sent(inFlight.sorted())
    }

    /// The batch may have been committed: whoever has the session looks.
    private mutating func failed(_ batch: Batch, at number: Int) {
        if nodes[number].session != nil { look(number) }
        if case .elsewhere(let node) = batch.place { nodes[Int(node)].missed = true }
    }

    private mutating func committed(_ batch: Batch, at number: Int) {
        let row = batch.database.row
        nodes[number].revision = row.revision
        if let epoch = batch.opened {
            nodes[number].inFlight = []
            nodes[number].session = Session(epoch: epoch, progress: SessionBatchProgress(openedAt: row.revision))
            follow(nodes[number].session?.flow.start() ?? [], at: number)
        } else if var session = nodes[number].session {
            let step = session.progress.receive(row.revision)
            nodes[number].session = session
            if step == .gap { look(number) }
            if !batch.delivered.isEmpty, batch.place == .here { write(batch.delivered, at: number) }
        }
        for node in batch.wakes {
            messages.append(Message(node: node, ids: [], epoch: row.epoch, revision: row.revision, isWake: true))
        }
        // A page has the notifications too.
        if case .elsewhere(let node) = batch.place, batch.opened == nil, !batch.delivered.isEmpty, batch.wakes.isEmpty {
            messages.append(
                Message(node: Int(node), ids: batch.delivered, epoch: row.epoch, revision: row.revision))
        }
    }

    /// A new id for the device, as a batch gives it.
    mutating func newID(at number: Int, _ batch: inout Batch) -> NotificationID? {
        let id: NotificationID?
        if mistake == .idsFromTheClock {
            id = nodes[number].generator.next(now: now.adding(milliseconds: nodes[number].offset))
        } else if let late = batch.late {
            id = batch.block?.next(after: late)
            batch.late = id?.rawValue
            lateIDs += 1
        } else {
            id = batch.block?.next()
        }
        guard let id else { return nil }
        guard id > batch.database.last else {
            fault("\(id) is given after \(batch.database.last)")
            return nil
        }
        batch.database.last = id
        return id
    }

    /// Makes the changes of rows that a mailbox asks for.
    mutating func follow(_ directives: [Mailbox.Directive], _ batch: inout Batch) {
        for directive in directives {
            switch directive {
            case .remove(let id, let state):
                guard let index = batch.database.entries.firstIndex(where: { $0.id == id }) else {
                    fault("\(id) left and did not wait")
                    continue
                }
                batch.database.entries.remove(at: index)
                if batch.database.ends.updateValue(state, forKey: id) != nil { fault("\(id) ended twice") }
            case .tombstone(let tombstone):
                batch.database.tombstones.removeAll { $0.app == tombstone.app && $0.lane == tombstone.lane }
                batch.database.tombstones.append(tombstone)
                announce(&batch)
            case .removeTombstone(let id): batch.database.tombstones.removeAll { $0.id == id }
            case .recall(let recall):
                batch.database.recalls.append(recall)
                announce(&batch)
            case .removeRecall(let id): batch.database.recalls.removeAll { $0.id == id }
            }
        }
    }

    /// Lets the session read a notice.
    private func announce(_ batch: inout Batch) {
        switch batch.place {
        case .nowhere: break
        case .elsewhere(let node): batch.wakes.append(Int(node))
        case .here: batch.delivered.append(NotificationID(rawValue: 0))
        }
    }

    /// A push is requested at a node, under a name that a repetition has too.
    mutating func request(at number: Int, again: Int? = nil) {
        requests += again == nil ? 1 : 0
        let name = again ?? requests
        unanswered.insert(name)
        let (app, lane, collapse) = (AppID(rawValue: UInt32(random.next() % 2) + 1), chance(2), random.next() % 4)
        var id: NotificationID?
        let outcome = batch(at: number, ids: 2) { history, batch in
            id = batch.database.identities[name]
            guard id == nil, let tombstoneID = history.newID(at: number, &batch),
                let new = history.newID(at: number, &batch)
            else { return }
            id = new
            let entry = Mailbox.Entry(
                id: new, app: app, environment: .sandbox, lane: lane ? .apns : .fcm,
                collapseID: collapse < 2 ? "\(collapse)" : nil, expiresAt: .distantFuture)
            batch.database.entries.append(entry)
            batch.database.identities[name] = new
            if case .elsewhere = batch.place { history.nodes[number].mailbox.assumeSent() }
            let directives = history.nodes[number].mailbox.appended(
                entry, policy: history.policies[lane ? 0 : 1], tombstoneID: tombstoneID, now: history.now)
            history.follow(directives, &batch)
            batch.delivered.append(new)
        }
        guard let id, outcome == .made || mistake == .unknownMeansYes && outcome != .failed else { return }
        unanswered.remove(name)
        answered[name] = id
    }

    /// The provider repeats a request that was not answered with yes.
    mutating func retry() {
        guard let name = unanswered.min(), let node = anyNode() else { return }
        request(at: node, again: name)
    }

    /// The device logs in at a node.
    mutating func connect(to number: Int) {
        let named = unconfirmed.sorted()
        let outcome = batch(at: number, ids: 0) { history, batch in
            history.follow(history.nodes[number].mailbox.acknowledged(named), &batch)
            history.follow(history.nodes[number].mailbox.sessionOpened(now: history.now), &batch)
            if case .elsewhere(let node) = batch.place { batch.wakes.append(Int(node)) }
            batch.database.row.node = UInt16(number)
            batch.database.row.epoch += 1
            batch.opened = batch.database.row.epoch
        }
        connectedTo = outcome == .made ? number : nil
        if outcome == .made { unconfirmed = [] }
    }

    /// An acknowledgement reaches a node, also of a session that the device has left.
    mutating func takeAcknowledgement() {
        guard
            let number = nodes.indices.filter({ nodes[$0].isAlive && nodes[$0].session?.toServer.isEmpty == false })
                .randomElement(
                    using: &random),
            let ids = nodes[number].session?.toServer.first
        else { return }
        let outcome = batch(at: number, ids: 0) { history, batch in
            history.follow(history.nodes[number].mailbox.acknowledged(ids), &batch)
        }
        // Without an answer the connection ends: the device names them at its next login.
        guard outcome == .made, nodes[number].session != nil else {
            if connectedTo == number { connectedTo = nil }
            nodes[number].session?.toServer.removeAll()
            return
        }
        nodes[number].session?.toServer.removeFirst()
        nodes[number].session?.toDevice.append(.confirmation(ids))
    }

    /// A node looks whether something has expired, and commits a batch without an effect.
    mutating func expire(at number: Int) {
        _ = batch(at: number, ids: 0) { history, batch in
            history.follow(history.nodes[number].mailbox.expired(now: history.now), &batch)
        }
    }

    /// The provider takes a notification back.
    mutating func withdraw(at number: Int) {
        guard let id = answered.values.sorted().randomElement(using: &random) else { return }
        var recall: Mailbox.Recall?
        let outcome = batch(at: number, ids: 1) { history, batch in
            guard let recallID = history.newID(at: number, &batch) else { return }
            let withdrawal = history.nodes[number].mailbox.withdrawn([id])
            history.follow(withdrawal.directives, &batch)
            guard batch.place != .nowhere || history.wasSent.contains(id) else { return }
            let made = Mailbox.Recall(id: recallID, notification: id, at: history.now)
            recall = made
            history.follow(history.nodes[number].mailbox.recalled(made), &batch)
        }
        if outcome == .made, recall != nil { recalled.insert(id) }
    }
}

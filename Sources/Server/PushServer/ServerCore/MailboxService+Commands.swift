import APNsProtocol
import Metrics
import NIOCore
import PushCore

/// The decision of each command, made in memory from the state that was read for the batch.
extension MailboxService {
    func decide(_ command: MailboxCommand, _ batch: inout MailboxBatch) {
        switch command {
        case .accept(let queued): accept(queued.acceptance, sink: queued.sink, batch: &batch)
        case .open(let login, let connection, let complete):
            open(login, connection: connection, complete: complete, batch: &batch)
        case .sent(let session, let ids, let at):
            sent(session, ids: ids, at: at, isExact: batch.rows[session.device] != nil)
        case .writeSent(let ids): writeSent(ids, &batch)
        case .acknowledged(let session, let ids, let complete):
            acknowledge(session.device, ids: ids, batch: &batch)
            batch.effects.answer { complete(true) }
        case .record(let receipts, let session, let complete):
            record(receipts, session: session, batch: &batch)
            batch.effects.answer { complete(true) }
        case .flush(let complete):
            writeSent(counts.sentLines.ids, &batch)
            batch.effects.answer { complete(true) }
        case .close(let session):
            if let open = connections.sessions[session.device], open.id == session {
                _ = batch.noteSeen(session.device, open.seenAt, at: clock())
                if nodes != nil { batch.closeSession(session) }
            }
            batch.effects.changeSession(.closed(session))
        case .withdraw(let id, let device, let complete):
            let outcome = withdraw(id, of: device, &batch)
            batch.effects.answer { complete(outcome) }
        case .deliverBroadcasts(let devices, let complete):
            deliverBroadcasts(devices, &batch)
            batch.effects.answer(complete)
        case .expire(let device, let isAway): expire(device, isAway: isAway, batch: &batch)
        case .prune: batch.prunes = true
        case .unregister(let device, let app, let environment):
            broadcasts.known.forget(device)
            change(device, &batch) { $0.change { $0.unregistered(app: app, environment: environment) } }
            batch.forgetMissed(of: RegistrationKey(device: device, app: app, environment: environment))
        }
    }

    // MARK: Sent notifications

    /// Records the notifications that were written to a connection; a repetition is ignored.
    ///
    /// - Parameter isExact: Whether the batch under way has locked the device's mailbox.
    func sent(_ session: DeviceSessionID, ids: [NotificationID], at: Timestamp, isExact: Bool = false) {
        noteSent(ids, at)
        guard connections.sessions[session.device]?.id == session, let resident = residents.mailboxes[session.device]
        else { return }
        counting(resident) { $0.sent(ids, isExact: isExact) }
    }

    private func noteSent(_ ids: [NotificationID], _ at: Timestamp) {
        let wasEmpty = counts.sentLines.isEmpty
        counts.sentLines.sent(ids, at: at)
        if wasEmpty { writeSentSoon() }
    }

    /// Writes lines that have waited long enough, again and again while any wait.
    private func writeSentSoon() {
        guard !upkeep.isStopped else { return }
        loop.scheduleTask(in: TimeAmount(SentLines.timeout)) {
            self.assumeIsolated { service in
                let due = service.counts.sentLines.due(at: service.clock())
                if !due.isEmpty { _ = service.submit(.writeSent(due)) }
                if !service.counts.sentLines.isEmpty { service.writeSentSoon() }
            }
        }
    }

    private func writeSent(_ ids: [NotificationID], _ batch: inout MailboxBatch) {
        for id in ids {
            if let entry = counts.sentLines.take(id) { batch.append(entry, to: id) }
        }
    }

    // MARK: Acceptance

    private func accept(_ acceptance: AcceptedNotification, sink: any AcceptanceSink, batch: inout MailboxBatch) {
        let identity = NotificationIdentity(acceptance)
        let earlier = identity.map { batch.notifications($0) } ?? []
        let known = earlier.first { $0.isRepeated(by: acceptance) }?.id
        // The node that accepted it may have ended before it knew that, and then has announced nothing.
        if known != nil, nodes != nil { wake(acceptance.subject.device, &batch) }
        let id = known ?? admit(acceptance, as: identity, after: earlier.first, &batch)
        batch.effects.complete(
            AcceptanceResult(ticket: acceptance.ticket, id: id, apnsID: acceptance.notification.apnsID), sink)
    }

    /// Admits a notification. Where another was accepted under its identity, both timelines name the other.
    private func admit(
        _ acceptance: AcceptedNotification, as identity: NotificationIdentity?, after earlier: AcceptedContent?,
        _ batch: inout MailboxBatch
    ) -> NotificationID? {
        var acceptance = acceptance
        if let earlier {
            let note = "its apns-id was used before for other content, notification \(earlier.id)"
            acceptance.note = acceptance.note.map { "\(note); \($0)" } ?? note
        }
        let id = admit(acceptance, as: identity, to: sessionLocation(of: acceptance.subject.device, in: batch), &batch)
        if let earlier, let id {
            let note = "other content was accepted under the same apns-id, notification \(id)"
            batch.append(TimelineEntry(at: clock(), state: .accepted, source: .server, note: note), to: earlier.id)
        }
        return id
    }

    /// Stores a notification, and delivers it if its device is connected; `nil` when no id can be made now.
    ///
    /// - Parameters:
    ///   - broadcast: The broadcast of a copy, with which it shares its payload and its acceptance; `nil` for others.
    ///   - place: The place of the device's session.
    func admit(
        _ acceptance: AcceptedNotification, as identity: NotificationIdentity?, of broadcast: BroadcastRecord? = nil,
        to place: SessionLocation, _ batch: inout MailboxBatch
    ) -> NotificationID? {
        let now = clock()
        let device = acceptance.subject.device
        let policy = acceptance.policy(isConnected: place != .nowhere)
        // Made first, so that a tombstone precedes the notification for which it made space.
        let tombstoneID = policy.overflow == .clear ? nextID(of: device, &batch) : nil
        guard let id = nextID(of: device, &batch), policy.overflow != .clear || tombstoneID != nil else { return nil }
        let expiresAt = expiry(of: acceptance.notification, now: now)
        let acceptedAt = broadcast?.broadcast.acceptedAt ?? now
        var record = Self.record(acceptance, id: id, now: acceptedAt, expiresAt: expiresAt)
        record.waits = expiresAt > now
        if let broadcast { record.payload = .shared(broadcast.payload) }
        batch.insert(record, as: identity)
        guard record.waits else {
            batch.append(TimelineEntry(at: now, state: .expired, source: .server), to: id)
            return id
        }
        let entry = Mailbox.Entry(
            id: id, app: acceptance.app.id, environment: acceptance.subject.environment, lane: acceptance.lane,
            collapseID: acceptance.notification.collapseID,
            expiresAt: expiresAt)
        change(device, &batch) {
            $0.change {
                // The other node knows what it has written.
                if case .elsewhere = place { $0.assumeSent() }
                return $0.appended(entry, policy: policy, tombstoneID: tombstoneID, now: now)
            }
        }
        guard place != .nowhere else { return id }
        let outgoing = Self.outgoing(acceptance, id: id, now: acceptedAt, expiresAt: expiresAt)
        if case .elsewhere(let node) = place {
            batch.effects.deliver(outgoing, to: device, at: node)
        } else if let session = connections.sessions[device] {
            batch.effects.deliver(outgoing, session.connection)
        }
        return id
    }

    /// The last instant at which a stored notification may be delivered.
    private func expiry(of notification: Notification, now: Timestamp) -> Timestamp {
        let longest = now + settings.longestWait
        return switch notification.expiry {
        case .until(let instant): min(instant, longest)
        case .policyDefault, .once: longest
        }
    }

    nonisolated static func record(
        _ acceptance: AcceptedNotification, id: NotificationID, now: Timestamp, expiresAt: Timestamp?
    ) -> NotificationRecord {
        let notification = acceptance.notification
        return NotificationRecord(
            id: id, subject: acceptance.subject, apnsID: notification.apnsID, pushType: notification.pushType,
            priority: notification.priority, collapseID: notification.collapseID, acceptedAt: now,
            expiresAt: expiresAt, waits: expiresAt != nil, lane: acceptance.lane,
            payload: .own(acceptance.payload(as: id)), note: acceptance.note)
    }

    nonisolated static func outgoing(
        _ acceptance: AcceptedNotification, id: NotificationID, now: Timestamp, expiresAt: Timestamp?
    ) -> OutgoingNotification {
        let notification = acceptance.notification
        return OutgoingNotification(
            id: id, apnsID: notification.apnsID ?? ServerAPNsID.apnsID(of: id), team: acceptance.app.team,
            topic: acceptance.app.topic, environment: acceptance.subject.environment, lane: acceptance.lane,
            pushType: notification.pushType, priority: notification.priority, collapseID: notification.collapseID,
            acceptedAt: now, expiresAt: expiresAt, payload: acceptance.payload(as: id))
    }

    // MARK: Mailboxes

    /// Changes a device's mailbox and keeps its rows in step.
    func change(
        _ device: DeviceID, _ batch: inout MailboxBatch, _ event: (ResidentMailbox) -> [Mailbox.Directive]
    ) {
        guard let resident = residents.mailboxes[device], resident.isRead else {
            preconditionFailure("the mailboxes that a batch changes are read before it is decided")
        }
        if resident.beginTransaction() { residents.batchMailboxes.append(resident) }
        let directives = counting(resident, event)
        let missed = resident.takeMissed()
        if sessionLocation(of: device, in: batch) == .nowhere { for count in missed { batch.add(count, of: device) } }
        guard !directives.isEmpty else { return }
        let now = clock()
        for directive in directives {
            switch directive {
            case .remove(let id, let state):
                batch.removeWaiting(id, of: device)
                if let sent = counts.sentLines.take(id) { batch.append(sent, to: id) }
                batch.append(TimelineEntry(at: now, state: state, source: .server), to: id)
            case .tombstone(let tombstone):
                storeNotice(device, change: .keepTombstone(tombstone, of: device), batch: &batch)
            case .removeTombstone(let id): batch.add(.removeTombstone(id, of: device))
            case .recall(let recall): storeNotice(device, change: .insertRecall(recall, of: device), batch: &batch)
            case .removeRecall(let id): batch.add(.removeRecall(id, of: device))
            }
        }
    }

    /// Stores a notice for the device, and lets a connected device read it.
    private func storeNotice(_ device: DeviceID, change: RowChange, batch: inout MailboxBatch) {
        batch.add(change)
        wake(device, &batch)
    }

    /// Lets a connected device read what is queued, after the batch is durable.
    private func wake(_ device: DeviceID, _ batch: inout MailboxBatch) {
        switch sessionLocation(of: device, in: batch) {
        case .here:
            if let session = connections.sessions[device] { batch.effects.changeWaiting(of: session.connection) }
        case .elsewhere(let node): batch.effects.wake(device, at: node)
        case .nowhere: break
        }
    }

    /// Changes a mailbox and updates the count of notifications in all mailboxes.
    @discardableResult
    func counting<Result>(_ resident: ResidentMailbox, _ body: (ResidentMailbox) -> Result) -> Result {
        let before = resident.count
        defer { residents.residentEntries += resident.count - before }
        return body(resident)
    }

    /// Ends the transaction of the mailboxes that the batch under way has used.
    func endBatch(_ end: (ResidentMailbox) -> Void) {
        for resident in residents.batchMailboxes {
            counting(resident, end)
            forgetIfEmpty(resident.device)
        }
        residents.batchMailboxes.removeAll(keepingCapacity: true)
    }

    /// Removes from memory the mailbox of a device without a connection and without queued notifications. Its
    /// tombstones and recalls are in the store, and are read again when needed.
    private func forgetIfEmpty(_ device: DeviceID) {
        if connections.sessions[device] == nil, residents.mailboxes[device]?.count == 0 {
            residents.mailboxes[device] = nil
        }
    }

    private func acknowledge(_ device: DeviceID, ids: [NotificationID], batch: inout MailboxBatch) {
        var waited: Set<NotificationID> = []
        change(device, &batch) { resident in
            let directives = resident.change { $0.acknowledged(ids) }
            for case .remove(let id, _) in directives { waited.insert(id) }
            return directives
        }
        // An attempt (TTL 0) was never queued, and a notification that was acknowledged twice is queued no longer.
        for id in ids where !waited.contains(id) {
            guard let facts = batch.facts(of: id), facts.device == device, !facts.has(.acked) else { continue }
            batch.append(TimelineEntry(at: clock(), state: .acked, source: .server), to: id)
        }
    }

    private func expire(_ device: DeviceID, isAway: Bool, batch: inout MailboxBatch) {
        let now = clock()
        if let session = session(of: device, batch) {
            connections.sessions[device]?.seenAt = batch.noteSeen(device, session.seenAt, at: now)
        }
        change(device, &batch) { $0.change { $0.expired(now: now) } }
        guard isAway, sessionLocation(of: device, in: batch) == .nowhere,
            let lanes = residents.mailboxes[device]?.occupiedLanes
        else { return }
        // Without an id for each, the next sweep repeats this.
        let tombstones = (0..<lanes).compactMap { _ in nextID(of: device, &batch) }
        change(device, &batch) { $0.change { $0.deviceInactive(tombstoneIDs: tombstones, now: now) } }
    }

    private func record(_ receipts: [Receipt], session: DeviceSessionID, batch: inout MailboxBatch) {
        for receipt in receipts {
            guard let facts = batch.facts(of: receipt.id), facts.device == session.device else { continue }
            // A device must not be able to make a timeline grow without limit.
            guard facts.lines.count < settings.lineLimit else {
                Counter(label: "aldaba_receipts_beyond_limit_total").increment()
                continue
            }
            guard batch.append(receipt.entry, to: receipt.id) else { continue }
            if case .extended = receipt.entry.state { batch.extended.append((receipt.entry, facts.app)) }
        }
    }

    // MARK: Sessions

    /// Leaves tombstones for what expired while the device was away, where that was longer than a month.
    private func reportMissed(
        by device: DeviceID, audience: DeviceAudience?, at now: Timestamp, in batch: inout MailboxBatch
    ) {
        var missed = batch.takeMissed(of: device)
        guard batch.lastSeen(of: device, ifAwayFor: settings.longestAbsence, at: now) != nil else { return }
        if let audience {
            for count in Fanout.missed(batch.expired(of: audience, at: now), by: audience) { missed.add(count) }
        }
        for count in missed {
            guard let id = nextID(of: device, &batch) else { return }
            change(device, &batch) { $0.change { $0.deviceReturned(count, tombstoneID: id) } }
        }
    }

    private func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        complete: @escaping @Sendable (DeviceLoginVerdict) -> Void, batch: inout MailboxBatch
    ) {
        guard batch.admits(login) else {
            batch.effects.answer { complete(.refused) }
            return
        }
        guard !batch.isBlocked(login.device) else {
            batch.effects.answer { complete(.blocked) }
            return
        }
        let now = clock()
        acknowledge(login.device, ids: login.received, batch: &batch)
        change(login.device, &batch) { $0.sessionOpened(now: now) }
        let audience = batch.takeAudience(login.device)
        reportMissed(by: login.device, audience: audience, at: now, in: &batch)
        if let audience { replay(audience, of: login.device, to: .nowhere, &batch) }
        let id = openSession(of: login.device, at: now, &batch)
        batch.effects.changeSession(
            .opened(
                LiveSession(
                    id: id, connection: connection, openedAt: now, seenAt: batch.noteSeen(login.device, at: now),
                    topics: audience?.topics ?? [],
                    progress: SessionBatchProgress(openedAt: batch.rows[login.device]?.revision ?? 0)), complete))
    }

    /// The number of a device's new session; a session that another node has of the device ends.
    private func openSession(
        of device: DeviceID, at now: Timestamp, _ batch: inout MailboxBatch
    ) -> DeviceSessionID {
        if let nodes {
            if case .elsewhere(let node) = sessionLocation(of: device, in: batch) {
                batch.effects.wake(device, at: node)
            }
            return batch.openSession(of: device, at: nodes.store.node)
        }
        connections.lastEpoch = max(connections.lastEpoch + 1, UInt64(max(0, now.rawValue)))
        return DeviceSessionID(device: device, epoch: connections.lastEpoch)
    }

    /// Applies a session change of a committed batch. Notifications accepted in the same batch after a login are not
    /// delivered by it: the session reads them with its first page.
    func enter(_ change: MailboxEffects.SessionChange) {
        switch change {
        case .opened(let session, let complete):
            let earlier = connections.sessions.updateValue(session, forKey: session.id.device)
            earlier?.connection.superseded()
            broadcasts.known.forget(session.id.device)
            broadcasts.live.connected(session.id.device, topics: session.topics)
            // The welcome must come first: a delivered attempt (TTL 0) must find the session open.
            complete(.welcome(session.id, hasWaiting: residents.mailboxes[session.id.device]?.hasWaiting ?? true))
            presence.changed(session.id.device, session.connection)
        case .superseded(let id):
            guard let session = connections.sessions[id.device], session.id == id else { return }
            session.connection.superseded()
            enter(.closed(id))
        case .closed(let id):
            guard connections.sessions[id.device]?.id == id else { return }
            connections.sessions[id.device] = nil
            broadcasts.live.disconnected(id.device)
            broadcasts.known.forget(id.device)
            forgetIfEmpty(id.device)
            presence.changed(id.device, nil)
        }
        Gauge(label: "aldaba_sessions").record(connections.sessions.count)
    }
}

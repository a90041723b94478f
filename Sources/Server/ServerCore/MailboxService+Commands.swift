import APNsWire
import Crypto
import Mailbox
import Metrics
import PushModel

/// What each command does: decided in memory, over what was read for the batch.
extension MailboxService {
    func decide(_ command: MailboxCommand, _ batch: inout MailboxBatch) {
        switch command {
        case .accept(let queued): accept(queued.acceptance, queued.sink, &batch)
        case .open(let login, let connection, let complete): open(login, connection, complete, &batch)
        case .sent(let session, let ids, let at): sent(session, ids, at)
        case .writeSent(let ids): writeSent(ids, &batch)
        case .acknowledged(let session, let ids, let complete):
            acknowledge(session.device, ids, &batch)
            batch.effects.answer { complete(true) }
        case .record(let receipts, let session, let complete):
            record(receipts, session, &batch)
            batch.effects.answer { complete(true) }
        case .flush(let complete):
            writeSent(sentLines.ids, &batch)
            batch.effects.answer { complete(true) }
        case .close(let session): batch.effects.changeSession(.closed(session))
        case .withdraw(let id, let device, let complete):
            let outcome = withdraw(id, of: device, &batch)
            batch.effects.answer { complete(outcome) }
        case .expire(let device):
            let now = clock()
            change(device, &batch) { $0.change { $0.expired(now: now) } }
        case .prune: batch.prunes = true
        case .unregister(let device, let app, let environment):
            change(device, &batch) { $0.change { $0.unregistered(app: app, environment: environment) } }
        }
    }

    // MARK: What was sent

    /// Notes what was written to a connection; the same twice is one.
    func sent(_ session: DeviceSessionID, _ ids: [NotificationID], _ at: Timestamp) {
        noteSent(ids, at)
        guard sessions[session.device]?.id == session, let resident = mailboxes[session.device] else { return }
        counting(resident) { $0.sent(ids) }
    }

    private func noteSent(_ ids: [NotificationID], _ at: Timestamp) {
        let wasEmpty = sentLines.isEmpty
        sentLines.sent(ids, at: at)
        if wasEmpty { writeSentSoon() }
    }

    /// Looks for lines that have waited long enough, again and again while any wait.
    private func writeSentSoon() {
        guard !isStopped else { return }
        loop.scheduleTask(in: .milliseconds(SentLines.patienceMilliseconds)) {
            self.assumeIsolated { service in
                let due = service.sentLines.due(at: service.clock())
                if !due.isEmpty { _ = service.submit(.writeSent(due)) }
                if !service.sentLines.isEmpty { service.writeSentSoon() }
            }
        }
    }

    private func writeSent(_ ids: [NotificationID], _ batch: inout MailboxBatch) {
        for id in ids {
            if let entry = sentLines.take(id) { batch.append(entry, to: id) }
        }
    }

    // MARK: Acceptance

    private func accept(_ acceptance: Acceptance, _ sink: any AcceptanceSink, _ batch: inout MailboxBatch) {
        let now = clock()
        let ticket = acceptance.ticket
        let apnsID = acceptance.notification.apnsID
        let identity = NotificationIdentity(acceptance)
        if let identity, let id = batch.notification(identity) {
            batch.effects.judge(AcceptanceVerdict(ticket: ticket, id: id, apnsID: apnsID), sink)
            return
        }
        let session = sessions[acceptance.subject.device]
        let policy = acceptance.policy(isConnected: session != nil)
        // Made first, so that a tombstone goes before what it made room for.
        let tombstoneID = policy.overflow == .clear ? ids.next(now: now) : nil
        guard let id = ids.next(now: now), policy.overflow != .clear || tombstoneID != nil else {
            batch.effects.judge(AcceptanceVerdict(ticket: ticket, id: nil, apnsID: apnsID), sink)
            return
        }
        let expiresAt = expiry(of: acceptance.notification, now: now)
        var record = Self.record(acceptance, id: id, now: now, expiresAt: expiresAt)
        record.waits = expiresAt > now
        batch.effects.judge(AcceptanceVerdict(ticket: ticket, id: id, apnsID: apnsID), sink)
        batch.insert(record, as: identity)
        guard record.waits else {
            batch.append(TimelineEntry(at: now, state: .expired, source: .server), to: id)
            return
        }
        let entry = Mailbox.Entry(
            id: id, app: acceptance.app.id, environment: acceptance.subject.environment, lane: acceptance.lane,
            collapseID: acceptance.notification.collapseID,
            expiresAt: expiresAt)
        change(acceptance.subject.device, &batch) {
            $0.change { $0.appended(entry, policy: policy, tombstoneID: tombstoneID, now: now) }
        }
        if let session {
            batch.effects.deliver(
                Self.outgoing(acceptance, id: id, now: now, expiresAt: expiresAt), session.connection)
        }
    }

    /// The last instant at which a stored notification may be delivered.
    private func expiry(of notification: Notification, now: Timestamp) -> Timestamp {
        let longest = now.adding(milliseconds: settings.longestWaitMilliseconds)
        return switch notification.expiry {
        case .until(let instant): min(instant, longest)
        case .policyDefault, .once: longest
        }
    }

    nonisolated static func record(
        _ acceptance: Acceptance, id: NotificationID, now: Timestamp, expiresAt: Timestamp?
    ) -> NotificationRecord {
        let notification = acceptance.notification
        return NotificationRecord(
            id: id, subject: acceptance.subject, apnsID: notification.apnsID, pushType: notification.pushType,
            priority: notification.priority, collapseID: notification.collapseID, acceptedAt: now,
            expiresAt: expiresAt, waits: expiresAt != nil, lane: acceptance.lane,
            payload: .own(notification.content.bytes))
    }

    nonisolated static func outgoing(
        _ acceptance: Acceptance, id: NotificationID, now: Timestamp, expiresAt: Timestamp?
    ) -> OutgoingNotification {
        let notification = acceptance.notification
        return OutgoingNotification(
            id: id, apnsID: notification.apnsID ?? ServerAPNsID.text(of: id), team: acceptance.app.team,
            topic: acceptance.app.topic, environment: acceptance.subject.environment, lane: acceptance.lane,
            pushType: notification.pushType, priority: notification.priority, collapseID: notification.collapseID,
            acceptedAt: now, expiresAt: expiresAt, payload: notification.content.bytes)
    }

    // MARK: Mailboxes

    /// Changes a device's mailbox and keeps its rows in step.
    func change(
        _ device: DeviceID, _ batch: inout MailboxBatch, _ event: (ResidentMailbox) -> [Mailbox.Directive]
    ) {
        guard let resident = mailboxes[device], resident.isRead else {
            preconditionFailure("the mailboxes that a batch changes are read before it is decided")
        }
        if resident.enterBatch() { batchMailboxes.append(resident) }
        let directives = counting(resident, event)
        guard !directives.isEmpty else { return }
        let now = clock()
        for case .remove(let id, let state) in directives {
            batch.removeWaiting(id, of: device)
            if let sent = sentLines.take(id) { batch.append(sent, to: id) }
            batch.append(TimelineEntry(at: now, state: state, source: .server), to: id)
        }
    }

    /// Does something with a mailbox and keeps count of what all of them hold.
    @discardableResult
    func counting<Result>(_ resident: ResidentMailbox, _ body: (ResidentMailbox) -> Result) -> Result {
        let before = resident.count
        defer { residentEntries += resident.count - before }
        return body(resident)
    }

    /// Tells the mailboxes that the batch under way concerns what became of it.
    func endBatch(_ end: (ResidentMailbox) -> Void) {
        for resident in batchMailboxes {
            counting(resident, end)
            forgetIfEmpty(resident.device)
        }
        batchMailboxes.removeAll(keepingCapacity: true)
    }

    /// An empty mailbox of a device that is away is worth nothing.
    private func forgetIfEmpty(_ device: DeviceID) {
        if sessions[device] == nil, mailboxes[device]?.count == 0 { mailboxes[device] = nil }
    }

    private func acknowledge(_ device: DeviceID, _ ids: [NotificationID], _ batch: inout MailboxBatch) {
        var waited: Set<NotificationID> = []
        change(device, &batch) { resident in
            let directives = resident.change { $0.acknowledged(ids) }
            for case .remove(let id, _) in directives { waited.insert(id) }
            return directives
        }
        // One attempt (TTL 0) never waited, and what was acknowledged twice no longer does.
        for id in ids where !waited.contains(id) {
            guard let facts = batch.facts(of: id), facts.device == device, !facts.has(.acked) else { continue }
            batch.append(TimelineEntry(at: clock(), state: .acked, source: .server), to: id)
        }
    }

    private func record(_ receipts: [Receipt], _ session: DeviceSessionID, _ batch: inout MailboxBatch) {
        for receipt in receipts {
            guard let facts = batch.facts(of: receipt.id), facts.device == session.device else { continue }
            // A device cannot make a timeline grow without end.
            guard facts.lines.count < settings.lineLimit else {
                Counter(label: "aldaba_receipts_beyond_limit_total").increment()
                continue
            }
            batch.append(receipt.entry, to: receipt.id)
        }
    }

    // MARK: Sessions

    private func open(
        _ login: DeviceLogin, _ connection: any DeviceConnection,
        _ complete: @escaping @Sendable (DeviceLoginVerdict) -> Void, _ batch: inout MailboxBatch
    ) {
        guard batch.admits(login) else {
            batch.effects.answer { complete(.refused) }
            return
        }
        let now = clock()
        acknowledge(login.device, login.received, &batch)
        change(login.device, &batch) { $0.sessionOpened(now: now) }
        lastEpoch = max(lastEpoch + 1, UInt64(max(0, now.rawValue)))
        let id = DeviceSessionID(device: login.device, epoch: lastEpoch)
        batch.effects.changeSession(.opened(LiveSession(id: id, connection: connection), complete))
    }

    /// Enters what a committed batch did to sessions. What was accepted in the same batch after a login is not
    /// delivered by it: the session reads it with its first page.
    func enter(_ change: MailboxEffects.SessionChange) {
        switch change {
        case .opened(let session, let complete):
            let earlier = sessions.updateValue(session, forKey: session.id.device)
            earlier?.connection.superseded()
            // The welcome first: what an attempt (TTL 0) delivers must find the session open.
            complete(.welcome(session.id))
            presence.changed(session.id.device, session.connection)
        case .closed(let id):
            guard sessions[id.device]?.id == id else { return }
            sessions[id.device] = nil
            forgetIfEmpty(id.device)
            presence.changed(id.device, nil)
        }
        Gauge(label: "aldaba_sessions").record(sessions.count)
    }
}

extension DeviceCredentials {
    /// The form in which a secret is stored: SHA-256 over the device's id and the secret.
    public var secretHash: [UInt8] {
        var hash = SHA256()
        withUnsafeBytes(of: device.rawValue.bigEndian) { hash.update(bufferPointer: $0) }
        withUnsafeBytes(of: secret.bigEndian) { hash.update(bufferPointer: $0) }
        return Array(hash.finalize())
    }

    /// Compares in constant time.
    func matches(_ stored: [UInt8]) -> Bool {
        let mine = secretHash
        guard mine.count == stored.count else { return false }
        return zip(mine, stored).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

import APNsWire
import Crypto
import Mailbox
import Metrics
import PushModel

/// What each command does inside the batch's transaction.
extension MailboxService {
    func apply(
        _ command: MailboxCommand, _ transaction: any NotificationTransaction, _ effects: inout MailboxEffects
    ) throws {
        switch command {
        case .accept(let queued): try accept(queued.acceptance, queued.sink, transaction, &effects)
        case .open(let login, let connection, let complete):
            try open(login, connection, complete, transaction, &effects)
        case .sent(let session, let ids, let at): sent(session, ids, at)
        case .writeSent(let ids): try writeSent(ids, transaction)
        case .acknowledged(let session, let ids, let complete):
            try acknowledge(session.device, ids, transaction)
            effects.answer { complete(true) }
        case .record(let receipts, let session, let complete):
            try record(receipts, session, transaction)
            effects.answer { complete(true) }
        case .flush(let complete):
            try writeSent(sentLines.ids, transaction)
            effects.answer { complete(true) }
        case .close(let session): effects.changeSession(.closed(session))
        case .expire(let device):
            let now = clock()
            try change(device, transaction) { $0.change { $0.expired(now: now) } }
        case .prune: try prune(transaction)
        case .unregister(let device, let app, let environment):
            try change(device, transaction) { $0.change { $0.unregistered(app: app, environment: environment) } }
        }
    }

    // MARK: Without the store

    /// Whether a command needs nothing of the store.
    func isInMemory(_ command: MailboxCommand) -> Bool {
        switch command {
        case .sent, .close: true
        case .flush: sentLines.isEmpty
        default: false
        }
    }

    /// Whether a batch needs nothing of the store. A flush does when a line before it in the batch is to be written.
    func areInMemory(_ commands: [MailboxCommand]) -> Bool {
        var hasLine = false
        for command in commands {
            guard isInMemory(command) else { return false }
            if case .sent = command { hasLine = true }
            if hasLine, case .flush = command { return false }
        }
        return true
    }

    /// Does what a command for which ``isInMemory(_:)`` holds asks for.
    func applyInMemory(_ command: MailboxCommand, _ effects: inout MailboxEffects) {
        switch command {
        case .sent(let session, let ids, let at): sent(session, ids, at)
        case .close(let session): effects.changeSession(.closed(session))
        case .flush(let complete): effects.answer { complete(true) }
        default: break
        }
    }

    private func sent(_ session: DeviceSessionID, _ ids: [NotificationID], _ at: Timestamp) {
        noteSent(ids, at)
        guard sessions[session.device]?.id == session, let resident = mailboxes[session.device] else { return }
        counting(resident) { $0.sent(ids) }
    }

    private func noteSent(_ ids: [NotificationID], _ at: Timestamp) {
        let wasEmpty = sentLines.isEmpty
        sentLines.sent(ids, at: at)
        if wasEmpty { writeSentSoon() }
    }

    /// Looks again for lines that have waited long enough, as long as any wait.
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

    private func writeSent(_ ids: [NotificationID], _ transaction: any NotificationTransaction) throws {
        for id in ids {
            if let entry = sentLines.take(id) { try transaction.append(entry, to: id) }
        }
    }

    // MARK: Acceptance

    private func accept(
        _ acceptance: Acceptance, _ sink: any AcceptanceSink, _ transaction: any NotificationTransaction,
        _ effects: inout MailboxEffects
    ) throws {
        let now = clock()
        let ticket = acceptance.ticket
        let apnsID = acceptance.notification.apnsID
        if let apnsID {
            let since = now.adding(milliseconds: -settings.identityWindowMilliseconds)
            if let id = try transaction.identity(apnsID: apnsID, subject: acceptance.subject, since: since) {
                effects.judge(AcceptanceVerdict(ticket: ticket, id: id, apnsID: apnsID), sink)
                return
            }
        }
        guard let id = ids.next(now: now) else {
            effects.judge(AcceptanceVerdict(ticket: ticket, id: nil, apnsID: apnsID), sink)
            return
        }
        let expiresAt = expiry(of: acceptance.notification, now: now)
        var record = Self.record(acceptance, id: id, now: now, expiresAt: expiresAt)
        record.waits = expiresAt > now
        effects.judge(AcceptanceVerdict(ticket: ticket, id: id, apnsID: apnsID), sink)
        guard record.waits else {
            try transaction.insert(record)
            try transaction.append(TimelineEntry(at: now, state: .expired, source: .server), to: id)
            return
        }
        let entry = Mailbox.Entry(
            id: id, app: acceptance.app.id, environment: acceptance.subject.environment, lane: .apns,
            collapseID: acceptance.notification.collapseID,
            expiresAt: expiresAt)
        // The mailbox first: read from the store after the row was inserted, it would have the row twice.
        try change(acceptance.subject.device, transaction) {
            $0.change { $0.appended(entry, policy: acceptance.app.policy, now: now) }
        }
        try transaction.insert(record)
        if let session = sessions[acceptance.subject.device] {
            effects.deliver(
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
            expiresAt: expiresAt, waits: expiresAt != nil, lane: .apns, payload: notification.payload)
    }

    nonisolated static func outgoing(
        _ acceptance: Acceptance, id: NotificationID, now: Timestamp, expiresAt: Timestamp?
    ) -> OutgoingNotification {
        let notification = acceptance.notification
        return OutgoingNotification(
            id: id, apnsID: notification.apnsID ?? ServerAPNsID.text(of: id), team: acceptance.app.team,
            topic: acceptance.app.topic, environment: acceptance.subject.environment,
            pushType: notification.pushType, priority: notification.priority, collapseID: notification.collapseID,
            acceptedAt: now, expiresAt: expiresAt, payload: notification.payload)
    }

    // MARK: Mailboxes

    /// Changes a device's mailbox and keeps its rows in step.
    private func change(
        _ device: DeviceID, _ transaction: any NotificationTransaction,
        _ event: (ResidentMailbox) -> [Mailbox.Directive]
    ) throws {
        let resident = mailboxes[device] ?? ResidentMailbox(device)
        if !resident.isRead {
            let entries = try transaction.waiting(for: device)
            counting(resident) { $0.read(entries) }
            mailboxes[device] = resident
        }
        if resident.enterBatch() { changedMailboxes.append(resident) }
        let directives = counting(resident, event)
        guard !directives.isEmpty else { return }
        let now = clock()
        for case .remove(let id, let state) in directives {
            try transaction.removeWaiting(id, of: device)
            if let sent = sentLines.take(id) { try transaction.append(sent, to: id) }
            try transaction.append(TimelineEntry(at: now, state: state, source: .server), to: id)
        }
    }

    /// Does something with a mailbox and keeps count of what all of them hold.
    @discardableResult
    private func counting<Result>(_ resident: ResidentMailbox, _ body: (ResidentMailbox) -> Result) -> Result {
        let before = resident.count
        defer { residentEntries += resident.count - before }
        return body(resident)
    }

    /// Tells the mailboxes that a batch has changed what became of it.
    func endBatch(_ end: (ResidentMailbox) -> Void) {
        for resident in changedMailboxes {
            counting(resident, end)
            forgetIfEmpty(resident.device)
        }
        changedMailboxes.removeAll(keepingCapacity: true)
    }

    /// An empty mailbox of a device that is away is worth nothing.
    private func forgetIfEmpty(_ device: DeviceID) {
        if sessions[device] == nil, mailboxes[device]?.count == 0 { mailboxes[device] = nil }
    }

    private func acknowledge(
        _ device: DeviceID, _ ids: [NotificationID], _ transaction: any NotificationTransaction
    ) throws {
        var waited: Set<NotificationID> = []
        try change(device, transaction) { resident in
            let directives = resident.change { $0.acknowledged(ids) }
            for case .remove(let id, _) in directives { waited.insert(id) }
            return directives
        }
        // One attempt (TTL 0) never waited, and what was acknowledged twice no longer does.
        for id in ids where !waited.contains(id) {
            guard try transaction.device(of: id) == device, try !transaction.has(.acked, in: id) else { continue }
            try transaction.append(TimelineEntry(at: clock(), state: .acked, source: .server), to: id)
        }
    }

    private func record(
        _ receipts: [Receipt], _ session: DeviceSessionID, _ transaction: any NotificationTransaction
    ) throws {
        for receipt in receipts where try transaction.device(of: receipt.id) == session.device {
            // A device cannot make a timeline grow without end.
            guard try transaction.lineCount(of: receipt.id) < settings.lineLimit else {
                Counter(label: "aldaba_receipts_beyond_limit_total").increment()
                continue
            }
            try transaction.append(receipt.entry, to: receipt.id)
        }
    }

    // MARK: Sessions

    private func open(
        _ login: DeviceLogin, _ connection: any DeviceConnection,
        _ complete: @escaping @Sendable (DeviceLoginVerdict) -> Void, _ transaction: any NotificationTransaction,
        _ effects: inout MailboxEffects
    ) throws {
        let credentials = DeviceCredentials(device: login.device, secret: login.secret)
        guard let hash = try transaction.secretHash(of: login.device), credentials.matches(hash) else {
            effects.answer { complete(.refused) }
            return
        }
        let now = clock()
        try acknowledge(login.device, login.received, transaction)
        try change(login.device, transaction) { $0.sessionOpened(now: now) }
        lastEpoch = max(lastEpoch + 1, UInt64(max(0, now.rawValue)))
        let id = DeviceSessionID(device: login.device, epoch: lastEpoch)
        effects.changeSession(.opened(LiveSession(id: id, connection: connection), complete))
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

import PushModel

/// What a batch of commands decides: which rows change, in order, and what that causes outside. A value.
///
/// It answers what the store would answer after the changes so far.
struct MailboxBatch {
    private(set) var changes: [RowChange] = []
    var effects = MailboxEffects()
    /// A slice is to be pruned once the batch is durable.
    var prunes = false
    private var identities: [NotificationIdentity: NotificationID] = [:]
    private var facts: [NotificationID: NotificationFacts] = [:]
    private var secretHashes: [DeviceID: [UInt8]] = [:]

    /// Takes over what was read before the first change.
    mutating func learn(_ prefetched: Prefetched) {
        identities.merge(prefetched.identities) { $1 }
        facts.merge(prefetched.notifications) { $1 }
        secretHashes.merge(prefetched.secretHashes) { $1 }
    }

    // MARK: What is known

    func notification(_ identity: NotificationIdentity) -> NotificationID? { identities[identity] }

    func facts(of id: NotificationID) -> NotificationFacts? { facts[id] }

    /// Whether a device proves itself. What was not asked for, or is not enrolled, does not.
    func admits(_ login: DeviceLogin) -> Bool {
        guard let hash = secretHashes[login.device] else { return false }
        return DeviceCredentials(device: login.device, secret: login.secret).matches(hash)
    }

    // MARK: Changes

    /// Inserts what was accepted; requests of the same name are the same notification from now on.
    mutating func insert(_ record: NotificationRecord, as identity: NotificationIdentity?) {
        changes.append(.insertNotification(record))
        if let identity { identities[identity] = record.id }
    }

    /// Removes a notification from its mailbox.
    mutating func removeWaiting(_ id: NotificationID, of device: DeviceID) {
        changes.append(.removeWaiting(id, of: device))
        // A later command of the batch may name it, and nothing was read of what waited.
        if facts[id] == nil { facts[id] = NotificationFacts(device: device) }
    }

    /// Adds a line to a timeline, unless that is known to have it.
    mutating func append(_ line: TimelineEntry, to id: NotificationID) {
        if facts[id]?.append(line) == false { return }
        changes.append(.appendLine(line, to: id))
    }

    mutating func write(_ queued: CommandQueue.QueuedNote) {
        switch queued.note {
        case .attempted(let record, let entries):
            changes.append(.insertNotification(record))
            facts[record.id] = NotificationFacts(device: record.subject.device)
            for entry in entries { append(entry, to: record.id) }
        case .lines(let entries):
            for entry in entries { append(entry, to: queued.id) }
        case .refused(let refusal):
            changes.append(.insertRefusal(refusal))
        }
    }

    mutating func noteUnrecorded(_ span: UnrecordedSpan) { changes.append(.noteUnrecorded(span)) }
}

import PushCore
import PushServer

/// The rows of notifications: a value.
struct NotificationRows: Sendable {
    private var records: [NotificationID: NotificationRecord] = [:]
    private(set) var refusals: [NotificationID: RefusalRecord] = [:]
    private var payloads: [PayloadID: PayloadRecord] = [:]
    /// The ids of the queued notifications of each device.
    private var mailboxes: [DeviceID: Set<NotificationID>] = [:]
    private var tombstones: [DeviceID: [Mailbox.Tombstone]] = [:]
    private var recalls: [DeviceID: [Mailbox.Recall]] = [:]
    /// The counts of what expired while devices were away.
    private(set) var missed: [DeviceID: [MissedNotifications]] = [:]
    private var timelines: [NotificationID: [TimelineEntry]] = [:]
    private(set) var unrecorded: [UnrecordedSpan] = []
    private var ceiling: Int64 = 0
    /// The rows of the mailboxes, of which only the sessions change here.
    private(set) var locked: [DeviceID: MailboxRow] = [:]
    /// The position up to which each device's broadcasts were processed.
    private(set) var cursors: [DeviceID: Int64] = [:]
    /// The notifications that were inserted with each shared payload.
    private var sharers: [PayloadID: [NotificationID]] = [:]

    // MARK: Changes

    /// - Throws: ``MemoryStoreError`` when the change cannot be made.
    mutating func apply(_ change: RowChange) throws {
        switch change {
        case .insertPayload(let payload):
            guard payloads[payload.id] == nil else { throw MemoryStoreError.payloadTaken(payload.id) }
            payloads[payload.id] = payload
        case .insertNotification(let record):
            if case .shared(let id) = record.payload, payloads[id] == nil { throw MemoryStoreError.noPayload(id) }
            try take(record.id)
            records[record.id] = record
            if case .shared(let id) = record.payload { sharers[id, default: []].append(record.id) }
            if record.waits { mailboxes[record.subject.device, default: []].insert(record.id) }
        case .insertRefusal(let refusal):
            try take(refusal.id)
            refusals[refusal.id] = refusal
        case .removeWaiting(let id, let device): mailboxes[device]?.remove(id)
        case .keepTombstone(let tombstone, let device):
            tombstones[device, default: []].removeAll { $0.replaced(by: tombstone) }
            tombstones[device, default: []].append(tombstone)
        case .removeTombstone(let id, let device): tombstones[device]?.removeAll { $0.id == id }
        case .insertRecall(let recall, let device): recalls[device, default: []].append(recall)
        case .removeRecall(let id, let device): recalls[device]?.removeAll { $0.id == id }
        case .appendLine(let line, let id):
            guard !lines(of: id).contains(where: { $0.at == line.at && $0.state == line.state }) else { return }
            timelines[id, default: []].append(line)
        case .addMissed(let count, let device): missed[device, default: []].add(count)
        case .forgetMissed(let device, let place): forgetMissed(of: device, only: place)
        case .noteSeen: break
        case .moveCursor(let device, let sequence): cursors[device] = max(cursors[device] ?? 0, sequence)
        case .openSession(let device, let node, let epoch):
            locked[device] = MailboxRow(node: node, epoch: epoch)
        case .closeSession(let device, let epoch):
            if locked[device, default: MailboxRow()].epoch <= epoch { locked[device] = MailboxRow(epoch: epoch) }
        case .raiseHighWater(let mark): ceiling = max(ceiling, mark)
        case .noteUnrecorded(let span): unrecorded.append(span)
        }
    }

    /// Deletes the counts of a device, or of one registration of it.
    mutating func forgetMissed(of device: DeviceID, only place: RegistrationKey?) {
        missed[device]?.removeAll { place == nil || $0.app == place?.app && $0.environment == place?.environment }
        if missed[device]?.isEmpty == true { missed[device] = nil }
    }

    /// Deletes tombstones, for removed apps and revoked devices.
    mutating func removeTombstones(where isMeant: (DeviceID, Mailbox.Tombstone) -> Bool) {
        for (device, tombstones) in tombstones {
            self.tombstones[device] = tombstones.filter { !isMeant(device, $0) }
        }
    }

    private func take(_ id: NotificationID) throws {
        guard records[id] == nil, refusals[id] == nil else { throw MemoryStoreError.notificationTaken(id) }
    }

    // MARK: Reads

    var highWater: Int64 { (Array(records.keys) + refusals.keys).reduce(ceiling) { max($0, $1.rawValue) } }

    /// All notifications, in the order of their ids.
    var all: [NotificationRecord] { records.values.sorted { $0.id < $1.id } }

    func record(_ id: NotificationID) -> NotificationRecord? { records[id] }

    /// The notifications that were accepted under an `apns-id`, in lower case.
    func records(forAPNsID apnsID: String) -> [NotificationRecord] {
        records.values.filter { $0.apnsID?.lookUpKey == apnsID }
    }

    /// The lines that were appended to a timeline, by time.
    func lines(of id: NotificationID) -> [TimelineEntry] { timelines[id, default: []].sorted { $0.at < $1.at } }

    func content(of record: NotificationRecord) -> [UInt8] {
        switch record.payload {
        case .own(let content): content
        case .shared(let id): payloads[id]?.content ?? []
        }
    }

    /// The notifications that were inserted with a shared payload and still exist, ordered by id.
    func copies(of payload: PayloadID) -> [NotificationRecord] {
        sharers[payload, default: []].sorted().compactMap { records[$0] }
    }

    func payload(_ id: PayloadID) -> PayloadRecord? { payloads[id] }

    /// Deletes the cursor of a revoked device.
    mutating func removeCursor(of device: DeviceID) { cursors[device] = nil }

    /// The queued notifications of a device, ordered by id.
    func waiting(for device: DeviceID) -> [NotificationRecord] {
        mailboxes[device, default: []].sorted().compactMap { records[$0] }
    }

    /// The tombstones of a device, ordered by id.
    func tombstones(of device: DeviceID) -> [Mailbox.Tombstone] {
        tombstones[device, default: []].sorted { $0.id < $1.id }
    }

    /// The recalls of a device, ordered by id.
    func recalls(of device: DeviceID) -> [Mailbox.Recall] { recalls[device, default: []].sorted { $0.id < $1.id } }

    /// Deletes the recalls of a device.
    mutating func removeRecalls(of device: DeviceID) { recalls[device] = nil }

    /// The next queued notifications of all devices, ordered by device and id.
    func waiting(from position: SweepPosition?, limit: Int) -> [NotificationRecord] {
        let all = mailboxes.keys.sorted { $0.rawValue < $1.rawValue }.lazy.flatMap { waiting(for: $0) }
        let rest = all.filter { record in
            guard let position else { return true }
            let (device, last) = (record.subject.device.rawValue, position.device.rawValue)
            return device > last || device == last && record.id > position.id
        }
        return Array(rest.prefix(limit))
    }

    /// The rows that a batch needs, except those of the register.
    func prefetched(_ request: PrefetchRequest) -> Prefetched {
        var found = Prefetched()
        for identity in request.identities {
            let accepted = records(forAPNsID: identity.apnsID).filter { record in
                record.subject == identity.subject && record.acceptedAt >= request.acceptedSince
                    && record.expiresAt != nil
            }
            guard !accepted.isEmpty else { continue }
            let newest = accepted.sorted { $0.id > $1.id }.prefix(AcceptedContent.limit)
            found.identities[identity] = newest.map(AcceptedContent.init)
        }
        for device in request.mailboxes {
            found.waiting[device] = waiting(for: device).compactMap(Mailbox.Entry.init)
            if let tombstones = tombstones[device], !tombstones.isEmpty {
                found.tombstones[device] = self.tombstones(of: device)
            }
            if let recalls = recalls[device], !recalls.isEmpty { found.recalls[device] = self.recalls(of: device) }
        }
        for id in request.notifications {
            guard let record = records[id] else { continue }
            found.notifications[id] = NotificationFacts(
                device: record.subject.device, app: record.subject.app, lines: lines(of: id))
        }
        return found
    }

    // MARK: Retention

    /// Deletes the oldest notifications, at most `limit`.
    ///
    /// - Returns: Whether there are more to delete.
    mutating func deleteNotifications(before instant: Timestamp, limit: Int) -> Bool {
        let end = Self.firstID(at: instant)
        let old = (Array(records.keys) + refusals.keys).filter { $0.rawValue < end }.sorted()
        for id in old.prefix(limit) {
            if let device = records[id]?.subject.device { mailboxes[device]?.remove(id) }
            records[id] = nil
            refusals[id] = nil
            timelines[id] = nil
        }
        for (device, recalls) in recalls { self.recalls[device] = recalls.filter { $0.notification.rawValue >= end } }
        unrecorded.removeAll { $0.last.rawValue < end }
        return old.count > limit
    }

    /// Clears the payloads of notifications that were accepted before, are not queued, and have no line since.
    ///
    /// - Parameter kept: Shared payloads that stay although no notification refers to them yet.
    mutating func clearPayloads(before instant: Timestamp, keeping kept: Set<PayloadID>) {
        let end = Self.firstID(at: instant)
        for (id, record) in records where id.rawValue < end {
            guard mailboxes[record.subject.device]?.contains(id) != true else { continue }
            guard lines(of: id).allSatisfy({ $0.at <= instant }) else { continue }
            records[id]?.payload = .own([])
        }
        let used = Set(
            records.values.compactMap { record in
                if case .shared(let id) = record.payload { id } else { nil }
            })
        payloads = payloads.filter { used.contains($0.key) || kept.contains($0.key) || $0.value.acceptedAt > instant }
    }

    private static func firstID(at instant: Timestamp) -> Int64 {
        NotificationIDGenerator(node: 0, highWater: 0).floor(at: instant)
    }
}

extension Mailbox.Tombstone {
    /// Whether another tombstone has the same app, environment and lane.
    fileprivate func replaced(by other: Mailbox.Tombstone) -> Bool {
        app == other.app && environment == other.environment && lane == other.lane
    }
}

extension Mailbox.Entry {
    /// The waiting row of a notification.
    init?(_ record: NotificationRecord) {
        guard let expiresAt = record.expiresAt else { return nil }
        self.init(
            id: record.id, app: record.subject.app, environment: record.subject.environment, lane: record.lane,
            collapseID: record.collapseID, expiresAt: expiresAt)
    }
}

/// The reason why a change cannot be made: an id is inserted twice, or a shared payload does not exist.
package enum MemoryStoreError: Error, Hashable, CustomStringConvertible {
    /// A notification or a refused request has this id already.
    case notificationTaken(NotificationID)
    /// A payload has this id already.
    case payloadTaken(PayloadID)
    /// A notification refers to a payload that was not inserted before.
    case noPayload(PayloadID)
    /// An entry of the audit log does not exist, or has its end already.
    case appendOnly

    package var description: String {
        switch self {
        case .notificationTaken(let id): "there already is a notification \(id)"
        case .payloadTaken(let id): "there already is a payload \(id.rawValue)"
        case .noPayload(let id): "there is no payload \(id.rawValue); insert it before what points to it"
        case .appendOnly: "the audit log is append-only"
        }
    }
}

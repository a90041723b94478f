import Fanout
import PushModel
import RegisterCore

/// What a batch of commands decides: which rows change, in order, and what that causes outside. A value.
///
/// It answers what the store would answer after the changes so far.
struct MailboxBatch {
    private(set) var changes: [RowChange] = []
    var effects = MailboxEffects()
    /// A slice is to be pruned once the batch is durable.
    var prunes = false
    /// The lines of service extensions, each with its notification's app.
    var extended: [(line: TimelineEntry, app: AppID?)] = []
    private var identities: [NotificationIdentity: NotificationID] = [:]
    private var facts: [NotificationID: NotificationFacts] = [:]
    private var secretHashes: [DeviceID: [UInt8]] = [:]
    private var blocked: Set<DeviceID> = []
    private var lastSeen: [DeviceID: Timestamp] = [:]
    private var audiences: [DeviceID: DeviceAudience] = [:]
    private(set) var broadcasts: [NotificationID: BroadcastRecord] = [:]
    /// What the engine has to know of those.
    private(set) var fanout: [NotificationID: Broadcast] = [:]
    private var apps: [AppID: RegisteredApp] = [:]

    /// Takes over what was read before the first change.
    mutating func learn(_ prefetched: Prefetched) {
        identities.merge(prefetched.identities) { $1 }
        facts.merge(prefetched.notifications) { $1 }
        secretHashes.merge(prefetched.secretHashes) { $1 }
        blocked.formUnion(prefetched.blocked)
        lastSeen.merge(prefetched.lastSeen) { $1 }
        audiences.merge(prefetched.audiences) { $1 }
        for (id, record) in prefetched.broadcasts {
            broadcasts[id] = record
            fanout[id] = record.broadcast
        }
        apps.merge(prefetched.apps) { $1 }
    }

    /// Tells of each list that a broadcast is for, and of each registration that may be in it.
    func forEachListed(_ body: (Int64, DeviceID, FanoutRegistration) -> Void) {
        guard fanout.values.contains(where: { $0.list != nil }) else { return }
        for (device, audience) in audiences {
            var told: Set<Int64> = []
            for id in audience.broadcasts {
                guard let broadcast = fanout[id], let list = broadcast.list, told.insert(list.number).inserted,
                    let registration = audience.registrations.first(where: { $0.place == list.place })
                else { continue }
                body(list.number, device, registration)
            }
        }
    }

    /// Takes over who is in which list; `nil` where that could not be told.
    mutating func learn(lists: [Int64: Set<DeviceID>]?) {
        guard let lists else {
            for device in audiences.keys { audiences[device]?.lists = nil }
            return
        }
        for (list, members) in lists {
            for device in members { audiences[device]?.lists?.insert(list) }
        }
    }

    // MARK: What is known

    func notification(_ identity: NotificationIdentity) -> NotificationID? { identities[identity] }

    func facts(of id: NotificationID) -> NotificationFacts? { facts[id] }

    /// What was read of a device's broadcasts; once, since whoever takes it moves the cursor.
    mutating func takeAudience(_ device: DeviceID) -> DeviceAudience? { audiences.removeValue(forKey: device) }

    func app(_ id: AppID) -> RegisteredApp? { apps[id] }

    /// Whether a device proves itself. What was not asked for, or is not enrolled, does not.
    func admits(_ login: DeviceLogin) -> Bool {
        guard let hash = secretHashes[login.device] else { return false }
        return DeviceCredentials(device: login.device, secret: login.secret).matches(hash)
    }

    /// Whether a device is kept out for now.
    func isBlocked(_ device: DeviceID) -> Bool { blocked.contains(device) }

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

    /// Notes that a device is there, unless that was noted within a day.
    ///
    /// - Returns: When it was noted.
    mutating func noteSeen(_ device: DeviceID, _ earlier: Timestamp? = nil, at now: Timestamp) -> Timestamp {
        if let seen = earlier ?? lastSeen[device], now.duration(since: seen) < Self.seenInterval { return seen }
        add(.noteSeen(device, at: now))
        return now
    }

    /// How often it is noted that a device is there, in milliseconds: a day.
    static let seenInterval = Duration.seconds(86_400)

    /// Changes a row of which nothing is known here.
    mutating func add(_ change: RowChange) { changes.append(change) }

    /// Adds a line to a timeline, unless that is known to have it.
    ///
    /// - Returns: Whether it was added.
    @discardableResult
    mutating func append(_ line: TimelineEntry, to id: NotificationID) -> Bool {
        if facts[id]?.append(line) == false { return false }
        changes.append(.appendLine(line, to: id))
        return true
    }

    mutating func write(_ queued: MailboxCommandQueue.QueuedNote) {
        switch queued.note {
        case .attempted(let record, let entries):
            changes.append(.insertNotification(record))
            facts[record.id] = NotificationFacts(device: record.subject.device, app: record.subject.app)
            for entry in entries { append(entry, to: record.id) }
        case .lines(let entries):
            for entry in entries { append(entry, to: queued.id) }
        case .refused(let refusal):
            changes.append(.insertRefusal(refusal))
        }
    }
}

import PushCore

/// The decisions of a batch of commands: the row changes, in order, and their external effects. A value.
///
/// It returns the state that the store would return after the changes so far.
struct MailboxBatch {
    private(set) var changes: [RowChange] = []
    var effects = MailboxEffects()
    /// Whether a slice is to be pruned once the batch is durable.
    var prunes = false
    /// The lines of service extensions, each with its notification's app.
    var extended: [(line: TimelineEntry, app: AppID?)] = []
    private var identities: [NotificationIdentity: [AcceptedContent]] = [:]
    private var facts: [NotificationID: NotificationFacts] = [:]
    private var secretHashes: [DeviceID: [UInt8]] = [:]
    private var blocked: Set<DeviceID> = []
    private var lastSeen: [DeviceID: Timestamp] = [:]
    private var missed: [DeviceID: [MissedNotifications]] = [:]
    private var audiences: [DeviceID: DeviceAudience] = [:]
    private(set) var broadcasts: [NotificationID: BroadcastRecord] = [:]
    /// The properties of those broadcasts that the engine needs.
    private(set) var fanout: [NotificationID: Broadcast] = [:]
    private var apps: [AppID: RegisteredApp] = [:]
    /// The locked rows of mailboxes, of a node of several.
    private(set) var rows: [DeviceID: MailboxRow] = [:]
    /// The ids of the batch, of a node of several.
    private var block: NotificationIDBlock?
    /// The locks that the batch has.
    private var locks: [DeviceID: MailboxLock] = [:]
    /// The last id of each device that has later ids of another node.
    private var late: [DeviceID: Int64] = [:]

    /// Adds the rows that were read before the first change.
    mutating func prefetch(_ prefetched: Prefetched) {
        identities.merge(prefetched.identities) { $1 }
        facts.merge(prefetched.notifications) { $1 }
        secretHashes.merge(prefetched.secretHashes) { $1 }
        blocked.formUnion(prefetched.blocked)
        lastSeen.merge(prefetched.lastSeen) { $1 }
        for (device, counts) in prefetched.missed { for count in counts { missed[device, default: []].add(count) } }
        audiences.merge(prefetched.audiences) { $1 }
        for (id, record) in prefetched.broadcasts {
            broadcasts[id] = record
            fanout[id] = record.broadcast
        }
        apps.merge(prefetched.apps) { $1 }
        rows.merge(prefetched.rows) { $1 }
    }

    // MARK: Several nodes

    /// Records the locks of the batch, and the ids from which those of the devices are given.
    mutating func lock(_ locks: [DeviceID: MailboxLock], _ block: NotificationIDBlock) {
        self.locks = locks
        self.block = block
    }

    /// A new id for a device whose mailbox's row is locked; `nil` where no more were reserved.
    mutating func nextID(of device: DeviceID) -> NotificationID? {
        guard let row = rows[device], let block else { return nil }
        guard row.lastID != block.last else { return self.block?.next() }
        // Another node gave the device later ids.
        let reserved = Int64(locks[device]?.ids ?? 0)
        let last = late[device] ?? row.lastID - reserved << Int64(NotificationIDBlock.lowBits)
        guard let id = self.block?.next(after: last), id.rawValue <= row.lastID else { return nil }
        late[device] = id.rawValue
        return id
    }

    /// Records that this node has a device's session.
    mutating func openSession(of device: DeviceID, at node: UInt16) -> DeviceSessionID {
        rows[device, default: MailboxRow()].node = node
        rows[device, default: MailboxRow()].epoch += 1
        let id = DeviceSessionID(device: device, epoch: rows[device]?.epoch ?? 0)
        changes.append(.openSession(device, node: node, epoch: id.epoch))
        return id
    }

    /// Records that a session of this node ended.
    mutating func closeSession(_ session: DeviceSessionID) {
        changes.append(.closeSession(session.device, epoch: session.epoch))
        if rows[session.device]?.epoch == session.epoch { rows[session.device]?.node = nil }
    }

    /// Calls a closure for each list of a broadcast and each registration that may be in it.
    func forEachListed(_ body: (Int64, DeviceID, FanoutRegistration) -> Void) {
        guard
            fanout.values.contains(where: { $0.list != nil })
                || audiences.values.contains(where: { !$0.expired.isEmpty })
        else { return }
        for (device, audience) in audiences {
            var told: Set<Int64> = []
            for broadcast in audience.broadcasts.map({ fanout[$0] }) + audience.expired.map(\.broadcast) {
                guard let broadcast, let list = broadcast.list, told.insert(list.number).inserted,
                    let registration = audience.registrations.first(where: { $0.place == list.place })
                else { continue }
                body(list.number, device, registration)
            }
        }
    }

    /// Adds the members of each list; `nil` where they could not be read.
    mutating func prefetch(lists: [Int64: Set<DeviceID>]?) {
        guard let lists else {
            for device in audiences.keys { audiences[device]?.lists = nil }
            return
        }
        for (list, members) in lists {
            for device in members { audiences[device]?.lists?.insert(list) }
        }
    }

    // MARK: Known state

    /// The notifications that were accepted under an identity, newest first.
    func notifications(_ identity: NotificationIdentity) -> [AcceptedContent] { identities[identity] ?? [] }

    func facts(of id: NotificationID) -> NotificationFacts? { facts[id] }

    /// Returns the audience that was read of a device, and removes it, since its user moves the cursor.
    mutating func takeAudience(_ device: DeviceID) -> DeviceAudience? { audiences.removeValue(forKey: device) }

    /// The expired broadcasts for a device, those among them that have not been ended yet.
    func expired(of audience: DeviceAudience, at now: Timestamp) -> [ExpiredBroadcast] {
        audience.expired
            + audience.broadcasts.compactMap { broadcasts[$0] }
            .filter { !$0.broadcast.isAttempt && $0.broadcast.expiresAt <= now }
            .map { ExpiredBroadcast($0.broadcast, lane: $0.content.lane) }
    }

    func app(_ id: AppID) -> RegisteredApp? { apps[id] }

    /// Whether a device is authentic. A device that was not read or is not enrolled is not.
    func admits(_ login: DeviceLogin) -> Bool {
        guard let hash = secretHashes[login.device] else { return false }
        return DeviceCredentials(device: login.device, secret: login.secret).matches(hash)
    }

    /// Whether a device is blocked.
    func isBlocked(_ device: DeviceID) -> Bool { blocked.contains(device) }

    // MARK: Changes

    /// Inserts an accepted notification; later requests of the same identity and content are the same notification.
    mutating func insert(_ record: NotificationRecord, as identity: NotificationIdentity?) {
        changes.append(.insertNotification(record))
        if let identity {
            let earlier = identities[identity]?.prefix(AcceptedContent.limit - 1) ?? []
            identities[identity] = [AcceptedContent(record)] + earlier
        }
    }

    /// Removes a notification from its mailbox.
    mutating func removeWaiting(_ id: NotificationID, of device: DeviceID) {
        changes.append(.removeWaiting(id, of: device))
        // A later command of the batch may contain the id, and nothing was read of queued notifications.
        if facts[id] == nil { facts[id] = NotificationFacts(device: device) }
    }

    /// Counts notifications that expired while a device was away.
    mutating func add(_ missed: MissedNotifications, of device: DeviceID) {
        self.missed[device, default: []].add(missed)
        changes.append(.addMissed(missed, of: device))
    }

    /// Returns what expired while a device was away, and deletes it: the device is back.
    mutating func takeMissed(of device: DeviceID) -> [MissedNotifications] {
        guard let counts = missed.removeValue(forKey: device) else { return [] }
        changes.append(.forgetMissed(of: device, only: nil))
        return counts
    }

    /// Deletes what of a registration expired while its device was away: the registration has ended.
    mutating func forgetMissed(of place: RegistrationKey) {
        missed[place.device]?.removeAll { $0.app == place.app && $0.environment == place.environment }
        changes.append(.forgetMissed(of: place.device, only: place))
    }

    /// The time at which a device that logs in was last seen, if it was away for longer than this, as far as was recorded.
    func lastSeen(of device: DeviceID, ifAwayFor absence: Duration, at now: Timestamp) -> Timestamp? {
        lastSeen[device].flatMap { now.duration(since: $0) >= absence + Self.seenInterval ? $0 : nil }
    }

    /// Records that a device is present, unless that was recorded within a day.
    ///
    /// - Returns: The time at which it was recorded.
    mutating func noteSeen(_ device: DeviceID, _ earlier: Timestamp? = nil, at now: Timestamp) -> Timestamp {
        if let seen = earlier ?? lastSeen[device], now.duration(since: seen) < Self.seenInterval { return seen }
        add(.noteSeen(device, at: now))
        return now
    }

    /// The interval at which a device's presence is recorded: a day.
    static let seenInterval = Duration.seconds(86_400)

    /// Adds a change of a row of which the batch holds no state.
    mutating func add(_ change: RowChange) { changes.append(change) }

    /// Adds a line to a timeline, unless the timeline is known to contain it.
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

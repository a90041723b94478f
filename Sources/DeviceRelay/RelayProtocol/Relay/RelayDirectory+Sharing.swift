/// A device of an account, as several servers keep it.
public struct SharedDevice: Hashable, Sendable {
    /// The device, with the time when its state last changed.
    public var stored: StoredDevice
    /// The device's session; `nil` while it has none.
    public var session: RelaySession?

    /// Creates an instance from its properties.
    public init(_ stored: StoredDevice, session: RelaySession?) {
        self.stored = stored
        self.session = session
    }
}

/// The changes of an account that several servers keep, since a revision.
public struct SharedAccount: Hashable, Sendable {
    /// The revision after which changes were read; -1 for all devices.
    public var since: Int64
    /// The revision after the changes.
    public var revision: Int64
    /// The highest number of a document.
    public var lastDocument: Int64
    /// The devices that are new or others.
    public var changed: [SharedDevice]
    /// The ids of all devices.
    public var devices: Set<String>

    /// Creates an instance from its properties.
    public init(
        since: Int64 = -1, revision: Int64, lastDocument: Int64 = 0, changed: [SharedDevice], devices: Set<String>
    ) {
        self.since = since
        self.revision = revision
        self.lastDocument = lastDocument
        self.changed = changed
        self.devices = devices
    }
}

/// Devices whose sessions are with other servers.
///
/// Each server has a directory with the accounts of its own sessions. The store has the devices and their sessions; a directory
/// follows it by the revision of each account. Frames for a session of another server are directives like those for a session of
/// this one.
extension RelayDirectory {
    /// The state of an account that the directory has read.
    struct SharedState {
        /// Every change up to this revision is known.
        var revision: Int64 = -1
        /// The highest number of a document; `nil` before the first reading.
        var lastDocument: Int64?
    }

    /// The revision up to which an account's changes are known; `nil` for an account that is not in memory.
    public func sharedRevision(of id: AccountID) -> Int64? { accounts[id]?.shared.revision }

    /// The accounts in memory.
    public var accountIDs: [AccountID] { Array(accounts.keys) }

    /// The devices whose sessions are with this server.
    public var deviceIDs: [String] { Array(homes.keys) }

    /// Lets every account be read again whole.
    public mutating func forgetRevisions() { for id in accounts.keys { accounts[id]?.shared.revision = -1 } }

    /// Whether a device may begin an account now.
    public func mayBeginAccount(_ session: RelaySession, at now: Int64) -> Bool {
        creationLimiter.allows(session.device, at: now)
    }

    /// Counts an account that a device has begun.
    public mutating func countBegun(_ session: RelaySession, at now: Int64) {
        _ = creationLimiter.mayFound(session.device, at: now)
    }

    /// Drops an account from memory that no session of this server needs.
    public mutating func release(_ id: AccountID) { if let account = accounts[id] { dropIfUnused(account, id) } }

    /// Begins with an account that one of its devices has joined, before that device's hello; does nothing for one in memory.
    public mutating func begin(_ id: AccountID) { if accounts[id] == nil { accounts[id] = newAccount() } }

    /// Records the changes of an account that other servers have made; does nothing for an account that is not in memory.
    ///
    /// - Returns: The directives; and `hasNewDocuments`, whether documents may have changed.
    public mutating func synchronize(
        _ id: AccountID, with read: SharedAccount, at now: Int64
    ) -> (directives: [Directive], hasNewDocuments: Bool) {
        guard var account = accounts[id], read.revision > account.shared.revision,
            read.since <= account.shared.revision
        else { return ([], false) }
        let hasNewDocuments = account.shared.lastDocument.map { read.lastDocument > $0 } ?? false
        account.shared = SharedState(revision: read.revision, lastDocument: read.lastDocument)
        var (directives, afterwards): ([Directive], [Directive]) = ([], [])
        for device in read.changed {
            let (before, after) = synchronize(device, in: &account, id, at: now)
            directives += before
            afterwards += after
        }
        for gone in account.entries.keys where !read.devices.contains(gone) {
            let session = account.entries[gone]?.session
            Self.remove(gone, &account)
            if belongs[gone] == id { belongs[gone] = nil }
            guard let session else { continue }
            if session.node == nil {
                directives.append(.send(.removed(revision: account.revision, device: gone), to: session))
            }
            directives += leave(session)
        }
        directives += tellChanges(&account, id, at: now)
        accounts[id] = account
        return (directives + afterwards, hasNewDocuments)
    }

    /// Records one device as the store has it.
    ///
    /// - Returns: The directives before the other devices are told of it, and those after that.
    private mutating func synchronize(
        _ read: SharedDevice, in account: inout Account, _ id: AccountID, at now: Int64
    ) -> ([Directive], [Directive]) {
        let name = read.stored.device.id
        let known = account.entries[name]
        var session = read.session
        // This server learns of its own sessions without the store: their hello or their end follows.
        if session?.node == nil { session = nil }
        if let own = known?.session, own.node == nil {
            guard let session, session.epoch > own.epoch else { return ([], []) }
        }
        guard let session else { return (setAbsent(read, before: known, in: &account, id, at: now), []) }
        var device = read.stored.device
        device.presence = .online
        if known?.session == session, known?.device == device, known?.wake == read.stored.wake { return ([], []) }
        var directives: [Directive] = []
        if let previous = known?.session, previous != session {
            directives += Self.send(.interrupted(device: name), account, but: previous)
            directives += leave(previous)
        }
        account.entries[name] = Entry(
            device: device, session: session, since: read.stored.seen, wake: read.stored.wake,
            changedAt: known?.changedAt ?? 0)
        belongs[name] = id
        if known?.device != device || known?.session != session { Self.change(name, &account) }
        return (directives, known?.session == session ? [] : waiting.take(for: session, id, at: now))
    }

    /// Records a device that has no session with another server.
    private mutating func setAbsent(
        _ read: SharedDevice, before known: Entry?, in account: inout Account, _ id: AccountID, at now: Int64
    ) -> [Directive] {
        let name = read.stored.device.id
        if let session = known?.session {
            return setInterrupted(session, since: read.stored.seen, in: &account, id, at: now)
        }
        let offline = offlineDescription(of: read.stored.device, wake: read.stored.wake)
        guard let known else {
            // A device that left a moment ago, or whose hello follows, has its grace.
            let isRecent = read.session != nil || now - read.stored.seen < Self.grace
            var entry = Entry(device: offline, session: nil, since: read.stored.seen, wake: read.stored.wake)
            belongs[name] = id
            guard isRecent else {
                account.entries[name] = entry
                Self.change(name, &account)
                return []
            }
            entry.device = read.stored.device
            entry.device.presence = .online
            entry.graceEnd = now + Self.grace
            account.entries[name] = entry
            Self.change(name, &account)
            absences.append((now + Self.grace, id, name))
            return [.wake(at: now + Self.grace)]
        }
        account.entries[name]?.wake = read.stored.wake
        account.entries[name]?.since = read.stored.seen
        if known.graceEnd == nil, known.device != offline {
            account.entries[name]?.device = offline
            Self.change(name, &account)
        }
        return []
    }

    /// Begins the grace of a device whose session with another server has ended.
    private mutating func setInterrupted(
        _ session: RelaySession, since: Int64, in account: inout Account, _ id: AccountID, at now: Int64
    ) -> [Directive] {
        let (name, end) = (session.device, now + Self.grace)
        account.entries[name]?.session = nil
        account.entries[name]?.graceEnd = end
        account.entries[name]?.since = since
        absences.append((end, id, name))
        return Self.send(.interrupted(device: name), account) + leave(session) + [.wake(at: end)]
    }

    /// Records that servers have ended, and with them their sessions. Their accounts are read again.
    public mutating func end(nodes: Set<UInt16>, at now: Int64) -> [Directive] {
        func isOfEnded(_ session: RelaySession) -> Bool { session.node.map(nodes.contains) ?? false }
        var directives: [Directive] = []
        for id in accounts.keys {
            guard var account = accounts[id] else { continue }
            for entry in account.entries.values {
                guard let session = entry.session, isOfEnded(session) else { continue }
                account.shared.revision = -1
                directives += setInterrupted(session, since: now, in: &account, id, at: now)
            }
            accounts[id] = account
        }
        for session in guestSessions.sessions where isOfEnded(session) { directives += leave(session) }
        return directives
    }

    /// Records that a message may have been lost before another server's session got it: both ends are notified of an
    /// interruption, as the one does not know what the other has received. Nothing follows where that session is over, of which
    /// its account is notified anyway.
    public mutating func handleLoss(of target: RelaySession, for sender: RelaySession) -> [Directive] {
        let notices: [Directive] = [
            .send(.interrupted(device: target.device), to: sender),
            .send(.interrupted(device: sender.device), to: target),
        ]
        if guestSessions.partner(of: sender, target.device) == target || pairings.partner(of: sender) == target {
            return notices
        }
        guard let id = accountOf[sender], accounts[id]?.entries[target.device]?.session == target else { return [] }
        return interrupt(target.device, for: sender) + [notices[1]]
    }

    /// Notifies a session of an interruption of a present device, and of its end.
    public mutating func interrupt(_ device: String, for session: RelaySession) -> [Directive] {
        let interruption = Directive.send(.interrupted(device: device), to: session)
        guard let id = accountOf[session], var account = accounts[id], account.entries[device]?.session != nil else {
            return [interruption]
        }
        Self.change(device, &account)
        let directives = Self.tellChanges(&account, to: session.device)
        accounts[id] = account
        return [interruption] + directives
    }

    // MARK: Frames of other servers' sessions

    /// Whether a session of another server may send a frame to one of this server: `nil` where its account has to be read first.
    public func mayReach(_ target: RelaySession, from sender: RelaySession) -> Bool? {
        if pairings.partner(of: target) == sender || guestSessions.partner(of: target, sender.device) == sender {
            return true
        }
        guard let id = accountOf[target] else { return false }
        // A message that has waited may outlive its sender's session.
        guard let entry = accounts[id]?.entries[sender.device] else { return nil }
        return entry.session == nil || entry.session == sender ? true : nil
    }

    /// The session of a device in an account, with any server.
    public func session(of device: String, in id: AccountID) -> RelaySession? { accounts[id]?.entries[device]?.session }

    /// A device of another person's, with a session at another server, asks for one of this server.
    ///
    /// - Returns: The answer for it, and what it brings about.
    public mutating func find(
        _ device: String, by visitor: RelayDevice, _ session: RelaySession
    ) -> [Directive] {
        guard let host = homes[device], let id = accountOf[host],
            accounts[id]?.entries[session.device] == nil, let seen = accounts[id]?.entries[device]?.device.seenByOthers
        else { return [.send(.notFound(device: device), to: session)] }
        return begin(host, with: session, visitor) + [.send(.found(seen), to: session)]
    }

    /// The description with which a session asks for a device of another person's; `nil` before its hello.
    public func visitor(_ session: RelaySession) -> RelayDevice? {
        accountOf[session].flatMap { accounts[$0]?.entries[session.device]?.device.asGuest }
    }

    /// Lets a session of this server reach the one of another server that it asked for.
    public mutating func found(_ host: RelaySession, by session: RelaySession) -> [Directive] {
        guestSessions.begin(session, host).map { .send(.removed(revision: 0, device: $0.lost), to: $0.session) }
    }

    private mutating func begin(_ host: RelaySession, with session: RelaySession, _ visitor: RelayDevice) -> [Directive]
    {
        let isKnown = guestSessions.partner(of: host, session.device) == session
        let ended = guestSessions.begin(session, host).map {
            Directive.send(.removed(revision: 0, device: $0.lost), to: $0.session)
        }
        return ended + (isKnown ? [] : [.send(.visited(visitor), to: host)])
    }

    /// Ends the connection of a session with a device of another person's, whose session with another server is over.
    public mutating func endGuest(_ device: String, of session: RelaySession) {
        if let other = guestSessions.partner(of: session, device) { guestSessions.end(session, with: other) }
    }

    /// Brings together two devices that named the same place at different servers.
    public mutating func pair(_ session: RelaySession, with other: RelaySession) -> [Directive] {
        pairings.pair(session, with: other)
        return [.send(.peerJoined(device: other.device), to: session)]
    }
}

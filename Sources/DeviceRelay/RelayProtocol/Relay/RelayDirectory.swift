/// A session of a device with the server.
public struct RelaySession: Hashable, Sendable {
    /// The device's id.
    public let device: String
    /// The session's number; a later one of the same device is greater.
    public let epoch: UInt64
    /// The server that has the session; `nil` for the one whose directory this is.
    public let node: UInt16?

    /// Names a session.
    public init(device: String, epoch: UInt64, node: UInt16? = nil) {
        self.device = device
        self.epoch = epoch
        self.node = node
    }
}

/// The directory of devices by account, and of their presence: the server's side of relaying. A value.
///
/// Guarantees: a device is notified of, and reaches, only the devices of its own account. One that ends its session and
/// begins another within the grace period stays present for the others. A message to an absent device is answered,
/// never lost silently. Memory is bounded by the sessions, and by ``deviceLimit`` absent devices for each account that
/// has a session.
public struct RelayDirectory: Sendable {
    /// How long a device may be without a session before the others are notified, in milliseconds.
    public static let grace: Int64 = 5_000
    /// How many devices an account has at most.
    public static let deviceLimit = 64
    /// The reason for which a device that has begun too many accounts is refused.
    public static let tooManyAccounts = "this device has begun too many accounts; it may begin more tomorrow"
    /// The reason for which a device is refused whose account has as many as it may have.
    public static let tooManyDevices = "the account has \(deviceLimit) devices already"

    /// An account, by what its devices prove that they belong to it.
    public typealias AccountID = [UInt8]

    /// An action for the caller to carry out.
    public enum Directive: Hashable, Sendable {
        /// Send a frame to a session.
        case send(RelayFrame, to: RelaySession)
        /// Forward a message from one device to another; where that is impossible, the sender is notified.
        case forward(RelayRoute, to: RelaySession, from: RelaySession)
        /// Send a session the description of each of these devices, one after the other as it takes them
        /// (``RelayDirectory/description(of:for:)``); takes the place of what was left of an earlier list.
        case describe([String], to: RelaySession)
        /// Store a device of an account, with the time when it was last present, until it changes again.
        case keep(StoredDevice, AccountID)
        /// Have a device woken, and report by ``RelayDirectory/notWoken(_:isDead:)`` where that is impossible.
        case push(RelayPush)
        /// Keep a device no more.
        case forget(device: String)
        /// Call ``RelayDirectory/due(at:)`` at this moment, or a little later.
        case wake(at: Int64)
    }

    struct Entry {
        var device: RelayDevice
        var session: RelaySession?
        /// The time until which its absence is not reported; `nil` when it is present, or was reported as away.
        var graceEnd: Int64?
        /// When it went away.
        var since: Int64
        /// How it can be woken; `nil` for not at all.
        var wake: RelayWakeChannel?
        /// When it was last to be woken, since it went away.
        var pushedAt: Int64?
        /// The state of the account in which it became what it is.
        var changedAt: Int64 = 0
        /// The state of the other devices that its session was sent.
        var watcher: Watcher?
    }

    struct Account {
        var entries: [String: Entry] = [:]
        var revision: Int64 = 0
        /// The epoch to which the revisions belong.
        let epoch: Int64
        /// The last removed devices, and the state up to which such are forgotten.
        var removed: ArraySlice<(device: String, revision: Int64)> = []
        var forgotten: Int64 = 0
        /// The time until which changes are collected, and whether any were collected.
        var quietAt: Int64 = .min
        var isDue = false
        /// The state of the account among several servers that is known here.
        var shared = SharedState()

        init(epoch: Int64) { self.epoch = epoch }

        /// The sessions with this server.
        var sessions: [RelaySession] { entries.values.compactMap(\.session).filter { $0.node == nil } }
    }

    var accounts: [AccountID: Account] = [:]
    var accountOf: [RelaySession: AccountID] = [:]
    /// Devices within their grace, by its end: all graces are of one length.
    var absences: ArraySlice<(end: Int64, account: AccountID, device: String)> = []
    var pairings = PendingPairings()
    var guestSessions = GuestSessions()
    /// The account in memory of which each device is.
    var belongs: [String: AccountID] = [:]
    var creationLimiter = AccountCreationLimiter()
    /// The session in which each device has sent its hello.
    var homes: [String: RelaySession] = [:]
    var waiting = WaitingRoutes()

    /// The accounts with collected changes, by the time at which these are sent: all pauses have the same length.
    var untold: ArraySlice<(at: Int64, account: AccountID)> = []
    private var lastEpoch: Int64

    /// Whether devices can be woken at all.
    public var canWake = false
    /// Whether other servers have sessions of the same accounts. Then the store says who is there.
    public var isShared = false

    /// A directory without devices.
    ///
    /// - Parameter epoch: Before the numbers of this directory's countings; drawn at random, so that no earlier
    ///   directory's are the same.
    public init(epoch: Int64 = 0) { lastEpoch = epoch }

    /// An account that comes into memory counts anew.
    mutating func newAccount() -> Account {
        lastEpoch &+= 1
        // 0 is reserved for a device that knows no state.
        if lastEpoch == 0 { lastEpoch = 1 }
        return Account(epoch: lastEpoch)
    }

    /// How many accounts have a device here.
    public var accountCount: Int { accounts.count }

    // MARK: Who is there

    /// Adds a device to the account that it names, with its description.
    public mutating func hello(
        _ session: RelaySession, account id: AccountID, _ described: RelayDevice, wake: RelayWakeChannel? = nil,
        knows state: DirectoryRevision? = nil, at now: Int64
    ) -> [Directive] {
        var directives: [Directive] = []
        guard described.weight.fits(RelayDevice.largest) else {
            return [.send(.refused("this device tells of itself more than 300 KiB"), to: session)]
        }
        guard accounts[id] != nil || creationLimiter.mayFound(session.device, at: now) else {
            return [.send(.refused(Self.tooManyAccounts), to: session)]
        }
        if let other = accountOf[session], other != id { directives += leaveAccount(session) }
        if let other = belongs[session.device], other != id { directives += depart(session.device, from: other) }
        var device = described
        device.id = session.device
        device.presence = .online
        var account = accounts[id] ?? newAccount()
        let known = account.entries[device.id]
        // The newest session of a device is the one that counts.
        if let newer = known?.session, newer.epoch > session.epoch { return directives }
        if known == nil, account.entries.count >= Self.deviceLimit {
            let away = account.entries.filter { $0.value.session == nil }.min { $0.value.since < $1.value.since }
            guard let away else {
                return directives + [.send(.refused(Self.tooManyDevices), to: session)]
            }
            Self.remove(away.key, &account)
            belongs[away.key] = nil
            directives.append(.forget(device: away.key))
        }
        let isNew = known?.session != session
        let replaced = isNew ? known?.session : nil
        if let replaced {
            // The older session has not been closed; messages in transit over it may be lost.
            directives += Self.send(.interrupted(device: device.id), account, but: replaced)
            directives += leave(replaced)
        }
        account.entries[device.id] = Entry(
            device: device, session: session, since: now, wake: wake, changedAt: known?.changedAt ?? 0,
            watcher: isNew ? nil : known?.watcher)
        belongs[device.id] = id
        accountOf[session] = id
        homes[session.device] = session
        // Devices that were notified of an interruption are notified of its end, also where nothing else is new.
        let isBack = known.map { $0.session == nil } ?? false || replaced != nil
        if known?.device != device || known?.wake != wake {
            directives.append(.keep(StoredDevice(device: device, seen: now, wake: wake), id))
        }
        if known?.device != device || isBack {
            Self.change(device.id, &account)
        }
        if isNew { directives += Self.welcome(session, &account, knows: state) }
        directives += tellChanges(&account, id, at: now)
        if isNew {
            directives += waiting.take(for: session, id, at: now)
        }
        accounts[id] = account
        return directives
    }

    /// A device leaves its account.
    public mutating func leaveAccount(_ session: RelaySession) -> [Directive] {
        let id = accountOf[session]
        let parted = leave(session)
        guard let id, var account = accounts[id], account.entries[session.device]?.session == session else {
            return parted
        }
        return parted + remove(session.device, account: &account, id: id)
    }

    /// Moves a device to another account, which it named in another session: the previous account is notified that it
    /// left.
    private mutating func depart(_ device: String, from id: AccountID) -> [Directive] {
        guard var account = accounts[id], let entry = account.entries[device] else { return [] }
        let parted = entry.session.map { leave($0) } ?? []
        return parted + remove(device, account: &account, id: id)
    }

    private mutating func remove(_ device: String, account: inout Account, id: AccountID) -> [Directive] {
        Self.remove(device, &account)
        belongs[device] = nil
        let directives = Self.tellChanges(&account)
        dropIfUnused(account, id)
        return directives + [.forget(device: device)]
    }

    /// A device removes another from its account. A device that knows the account's key may join again: the devices
    /// that stay need another key.
    public mutating func dismiss(_ device: String, by session: RelaySession) -> [Directive] {
        guard let id = accountOf[session], var account = accounts[id], let entry = account.entries[device] else {
            return []
        }
        Self.remove(device, &account)
        belongs[device] = nil
        var directives = Self.tellChanges(&account)
        if let own = entry.session, own.node == nil {
            directives.append(.send(.removed(revision: account.revision, device: device), to: own))
        }
        let parted = entry.session.map { leave($0) } ?? []
        dropIfUnused(account, id)
        return directives + parted + [.forget(device: device)]
    }

    // MARK: What was kept

    /// Whether the devices of an account are in memory; otherwise ``load(_:_:at:)`` comes before its first hello.
    public func knows(_ account: AccountID) -> Bool { accounts[account] != nil }

    /// Loads the stored devices of an account. Devices that were stored as online have their grace to come back.
    public mutating func load(
        _ id: AccountID, _ devices: [StoredDevice], at now: Int64
    ) -> [Directive] {
        guard accounts[id] == nil, !devices.isEmpty else { return [] }
        var account = newAccount()
        var mayReturn = false
        for kept in devices.prefix(Self.deviceLimit) where belongs[kept.device.id] == nil {
            let wasHere = kept.device.presence == .online
            let end = wasHere ? now + Self.grace : nil
            let device = wasHere ? kept.device : offlineDescription(of: kept.device, wake: kept.wake)
            account.entries[device.id] = Entry(
                device: device, session: nil, graceEnd: end, since: kept.seen, wake: kept.wake)
            belongs[device.id] = id
            if let end {
                mayReturn = true
                absences.append((end, id, device.id))
            }
        }
        accounts[id] = account
        return mayReturn ? [.wake(at: now + Self.grace)] : []
    }

    // MARK: Pairing

    /// A device is to be paired with another one that names the same place.
    ///
    /// - Parameter network: The network that the device connects from, of whose devices only a share may wait; `nil` where none
    ///   is known.
    public mutating func pair(
        _ session: RelaySession, at place: [UInt8], from network: String?, now: Int64
    ) -> [Directive] {
        pairings.add(session, at: place, from: network, now: now)
    }

    /// A session is over.
    public mutating func closed(_ session: RelaySession, at now: Int64) -> [Directive] {
        pairings.remove(session)
        let id = accountOf[session]
        let parted = leave(session)
        guard let id, var account = accounts[id], account.entries[session.device]?.session == session else {
            return parted
        }
        let end = now + Self.grace
        account.entries[session.device]?.session = nil
        account.entries[session.device]?.watcher = nil
        account.entries[session.device]?.graceEnd = end
        account.entries[session.device]?.since = now
        let directives = Self.send(.interrupted(device: session.device), account)
        accounts[id] = account
        absences.append((end, id, session.device))
        return parted + directives + [.wake(at: end)]
    }

    /// Reports devices whose grace period is over as away.
    public mutating func due(at now: Int64) -> [Directive] {
        var directives: [Directive] = []
        while let absence = absences.first, absence.end <= now {
            absences.removeFirst()
            guard var account = accounts[absence.account], let entry = account.entries[absence.device],
                entry.graceEnd == absence.end
            else { continue }
            let device = offlineDescription(of: entry.device, wake: entry.wake)
            account.entries[absence.device]?.device = device
            account.entries[absence.device]?.graceEnd = nil
            Self.change(absence.device, &account)
            if !isShared {
                directives.append(
                    .keep(StoredDevice(device: device, seen: entry.since, wake: entry.wake), absence.account))
            }
            directives += tellChanges(&account, absence.account, at: now)
            dropIfUnused(account, absence.account)
        }
        return directives + tellDue(at: now) + waiting.due(at: now)
    }

    /// When to call ``due(at:)`` next, where anything falls due.
    public var nextMoment: Int64? {
        [absences.first?.end, untold.first?.at, waiting.nextMoment].compactMap { $0 }.min()
    }

    /// Keeps an account while one of its devices is there, or may be back in a moment.
    mutating func dropIfUnused(_ account: Account, _ id: AccountID) {
        // A message that waits goes to the server to which its device comes.
        let isInUse =
            account.entries.values.contains { $0.session.map { $0.node == nil } ?? false || $0.graceEnd != nil }
            || (isShared && waiting.hasMessages(of: id))
        accounts[id] = isInUse ? account : nil
        if !isInUse { for device in account.entries.keys where belongs[device] == id { belongs[device] = nil } }
    }

    static func send(_ frame: RelayFrame, _ account: Account, but sender: RelaySession? = nil) -> [Directive] {
        account.sessions.filter { $0 != sender }.map { .send(frame, to: $0) }
    }

    // MARK: Other persons' devices

    /// A device asks for one of another person's, which has to offer something to anyone.
    public mutating func find(_ device: String, by session: RelaySession) -> [Directive] {
        let nothing = [Directive.send(.notFound(device: device), to: session)]
        guard let own = accountOf[session], let visitor = accounts[own]?.entries[session.device]?.device,
            let host = homes[device], let id = accountOf[host], id != own,
            let seen = accounts[id]?.entries[device]?.device.seenByOthers
        else { return nothing }
        // The host has been notified of this device already.
        let isKnown = guestSessions.partner(of: session, device) == host
        let ended = guestSessions.begin(session, host).map {
            Directive.send(.removed(revision: 0, device: $0.lost), to: $0.session)
        }
        let visited = isKnown ? [] : [Directive.send(.visited(visitor.asGuest), to: host)]
        return ended + visited + [.send(.found(seen), to: session)]
    }

    /// Takes a session from its account; devices that communicated with it are notified.
    mutating func leave(_ session: RelaySession) -> [Directive] {
        accountOf[session] = nil
        if homes[session.device] == session { homes[session.device] = nil }
        return guestSessions.end(session).map { .send(.removed(revision: 0, device: session.device), to: $0) }
    }

    // MARK: Messages

    /// A device sends something to another of its account.
    public mutating func route(_ route: RelayRoute, from session: RelaySession, at now: Int64) -> Directive? {
        func not(_ reason: RelayUndelivered) -> Directive { .send(.undelivered(id: route.id, reason), to: session) }
        var forwarded = route
        forwarded.peer = session.device
        if let other = pairings.partner(of: session), other.device == route.peer {
            return .forward(forwarded, to: other, from: session)
        }
        guard let id = accountOf[session], let account = accounts[id] else { return not(.notJoined) }
        guard let entry = account.entries[route.peer] else {
            guard let other = guestSessions.partner(of: session, route.peer) else { return not(.unknownDevice) }
            return .forward(forwarded, to: other, from: session)
        }
        if let deadline = route.deadline, deadline <= now { return not(.expired) }
        guard let target = entry.session else { return hold(forwarded, for: entry, id, from: session, at: now) }
        return .forward(forwarded, to: target, from: session)
    }
}

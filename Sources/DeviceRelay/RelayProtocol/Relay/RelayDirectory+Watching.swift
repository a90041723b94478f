/// The notification of an account's devices about each other's changes.
///
/// Guarantees: the first change after a pause is sent at once, later ones within ``changePause`` together. A device is
/// notified of another one before it receives any frame from it.
extension RelayDirectory {
    /// How long changes are collected after one was sent, in milliseconds.
    public static let changePause: Int64 = 100
    /// How many removed devices of an account are remembered.
    static let removedLimit = 64

    /// The state of the account that a session was sent.
    struct Watcher {
        /// The revision up to which it knows all changes except its own.
        var told: Int64
        /// Whether it reports the state it knows, and accepts changes.
        var takesChanges: Bool
    }

    /// Notes that a device is new or another, or that it is back.
    static func change(_ device: String, _ account: inout Account) {
        account.revision += 1
        account.entries[device]?.changedAt = account.revision
    }

    /// Removes a device.
    static func remove(_ device: String, _ account: inout Account) {
        account.entries[device] = nil
        account.revision += 1
        account.removed.append((device, account.revision))
        if account.removed.count > removedLimit { account.forgotten = account.removed.removeFirst().revision }
    }

    /// Sends the changes, or schedules that where some were sent just before.
    mutating func tellChanges(_ account: inout Account, _ id: AccountID, at now: Int64) -> [Directive] {
        if now >= account.quietAt {
            let directives = Self.tellChanges(&account)
            if !directives.isEmpty { account.quietAt = now + Self.changePause }
            return directives
        }
        guard !account.isDue, Self.hasNews(account) else { return [] }
        account.isDue = true
        untold.append((account.quietAt, id))
        return [.wake(at: account.quietAt)]
    }

    /// Sends the collected changes.
    mutating func tellDue(at now: Int64) -> [Directive] {
        var directives: [Directive] = []
        while let next = untold.first, next.at <= now {
            untold.removeFirst()
            guard var account = accounts[next.account], account.isDue else { continue }
            account.isDue = false
            account.quietAt = now + Self.changePause
            directives += Self.tellChanges(&account)
            accounts[next.account] = account
        }
        return directives
    }

    /// The changes that a device must receive before a frame of another one: mostly none.
    ///
    /// - Parameter session: A session of the account, the one device's or the other's.
    public mutating func pendingChanges(before sender: String, to receiver: String, by session: RelaySession)
        -> [Directive]
    {
        guard let id = accountOf[session], accounts[id]?.isDue == true, var account = accounts[id],
            let changed = account.entries[sender]?.changedAt,
            let told = account.entries[receiver]?.watcher?.told, told < changed
        else { return [] }
        let directives = Self.tellChanges(&account, to: receiver)
        accounts[id] = account
        return directives
    }

    private static func hasNews(_ account: Account) -> Bool {
        account.entries.contains { id, entry in
            entry.session != nil && entry.watcher.map { $0.told < account.revision } ?? false
        }
    }

    /// Sends each device, or one of them, the changes that it does not know yet.
    static func tellChanges(_ account: inout Account, to only: String? = nil) -> [Directive] {
        // Most devices know the same revision.
        var news: [Int64: ChangesSinceState] = [:]
        var directives: [Directive] = []
        for (id, entry) in account.entries where only == nil || id == only {
            guard let session = entry.session, let watcher = entry.watcher, watcher.told < account.revision else {
                continue
            }
            let all = news[watcher.told] ?? ChangesSinceState(account, since: watcher.told)
            news[watcher.told] = all
            let own = entry.changedAt > watcher.told ? all.without(id) : all
            guard !own.isEmpty else { continue }
            for frame in watcher.takesChanges ? own.changes : own.frames {
                directives.append(.send(frame, to: session))
            }
            account.entries[id]?.watcher?.told = account.revision
        }
        return directives
    }

    /// The changes in an account since a state.
    struct ChangesSinceState {
        /// The devices that are new or others, by the revision.
        var devices: [(device: RelayDevice, revision: Int64)]
        var removed: [(device: String, revision: Int64)]
        let since: Int64
        let revision: Int64
        let epoch: Int64
        /// The frames for devices that accept changes.
        private(set) var changes: [RelayFrame] = []

        init(_ account: Account, since: Int64) {
            devices = account.entries.values.filter { $0.changedAt > since }
                .map { ($0.device, $0.changedAt) }.sorted { $0.revision < $1.revision }
            removed = account.removed.filter { $0.revision > since && account.entries[$0.device] == nil }
            self.since = since
            revision = account.revision
            epoch = account.epoch
            changes = portions()
        }

        var isEmpty: Bool { devices.isEmpty && removed.isEmpty }

        /// The same changes, for a device that is not notified of its own.
        func without(_ device: String) -> ChangesSinceState {
            var rest = self
            rest.devices.removeAll { $0.device.id == device }
            rest.changes = rest.portions()
            return rest
        }

        /// The frames for devices that do not accept changes.
        var frames: [RelayFrame] {
            removed.map { .removed(revision: $0.revision, device: $0.device) }
                + devices.map { .changed(revision: $0.revision, $0.device) }
        }

        /// How large the descriptions are together.
        var weight: RelayDevice.Weight {
            devices.reduce(RelayDevice.Weight(bytes: 0, values: 0)) { $0 + $1.device.weight }
        }

        /// The changes in frames that can be written, each of which ends at a state.
        private func portions() -> [RelayFrame] {
            var frames: [RelayFrame] = []
            var start = since
            var portion: [RelayDevice] = []
            var sum = RelayDevice.Weight(bytes: 0, values: 0)
            func frame(_ end: Int64) -> RelayFrame {
                let gone = removed.filter { $0.revision > start && $0.revision <= end }.map(\.device)
                return .changes(
                    RelayChanges(epoch: epoch, since: start, revision: end, devices: portion, removed: gone))
            }
            for (place, next) in devices.enumerated() {
                let weight = next.device.weight
                if !portion.isEmpty, !(sum + weight).fits(welcomeRoom) {
                    let end = devices[place - 1].revision
                    frames.append(frame(end))
                    (start, portion, sum) = (end, [], RelayDevice.Weight(bytes: 0, values: 0))
                }
                portion.append(next.device)
                sum = sum + weight
            }
            return frames + [frame(revision)]
        }
    }
}

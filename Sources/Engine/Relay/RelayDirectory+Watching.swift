import RelayWire

/// How the devices of an account hear of each other's changes.
///
/// Guarantees: the first change of a quiet time is told at once, what follows it within ``changePause`` together; a device hears of
/// another one before anything that this says comes to it.
extension RelayDirectory {
    /// For how long after a change was told the next ones are collected, in milliseconds.
    public static let changePause: Int64 = 100
    /// How many removed devices of an account are remembered.
    static let removedLimit = 64

    /// What a session was told.
    struct Watcher {
        /// The state of which it knows all but what it said itself.
        var told: Int64
        /// Whether it says what it knows, and takes changes.
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

    /// Tells what is new, or has it told in a moment where something was told just before.
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

    /// Tells what was collected.
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

    /// What a device is to be told before something of another one comes to it: mostly nothing.
    ///
    /// - Parameter session: A session of the account, the one device's or the other's.
    public mutating func tellBefore(_ sender: String, to receiver: String, by session: RelaySession) -> [Directive] {
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

    /// Tells each device, or one of them, what it does not know yet.
    static func tellChanges(_ account: inout Account, to only: String? = nil) -> [Directive] {
        // Most were told the same.
        var news: [Int64: News] = [:]
        var directives: [Directive] = []
        for (id, entry) in account.entries where only == nil || id == only {
            guard let session = entry.session, let watcher = entry.watcher, watcher.told < account.revision else {
                continue
            }
            let all = news[watcher.told] ?? News(account, since: watcher.told)
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

    /// What changed in an account since a state.
    struct News {
        /// The devices that are new or others, by the revision.
        var devices: [(device: RelayDevice, revision: Int64)]
        var removed: [(device: String, revision: Int64)]
        let since: Int64
        let revision: Int64
        let epoch: Int64
        /// What devices that take changes are told.
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

        /// The same for a device that does not hear of itself.
        func without(_ device: String) -> News {
            var rest = self
            rest.devices.removeAll { $0.device.id == device }
            rest.changes = rest.portions()
            return rest
        }

        /// What devices are told that know no changes.
        var frames: [RelayFrame] {
            removed.map { .removed(revision: $0.revision, device: $0.device) }
                + devices.map { .changed(revision: $0.revision, $0.device) }
        }

        /// How large the descriptions are together.
        var weight: RelayDevice.Weight {
            devices.reduce(RelayDevice.Weight(bytes: 0, values: 0)) { $0 + $1.device.weight }
        }

        /// In frames that can be written, each of which ends at a state.
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

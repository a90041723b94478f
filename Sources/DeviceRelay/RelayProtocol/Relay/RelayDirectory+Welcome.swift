/// The devices of an account, as they are sent to a session.
///
/// Guarantees: each frame can be written, however large the descriptions are. The first frame contains every device, so
/// that its messages can be read from then on. A device that knows an earlier state receives the changes, where these
/// are known.
extension RelayDirectory {
    /// How large the descriptions are at most that go in one frame.
    static let welcomeRoom = RelayDevice.Weight(bytes: 192 << 10, values: 6000)

    /// The frames that a session receives when it joins.
    ///
    /// - Parameter known: The state that the device reports to know; `nil` where it reports none.
    static func welcome(_ session: RelaySession, _ account: inout Account, knows known: DirectoryRevision?)
        -> [Directive]
    {
        account.entries[session.device]?.watcher = Watcher(told: account.revision, takesChanges: known != nil)
        if let known, known.epoch == account.epoch, known.revision >= account.forgotten,
            known.revision <= account.revision
        {
            let news = ChangesSinceState(account, since: known.revision).without(session.device)
            if news.weight.fits(welcomeRoom) {
                let changes = RelayChanges(
                    device: session.device, epoch: account.epoch, since: known.revision, revision: account.revision,
                    devices: news.devices.map(\.device), removed: news.removed.map(\.device))
                return [.send(.changes(changes), to: session)]
            }
        }
        return all(session, account, takesChanges: known != nil)
    }

    /// All devices. Present ones come first, with their apps; those that do not fit are described later.
    private static func all(_ session: RelaySession, _ account: Account, takesChanges: Bool) -> [Directive] {
        var devices = account.entries.values.map(\.device).sorted { $0.id < $1.id }
        var sum = RelayDevice.Weight(bytes: 0, values: 0)
        var rest: Set<Int> = []
        let here = devices.indices.filter { devices[$0].presence == .online }
        let others = devices.indices.filter { devices[$0].presence != .online }
        for index in here + others {
            let weight = devices[index].weight
            if devices[index].apps.isEmpty || (sum + weight).fits(welcomeRoom) {
                sum = sum + weight
            } else {
                rest.insert(index)
            }
        }
        for index in rest { devices[index] = devices[index].withoutApps }
        let ids = (here + others).filter(rest.contains).map { devices[$0].id }
        let changes = RelayChanges(
            device: session.device, epoch: account.epoch, since: nil, revision: account.revision, devices: devices,
            undescribed: ids)
        let frame: RelayFrame =
            takesChanges
            ? .changes(changes)
            : .welcome(device: session.device, revision: account.revision, devices: devices, undescribed: ids)
        return [.send(frame, to: session)] + (ids.isEmpty ? [] : [.describe(ids, to: session)])
    }

    /// The frames that bring a session up to date after it missed some; none for one that belongs to no account.
    public mutating func snapshot(for session: RelaySession) -> [Directive] {
        guard let id = accountOf[session], var account = accounts[id], let entry = account.entries[session.device],
            entry.session == session
        else { return [] }
        let takesChanges = entry.watcher?.takesChanges ?? false
        let directives = Self.welcome(session, &account, knows: takesChanges ? DirectoryRevision() : nil)
        accounts[id] = account
        return directives
    }

    /// The present description of a device of ``Directive/describe(_:to:)``; `nil` where no device has this id any
    /// more.
    public func description(of device: String, for session: RelaySession) -> RelayFrame? {
        guard let id = accountOf[session], let account = accounts[id], let entry = account.entries[device] else {
            return nil
        }
        return .changed(revision: account.revision, entry.device)
    }
}

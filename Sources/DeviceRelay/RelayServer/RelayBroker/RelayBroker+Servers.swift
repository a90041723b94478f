import Metrics
import PushCore
import PushServer
import RelayProtocol

/// Accounts that several servers have: each follows the store, and tells the others of its changes.
extension RelayBroker: NodeListener {
    // MARK: Joining

    /// Stores a session's device, and reads its account, before the directory has its hello.
    func join(
        _ sender: RelaySession, with hello: RelayHello, by sharing: RelaySharing, at now: Timestamp,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        guard hello.device.weight.fits(RelayDevice.largest) else {
            state.withLock { perform(hello.enter(&$0.directory, sender, at: now), &$0) }
            return complete(.durable())
        }
        let mayBegin = state.withLock { state in
            state.others.begin(sender, of: hello.account)
            return state.directory.mayBeginAccount(sender, at: now.rawValue)
        }
        var device = hello.device
        device.id = sender.device
        device.presence = .online
        let stored = StoredDevice(device: device, seen: now.rawValue, wake: hello.wake)
        sharing.database.join(sender, at: sharing.node, stored, of: hello.account, mayBegin: mayBegin) { [weak self] in
            self?.handleJoining($0, of: sender, with: hello, by: sharing, then: complete)
        }
    }

    private func handleJoining(
        _ outcome: RelayJoining, of sender: RelaySession, with hello: RelayHello, by sharing: RelaySharing,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        let now = clock()
        let isThere = state.withLock { state in
            guard let connection = state.connections[sender] else { return false }
            switch outcome {
            case .joined(let read, _, let isNew):
                if isNew { state.directory.countBegun(sender, at: now.rawValue) }
                state.directory.begin(hello.account)
                var others = state.others.living(read)
                // The device itself is entered by its hello.
                others.changed.removeAll { $0.stored.device.id == sender.device }
                synchronize(hello.account, with: others, at: now, &state)
                perform(hello.enter(&state.directory, sender, at: now), &state)
                state.directory.release(hello.account)
            case .refused(let why): send(.refused(why), to: sender, connection)
            case .superseded, .failed: break
            }
            return true
        }
        if case .joined(let read, var changed, _) = outcome {
            // Messages for a device that has left its account end.
            if !changed.isEmpty { endQueuedMessages(for: sender.device) }
            changed[hello.account] = read.revision
            announce(changed)
            if isThere {
                beginQueuedMessages(sender)
                documentStore?.seen(hello.account, at: now)
            } else {
                leave(sender, hello.account, at: now)
            }
        }
        if case .failed(let why) = outcome {
            deviceFailure.log(RelayStoreError(description: why), to: logger)
            complete(.failed)
        } else {
            complete(.durable())
        }
        synchronize(hello.account, upTo: runFrames(of: sender))
    }

    /// Processes the frames that a session sent while its hello was stored, and ends the joining.
    ///
    /// - Returns: The highest revision of the account that was announced meanwhile.
    private func runFrames(of session: RelaySession) -> Int64 {
        while true {
            let (frames, announced) = state.withLock { state -> ([@Sendable () -> Void], Int64) in
                let frames = state.others.takeFrames(of: session)
                return frames.isEmpty ? ([], state.others.end(session)) : (frames, 0)
            }
            guard !frames.isEmpty else { return announced }
            for frame in frames { frame() }
        }
    }

    /// Records that a session is over, where it has been stored. It is tried again until the store has it.
    func leave(_ session: RelaySession, _ account: RelayDirectory.AccountID?, at now: Timestamp) {
        guard let sharing else { return }
        sharing.database.leave(session, of: account, at: now) { [weak self] changed in
            guard let self else { return }
            if let changed { return announce(changed) }
            schedule(Self.queuedMessagePause) { [weak self] in self?.leave(session, account, at: now) }
        }
    }

    /// Deletes a device, unless it has been there since. It is tried again until the store has done it.
    func remove(_ device: String, at now: Timestamp) {
        sharing?.database.remove(device, unlessSeenAfter: now) { [weak self] changed in
            guard let self else { return }
            if let changed { return announce(changed) }
            schedule(Self.queuedMessagePause) { [weak self] in self?.remove(device, at: now) }
        }
    }

    // MARK: Changes

    /// Tells the other servers that accounts have changed.
    func announce(_ changed: [RelayDirectory.AccountID: Int64]) {
        for (account, revision) in changed {
            sendToOtherServers(.changed(account: account, revision: revision))
            synchronize(account, upTo: revision)
        }
    }

    /// Sends a message to all other servers. One that does not receive it reads everything later.
    func sendToOtherServers(_ message: RelayNodeMessage) {
        guard let sharing else { return }
        for node in state.withLock({ $0.others.alive }) where node != sharing.node {
            send(message, to: node) { [weak self] in self?.note($0, of: node) }
        }
    }

    /// Sends a message to a server.
    func send(
        _ message: RelayNodeMessage, to node: UInt16, then complete: @escaping @Sendable (CarrierAnswer) -> Void
    ) {
        guard let sharing else { return complete(.noNode) }
        do {
            sharing.messenger.send(try message.encoded(from: sharing.node), to: node, as: .relay, then: complete)
        } catch {
            logger.error("A message to another server could not be written.", metadata: [LogKey.error: "\(error)"])
            schedule(1) { complete(.noNode) }
        }
    }

    /// Reads the changes of an account up to a revision, where they are not known.
    ///
    /// - Parameter frame: Run once they are read; after all that waits for the same account.
    func synchronize(
        _ account: RelayDirectory.AccountID, upTo revision: Int64, before frame: (@Sendable () -> Void)? = nil
    ) {
        guard let sharing else { return }
        enum Step { case read(after: Int64), wait, run }
        let step = state.withLock { state -> Step in
            guard let known = state.directory.sharedRevision(of: account), known < revision || frame != nil else {
                // Its joining may have read it before the change.
                if frame == nil, let announced = state.others.announced[account] {
                    state.others.announced[account]?.revision = max(announced.revision, revision)
                }
                return .run
            }
            if var reading = state.others.reading[account] {
                reading.isWantedAgain = true
                if let frame { reading.frames = (reading.frames ?? []) + [frame] }
                state.others.reading[account] = reading
                return .wait
            }
            state.others.reading[account] = OtherServers.Reading(frames: frame.map { [$0] })
            return .read(after: known)
        }
        switch step {
        case .read(let known): read(account, after: known, sharing)
        case .wait: break
        // No session of the account is here any more. The frame is refused.
        case .run: frame?()
        }
    }

    private func read(_ account: RelayDirectory.AccountID, after revision: Int64, _ sharing: RelaySharing) {
        sharing.database.read(account, after: revision, at: sharing.node) { [weak self] read in
            self?.handleRead(read, of: account, sharing)
        }
    }

    private func handleRead(_ read: SharedAccount?, of account: RelayDirectory.AccountID, _ sharing: RelaySharing) {
        guard let read else {
            // Senders are not kept waiting for a database that does not answer.
            let frames = state.withLock { state in
                defer { state.others.reading[account]?.frames = nil }
                return state.others.reading[account]?.frames ?? []
            }
            for frame in frames { frame() }
            return schedule(Self.queuedMessagePause) { [weak self] in
                guard let self else { return }
                self.read(account, after: state.withLock { $0.directory.sharedRevision(of: account) } ?? .max, sharing)
            }
        }
        let now = clock()
        state.withLock { state in
            // Changes before its beginning may be wanted again since.
            if let known = state.directory.sharedRevision(of: account), known < read.since {
                state.others.reading[account]?.isWantedAgain = true
            }
            synchronize(account, with: state.others.living(read), at: now, &state)
            state.directory.release(account)
        }
        endReading(account, sharing)
    }

    /// Records what was read of an account, and notifies its sessions.
    private func synchronize(
        _ account: RelayDirectory.AccountID, with read: SharedAccount, at now: Timestamp, _ state: inout State
    ) {
        let (directives, hasNewDocuments) = state.directory.synchronize(account, with: read, at: now.rawValue)
        perform(directives, &state)
        guard hasNewDocuments else { return }
        for session in state.directory.sessions(of: account) {
            send(.documentsChanged, to: session, state.connections[session])
        }
    }

    /// Processes the frames that waited for an account, or reads it again where it has changed meanwhile.
    private func endReading(_ account: RelayDirectory.AccountID, _ sharing: RelaySharing) {
        enum Step { case read(after: Int64), run([@Sendable () -> Void]), end }
        while true {
            let step = state.withLock { state -> Step in
                guard var reading = state.others.reading[account] else { return .end }
                if reading.isWantedAgain, let known = state.directory.sharedRevision(of: account) {
                    state.others.reading[account]?.isWantedAgain = false
                    return .read(after: known)
                }
                let frames = reading.frames ?? []
                reading.frames = []
                state.others.reading[account] = frames.isEmpty ? nil : reading
                return frames.isEmpty ? .end : .run(frames)
            }
            switch step {
            case .read(let revision): return self.read(account, after: revision, sharing)
            case .run(let frames): for frame in frames { frame() }
            case .end: return
            }
        }
    }

    // MARK: Servers

    /// Receives the state of the servers: the sessions of those that have ended are over.
    package func receive(_ nodes: RunningNodes) {
        let now = clock()
        let (behind, hasNews) = state.withLock { state in
            let isFirst = state.others.alive.isEmpty
            let isBack = !isFirst && !nodes.alive.isSubset(of: state.others.alive)
            let gone = state.others.alive.subtracting(nodes.alive).union(nodes.ended)
            (state.others.alive, state.others.dead) = (nodes.alive, nodes.dead)
            if !gone.isEmpty { perform(state.directory.end(nodes: gone, at: now.rawValue), &state) }
            // Sessions of a server that was taken for dead count again.
            if isBack { state.directory.forgetRevisions() }
            // The others may have read sessions of this server's earlier run.
            if isFirst { state.others.behind.formUnion(nodes.alive) }
            defer { state.others.behind = [] }
            return (state.others.behind.intersection(nodes.alive), nodes.hasGap || isBack || !gone.isEmpty)
        }
        for node in behind where node != sharing?.node {
            send(.lost, to: node) { [weak self] in self?.note($0, of: node) }
        }
        if hasNews { readEverything() }
    }

    /// Remembers a server that has not received a message that it has to make up for.
    private func note(_ answer: CarrierAnswer, of node: UInt16) {
        if answer != .received { state.withLock { _ = $0.others.behind.insert(node) } }
    }

    /// Ends the sessions of this server's earlier run, and lets the other servers read them again.
    func endEarlierSessions(_ sharing: RelaySharing, before start: Timestamp) {
        sharing.database.endSessions(at: sharing.node, before: start) { [weak self] isDone in
            guard let self else { return }
            if isDone { return state.withLock { $0.others.behind.formUnion($0.others.alive) } }
            schedule(Self.queuedMessagePause) { [weak self] in self?.endEarlierSessions(sharing, before: start) }
        }
    }

    /// Compares all accounts and devices with the store, some hundred at a time; again where that is under way.
    func readEverything() {
        let found = state.withLock { state -> (accounts: [RelayDirectory.AccountID], devices: [String])? in
            guard !state.others.isComparing else {
                state.others.isComparingAgain = true
                return nil
            }
            state.others.isComparing = true
            return (state.directory.accountIDs, state.directory.deviceIDs)
        }
        if let found { compare(found.accounts[...], found.devices[...]) }
    }

    private func endComparison() {
        let isWantedAgain = state.withLock { state in
            defer { (state.others.isComparing, state.others.isComparingAgain) = (false, false) }
            return state.others.isComparingAgain
        }
        if isWantedAgain { readEverything() }
    }

    private static let compared = 500

    private func compare(_ accounts: ArraySlice<RelayDirectory.AccountID>, _ devices: ArraySlice<String>) {
        guard let sharing, !accounts.isEmpty || !devices.isEmpty else { return endComparison() }
        let (some, few) = (Array(accounts.prefix(Self.compared)), Array(devices.prefix(Self.compared)))
        sharing.database.readState(of: some, messagesFor: few) { [weak self] read in
            guard let self else { return }
            guard let read else {
                return schedule(Self.queuedMessagePause) { [weak self] in self?.compare(accounts, devices) }
            }
            for (account, revision) in read.states { synchronize(account, upTo: revision) }
            for device in read.waiting { perform(queuedMessages.withLock { $0.flow.kept(for: device) }) }
            compare(accounts.dropFirst(Self.compared), devices.dropFirst(Self.compared))
        }
    }
}

/// An error: the store did not keep what a device sent.
struct RelayStoreError: Error, CustomStringConvertible { let description: String }

import Logging
import Metrics
import NIOCore
import PushCore
import Synchronization

/// The part of the service that a node of several has: messages to the others, and what they left for it.
extension MailboxService {
    /// The place of a device's session. The batch has locked the mailbox's row, where there are rows.
    func sessionLocation(of device: DeviceID, in batch: MailboxBatch) -> SessionLocation {
        guard let nodes else { return connections.sessions[device] == nil ? .nowhere : .here }
        guard let row = batch.rows[device] else {
            preconditionFailure("the rows of the mailboxes that a batch changes are locked before it is decided")
        }
        return row.place(at: nodes.store.node, epoch: connections.sessions[device]?.id.epoch, isAlive: others.isAlive)
    }

    /// The session that this node has of a device; `nil` where another node has it.
    func session(of device: DeviceID, _ batch: MailboxBatch) -> LiveSession? {
        sessionLocation(of: device, in: batch) == .here ? connections.sessions[device] : nil
    }

    /// A new id for a device, higher than its earlier ones; `nil` when none can be made now.
    func nextID(of device: DeviceID, _ batch: inout MailboxBatch) -> NotificationID? {
        nodes == nil ? ids.next(now: clock()) : batch.nextID(of: device)
    }

    /// Ends the sessions of devices that have logged in at another node.
    func endLostSessions(_ batch: inout MailboxBatch) {
        for device in batch.rows.keys {
            guard let session = connections.sessions[device], sessionLocation(of: device, in: batch) != .here else {
                continue
            }
            batch.effects.changeSession(.superseded(session.id))
        }
    }

    /// Records a committed batch in the mailboxes and sessions that it concerned.
    ///
    /// A session that does not know the batches before reads the next page, which has everything.
    func enter(rows: [DeviceID: MailboxRow], _ effects: inout MailboxEffects) {
        for (device, row) in rows {
            residents.mailboxes[device]?.revision = row.revision
            guard var session = connections.sessions[device], session.id.epoch == row.epoch else { continue }
            if session.progress.receive(row.revision) == .gap { effects.changeWaiting(of: session.connection) }
            connections.sessions[device] = session
        }
    }

    /// A batch that failed may have been committed all the same: the sessions of its devices look.
    func handleFailure(of batch: MailboxBatch) {
        for device in batch.rows.keys {
            switch sessionLocation(of: device, in: batch) {
            case .nowhere: break
            case .here: connections.sessions[device]?.connection.waitingChanged()
            case .elsewhere(let node): others.missed[node, default: []].insert(device)
            }
        }
    }

    // MARK: Messages to other nodes

    /// Announces to other nodes what a batch has queued for their devices.
    func announce(_ messages: [UInt16: [NodeMessage]]) {
        for (node, messages) in messages { send(messages, to: node) }
    }

    /// Sends messages to a node. Devices that it may not have heard of are recorded in the store.
    private nonisolated func send(_ messages: [NodeMessage], to node: UInt16) {
        nodes?.carrier.send(messages, to: node) { answer in
            NodeMetrics.recordSent(messages.count, answer)
            guard answer != .received else { return }
            let devices = Set(messages.compactMap(\.device))
            self.loop.execute { self.assumeIsolated { $0.addMissed(devices, of: node) } }
        }
    }

    /// Records devices for a node that runs; one that does not has no sessions.
    private func addMissed(_ devices: Set<DeviceID>, of node: UInt16) {
        guard others.isAlive(node), !devices.isEmpty else { return }
        others.missed[node, default: []].formUnion(devices)
        writeMissed()
    }

    private func writeMissed() {
        guard !others.missed.isEmpty, !others.isWritingMissed, let nodes else { return }
        let missed = others.missed
        others.missed = [:]
        others.isWritingMissed = true
        nodes.store.addMissed(missed) { isDurable in
            self.loop.execute {
                self.assumeIsolated { service in
                    service.others.isWritingMissed = false
                    // The next heartbeat tries again.
                    guard isDurable else { return service.others.missed.merge(missed) { $0.union($1) } }
                    NodeMetrics.recordMissed(missed.values.reduce(0) { $0 + $1.count })
                    service.writeMissed()
                }
            }
        }
    }

    /// Lets the sessions of devices look at everything again, wherever they are.
    nonisolated func wakeElsewhere(_ devices: [DeviceID]) {
        nodes?.store.rows(of: devices) { found in
            // Where the rows cannot be read, nothing else can.
            guard case .success(let rows) = found else { return }
            self.loop.execute {
                self.assumeIsolated { service in
                    var messages: [UInt16: [NodeMessage]] = [:]
                    for (device, row) in rows {
                        guard case .elsewhere(let node) = service.sessionLocation(of: device, in: row) else { continue }
                        messages[node, default: []].append(.wake(device))
                    }
                    service.announce(messages)
                }
            }
        }
    }

    private func sessionLocation(of device: DeviceID, in row: MailboxRow) -> SessionLocation {
        guard let nodes else { return .nowhere }
        return row.place(at: nodes.store.node, epoch: connections.sessions[device]?.id.epoch, isAlive: others.isAlive)
    }

    // MARK: Attempts

    /// Looks for the node of a device that is not connected here, and sends it the attempt.
    nonisolated func attemptElsewhere(_ attempt: NodeAttempt) {
        switch attempts.append(attempt) {
        case .wake: loop.execute { self.assumeIsolated { $0.sendAttempts() } }
        case .queued: break
        case .full: dropAttempt(attempt, note: "too many notifications were on their way to other nodes")
        }
    }

    private func sendAttempts() {
        // What comes meanwhile is queued, and read with the next ones.
        guard !others.isReadingRows, let nodes else { return }
        let found = attempts.takeAll()
        guard !found.isEmpty else { return }
        others.isReadingRows = true
        nodes.store.rows(of: Array(Set(found.map(\.record.subject.device)))) { rows in
            self.loop.execute {
                self.assumeIsolated { service in
                    service.others.isReadingRows = false
                    service.send(found, by: rows)
                    service.sendAttempts()
                }
            }
        }
    }

    private func send(_ attempts: [NodeAttempt], by rows: Result<[DeviceID: MailboxRow], any Error>) {
        guard case .success(let rows) = rows else {
            for attempt in attempts { dropAttempt(attempt, note: "the node of the device could not be read") }
            return
        }
        var messages: [UInt16: [NodeAttempt]] = [:]
        for attempt in attempts {
            let device = attempt.record.subject.device
            switch rows[device].map({ sessionLocation(of: device, in: $0) }) ?? .nowhere {
            case .elsewhere(let node): messages[node, default: []].append(attempt)
            case .here, .nowhere: receive(attempt)
            }
        }
        for (node, attempts) in messages {
            nodes?.carrier.send(attempts.map(NodeMessage.attempt), to: node) { answer in
                NodeMetrics.recordSent(attempts.count, answer)
                guard answer != .received else { return }
                for attempt in attempts {
                    self.dropAttempt(
                        attempt, note: "the device's node did not answer; the notification may have arrived")
                }
            }
        }
    }

    private nonisolated func dropAttempt(_ attempt: NodeAttempt, note: String) {
        let line = TimelineEntry(at: clock(), state: .dropped(.offline), source: .server, note: note)
        scheduleNotes(
            queue.enqueue(
                note: { .attempted(attempt.record, [line]) }, id: attempt.record.id, team: attempt.team))
    }

    // MARK: Messages from other nodes

    /// Receives messages of another node.
    nonisolated func receive(_ messages: [NodeMessage]) {
        var rest: [NodeMessage] = []
        for message in messages {
            if case .system(let system, let bytes) = message {
                nodeStatus.listeners.withLock { $0[system] }?.receive(bytes)
            } else {
                rest.append(message)
            }
        }
        guard !rest.isEmpty else { return }
        let messages = rest
        loop.execute { self.assumeIsolated { service in for message in messages { service.receive(message) } } }
    }

    private func receive(_ message: NodeMessage) {
        switch message {
        case .deliver(let notifications, let device, let epoch, let revision):
            guard var session = connections.sessions[device], session.id.epoch == epoch else { return }
            switch session.progress.receive(revision) {
            case .next: session.connection.deliver(notifications)
            case .gap: session.connection.waitingChanged()
            case .known: break
            }
            connections.sessions[device] = session
        case .wake(let device): wake(device)
        case .attempt(let attempt): receive(attempt)
        case .heartbeat: sendHeartbeat()
        case .system: break
        }
    }

    /// Delivers an attempt to a device that is connected here, and writes its timeline.
    private nonisolated func receive(_ attempt: NodeAttempt) {
        let connection = presence.connection(of: attempt.record.subject.device)
        let ends =
            connection == nil ? [TimelineEntry(at: clock(), state: .dropped(.offline), source: .server)] : []
        scheduleNotes(
            queue.enqueue(
                note: { .attempted(attempt.record, ends) }, id: attempt.record.id, team: attempt.team,
                isOpen: connection != nil))
        connection?.deliver([attempt.outgoing])
    }

    /// Lets a session of this node look at everything again, and ends it where the device has a later one elsewhere.
    private func wake(_ device: DeviceID) {
        guard let session = connections.sessions[device] else { return }
        session.connection.waitingChanged()
        session.connection.registrationsChanged()
        _ = submit(.deliverBroadcasts([device]) {})
    }

    // MARK: Heartbeats

    /// Records each second that the node runs, and reads what other nodes left for it.
    func runHeartbeatRound() {
        guard nodes != nil, !upkeep.isStopped else { return }
        sendHeartbeat()
        nodeStatus.isCutOff.store(others.isSilent(at: .now()), ordering: .relaxed)
        loop.scheduleTask(in: .seconds(1)) { self.assumeIsolated { $0.runHeartbeatRound() } }
    }

    /// Records in the store which change of the register this node has read.
    nonisolated func handleRegisterRead() {
        guard nodes != nil else { return }
        loop.execute { self.assumeIsolated { $0.sendHeartbeat() } }
    }

    /// The nodes that run, as the store has them now; where it cannot be read, as it had them before.
    package func readNodes() async -> Set<UInt16> {
        guard nodes != nil, !upkeep.isStopped else { return [] }
        await withCheckedContinuation { continuation in
            others.readers.append(continuation)
            sendHeartbeat()
        }
        return others.alive
    }

    private func sendHeartbeat() {
        guard let nodes, !upkeep.isStopped else { return }
        // What was published meanwhile may not be in the answer that is awaited.
        guard others.asking == nil else { return others.isHeartbeatWanted = true }
        others.asking = .now()
        let report = NodeReport(
            sessions: connections.sessions.count, isCarrierConnected: nodes.carrier.isConnected)
        nodes.store.recordHeartbeat(report, after: others.sequence) { heartbeat in
            self.loop.execute { self.assumeIsolated { $0.receive(heartbeat) } }
        }
    }

    private func receive(_ heartbeat: Result<NodeHeartbeat, any Error>) {
        defer {
            for reader in others.readers { reader.resume() }
            others.readers = []
        }
        switch heartbeat {
        case .failure(let error):
            others.asking = nil
            // The answer may have been lost, and what it had with it: the next one looks at everything.
            others.forgetRuns()
            retries.messages.heartbeats.log(error, to: logger)
        case .success(let heartbeat):
            let (ended, hasGap, hasMessages) = others.receive(heartbeat, at: .now())
            others.asking = nil
            nodeStatus.isCutOff.store(false, ordering: .relaxed)
            nodeStatus.hasDuties.store(others.isFirst(nodes?.store.node ?? 0), ordering: .relaxed)
            if hasMessages { arrivals.wake() }
            if !heartbeat.topics.isEmpty {
                broadcasts.live.published(heartbeat.topics)
                deliverNext()
            }
            for device in heartbeat.missed { wake(device) }
            // A node that ended may have queued notifications that it did not announce, and nobody announces any to a node
            // that is taken for dead.
            for listener in nodeStatus.listeners.withLock({ $0 }).values {
                listener.receive(RunningNodes(alive: others.alive, dead: others.dead, ended: ended, hasGap: hasGap))
            }
            if hasGap { checkSessions(ArraySlice(connections.sessions.keys)) }
            writeMissed()
        }
        if others.isHeartbeatWanted {
            others.isHeartbeatWanted = false
            self.sendHeartbeat()
        }
        nodeStatus.count.store(max(1, others.alive.count), ordering: .relaxed)
        NodeMetrics.recordNodes(others.alive.count)
    }

    /// Compares the sessions with the mailboxes' rows, some thousand at a time.
    private func checkSessions(_ devices: ArraySlice<DeviceID>) {
        guard !devices.isEmpty, let nodes else { return }
        nodes.store.rows(of: Array(devices.prefix(2000))) { found in
            self.loop.execute {
                self.assumeIsolated { service in
                    if case .success(let rows) = found {
                        for (device, row) in rows where service.isBehind(row, device) { service.wake(device) }
                        service.checkSessions(devices.dropFirst(2000))
                    } else {
                        // The store does not answer: the next heartbeat that it answers begins again.
                        service.others.forgetRuns()
                    }
                }
            }
        }
    }

    private func isBehind(_ row: MailboxRow, _ device: DeviceID) -> Bool {
        guard let session = connections.sessions[device] else { return false }
        return session.id.epoch != row.epoch || session.progress.revision < row.revision
    }

    /// Reads what was added to the store for all nodes, and lets the others read it.
    func sendHeartbeatEverywhere() {
        guard let nodes else { return }
        sendHeartbeat()
        for node in others.alive where node != nodes.store.node { send([.heartbeat], to: node) }
    }

    /// The number of servers that are alive, this one included.
    nonisolated package var serverCount: Int { nodeStatus.count.load(ordering: .relaxed) }

    /// Whether this server does what one server has to do: sweeps, reports, webhooks.
    nonisolated package var hasDuties: Bool { nodes == nil || nodeStatus.hasDuties.load(ordering: .relaxed) }
}

extension NodeMessage {
    /// The device whose session looks at everything again where the message is lost; `nil` where that is not needed.
    fileprivate var device: DeviceID? {
        switch self {
        case .deliver(_, let device, _, _), .wake(let device): device
        case .attempt, .heartbeat, .system: nil
        }
    }
}

import Foundation
import RelayProtocol

/// Messages without a response, which the server queues for a device that is away.
///
/// Guarantees: the messages of one device to one app are delivered in order, one after the other. A message is
/// confirmed to the server only once its outcome is on the disk, so that it is delivered again where that failed. A
/// taken message is not delivered to an app again.
extension RelayHost {
    /// A received message, until its outcome is on the disk.
    struct IncomingMessage {
        var queuedMessage: QueuedMessage
        var lane: QueuedMessageLane
        var call: RelayCall
        /// How often it was given to its app.
        var attempts = 0
        /// Whether its delivery has begun.
        var isGiven = false
        /// The outcome of the message; `nil` while it is not known.
        var outcome: RelayOutcome?
    }

    /// The outcome of a queued message, to be reported to its sender.
    struct QueuedMessageEnd {
        var key: QueuedMessageKey
        var outcome: RelayOutcome
        var attempts = 0
    }

    /// The queue of messages from one device to one app, which are delivered in order.
    struct QueuedMessageLane: Hashable {
        var device: String
        var app: String
    }

    /// The timeout for an app, or the user, with one message, in milliseconds.
    static var queuedMessageTimeout: Int64 { 60_000 }
    /// How often a message is delivered to an app that ends each time before it has confirmed it.
    static var queuedMessageAttempts: Int { 3 }
    /// The most messages taken from the server that have not ended; it sends no more than half as many.
    static var queuedMessageLimit: Int { 64 }
    /// The most outcomes that are kept for senders that are unreachable.
    static var untoldLimitOfQueuedMessages: Int { 256 }

    // MARK: Telling

    /// The time until which a message is to be queued; `nil` where that is too long.
    func queuedMessageEnd(_ deadline: Int64?, _ now: Int64) -> Int64? {
        let end = deadline ?? now + QueuedMessage.usualAge
        return end <= now + QueuedMessage.longestAge ? end : nil
    }

    /// The server has queued a message of this device.
    mutating func queuedMessageKept(_ id: UUID, _ now: Int64) {
        guard let queuedMessage = mail.sentQueuedMessages.removeValue(forKey: id),
            let command = ledger.kept(id, until: queuedMessage, at: now)
        else { return }
        directives.append(.tell(command.client, .answered(request: command.request, id: id, RelayOutcome(.success))))
    }

    /// A message of this device has ended, after the server had queued it.
    ///
    /// - Returns: Whether the id names such a message.
    @discardableResult
    mutating func queuedMessageEnded(_ id: UUID, _ outcome: RelayOutcome, from device: String? = nil) -> Bool {
        let status = outcome.status
        guard let ended = ledger.queuedMessageEnded(id, status, detail: outcome.detail, from: device) else {
            return false
        }
        let entry = RelayLogEntry(device: ended.device, what: ended.what, status: status, id: id, asker: ended.asker)
        log(entry)
        return true
    }

    /// Cancels a message that is queued at the server.
    ///
    /// - Returns: Whether this client may cancel it; the server's response follows.
    mutating func recall(_ id: UUID, number: Int64, client: ClientNumber) -> Bool {
        guard let queuedMessage = ledger.keptQueuedMessage(id), let member = members[client],
            member.isTerminal || member.app == queuedMessage.asker
        else { return false }
        guard directory.isOpen else {
            answer(client, number, RelayOutcome(.networkUnavailable, detail: "there is no way to the server now"))
            return true
        }
        guard mail.recalls.count < Self.untoldLimitOfQueuedMessages else {
            answer(
                client, number, RelayOutcome(.resourceLimits, detail: "too many queued messages are being taken back"))
            return true
        }
        mail.recalls[id, default: []].append((client, number))
        directives.append(.send(.recall(device: queuedMessage.device, id: id)))
        return true
    }

    /// The server reports whether a cancelled message was queued.
    mutating func recalled(_ id: UUID, _ didWait: Bool) {
        let askers = mail.recalls.removeValue(forKey: id) ?? []
        if didWait { queuedMessageEnded(id, RelayOutcome(.cancelled)) }
        let outcome =
            didWait
            ? RelayOutcome(.success)
            : RelayOutcome(.failed, detail: "it waits no more: the device has it, or it has ended")
        for (client, number) in askers { answer(client, number, outcome) }
    }

    /// The session with the server is lost, and with it the responses about queued messages.
    mutating func queuedMessagesLost(_ now: Int64) {
        for id in ledger.underWay() where ledger[id]?.isQueuedMessage == true {
            let detail = "the way to the server was lost; tell it again under the same id"
            end(id, RelayOutcome(ledger.isWaiting(id) ? .networkUnavailable : .outcomeUnknown, detail: detail), now)
        }
        let askers = mail.recalls.values.flatMap { $0 }
        mail.recalls = [:]
        for (client, number) in askers {
            answer(client, number, RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost"))
        }
    }

    // MARK: Taking

    /// Restores the messages that this device took before its agent started.
    package mutating func restoreReceived(_ queuedMessages: [ReceivedMessage], at now: Int64) {
        for queuedMessage in queuedMessages { mail.taken.add(queuedMessage, at: now) }
    }

    /// A queued message of another device has arrived.
    mutating func arrived(_ queuedMessage: QueuedMessage, _ now: Int64) {
        let key = QueuedMessageKey(sender: queuedMessage.peer, id: queuedMessage.id)
        if let status = mail.taken[key] { return confirm(key, RelayOutcome(status)) }
        guard mail.queuedMessages[key] == nil, mail.queuedMessages.count < Self.queuedMessageLimit else { return }
        guard case .call(var call)? = try? RelayContent(queuedMessage.body), call.connection == nil else {
            directives.append(.send(.queuedMessageTaken(from: queuedMessage.peer, id: queuedMessage.id)))
            let what = "a queued message that cannot be read"
            return log(RelayLogEntry(device: queuedMessage.peer, what: what, status: .denied, id: queuedMessage.id))
        }
        call.isOneWay = true
        let lane = QueuedMessageLane(device: queuedMessage.peer, app: call.app)
        mail.queuedMessages[key] = IncomingMessage(queuedMessage: queuedMessage, lane: lane, call: call)
        mail.queuedMessageLanes[lane, default: []].append(key)
        if mail.queuedMessageLanes[lane]?.count == 1 { give(key, now) }
    }

    /// Delivers a message to its app, starts the app, or asks the user: as with a call.
    private mutating func give(_ key: QueuedMessageKey, _ now: Int64) {
        guard let queuedMessage = mail.queuedMessages[key] else { return }
        guard work.tasks.count < Self.taskLimit else { return mail.busyLanes.append(queuedMessage.lane) }
        work.described[key.id] = "tell \(queuedMessage.call.app)/\(queuedMessage.call.service)"
        guard queuedMessage.queuedMessage.deadline > now else {
            return reply(
                key.id, device: key.sender, outcome: RelayOutcome(.expired, detail: "it came after its deadline"))
        }
        mail.queuedMessages[key]?.attempts += 1
        mail.queuedMessages[key]?.isGiven = true
        let end = min(queuedMessage.queuedMessage.deadline, now + Self.queuedMessageTimeout)
        let route = RelayRoute(peer: key.sender, id: key.id, deadline: end, body: [])
        take(queuedMessage.call, route, now)
    }

    /// Settles a queued message: its outcome is written to the disk, and the next message of its lane is due.
    ///
    /// - Returns: Whether the key names a queued message without an outcome.
    mutating func queuedMessageSettled(_ key: QueuedMessageKey, _ outcome: RelayOutcome) -> Bool {
        guard let queuedMessage = mail.queuedMessages[key], queuedMessage.outcome == nil else { return false }
        mail.queuedMessages[key]?.outcome = RelayOutcome(outcome.status, detail: outcome.detail)
        // Its sender may give it again for a while.
        let (until, overflow) = queuedMessage.queuedMessage.deadline.addingReportingOverflow(ReceivedMessage.memory)
        directives.append(
            .keep(ReceivedMessage(key: key, until: overflow ? .max : until, status: outcome.status)))
        mail.endedLanes.append(queuedMessage.lane)
        return true
    }

    /// Begins the messages that are due now, since the previous one of their lane has ended.
    mutating func nextQueuedMessages(_ now: Int64) {
        if work.tasks.count < Self.taskLimit {
            mail.endedLanes += mail.busyLanes
            mail.busyLanes = []
        }
        while let lane = mail.endedLanes.popLast() {
            guard var keys = mail.queuedMessageLanes[lane] else { continue }
            keys.removeAll { mail.queuedMessages[$0].map { $0.outcome != nil } ?? true }
            mail.queuedMessageLanes[lane] = keys.isEmpty ? nil : keys
            if let next = keys.first, mail.queuedMessages[next]?.isGiven == false { give(next, now) }
        }
    }

    /// The outcomes of messages are on the disk, or could not be written: the latter messages are delivered again when
    /// the agent restarts.
    package mutating func kept(_ all: [ReceivedMessage], isWritten: Bool, at now: Int64) -> [Directive] {
        for queuedMessage in all {
            let outcome =
                mail.queuedMessages.removeValue(forKey: queuedMessage.key)?.outcome
                ?? RelayOutcome(queuedMessage.status)
            mail.taken.add(queuedMessage, at: now)
            if isWritten { confirm(queuedMessage.key, outcome) }
        }
        return take(now)
    }

    /// Confirms a message to the server, and reports its outcome to the sender: now, or when that is reachable.
    private mutating func confirm(_ key: QueuedMessageKey, _ outcome: RelayOutcome) {
        if directory.isOpen { directives.append(.send(.queuedMessageTaken(from: key.sender, id: key.id))) }
        tellEnd(QueuedMessageEnd(key: key, outcome: outcome))
    }

    private mutating func tellEnd(_ end: QueuedMessageEnd) {
        guard known(end.key.sender)?.presence == .online, hasWay(to: end.key.sender),
            let body = try? RelayContent.outcome(command: end.key.id, end.outcome).encoded()
        else {
            if mail.untoldEnds.count >= Self.untoldLimitOfQueuedMessages { mail.untoldEnds.removeFirst() }
            return mail.untoldEnds.append(end)
        }
        let id = UUID.random()
        if mail.toldOrder.count >= Self.untoldLimitOfQueuedMessages {
            mail.toldEnds[mail.toldOrder.removeFirst()] = nil
        }
        mail.toldOrder.append(id)
        mail.toldEnds[id] = end
        directives.append(.send(.route(RelayRoute(peer: end.key.sender, id: id, deadline: nil, body: body))))
    }

    /// A reported outcome was not delivered: it is repeated when its device is back, or at once where the device could
    /// not read it.
    ///
    /// - Returns: Whether the id names a reported outcome.
    mutating func endNotTold(_ id: UUID, _ reason: RelayUndelivered) -> Bool {
        guard var end = mail.toldEnds.removeValue(forKey: id) else { return false }
        mail.toldOrder.removeAll { $0 == id }
        end.attempts += 1
        switch reason {
        case .unavailable: mail.untoldEnds.append(end)
        case .begunAnew where end.attempts < Self.queuedMessageAttempts: tellEnd(end)
        default: break
        }
        return true
    }

    /// Reports the outcomes of their messages to a device that is present again, or to all that are.
    mutating func tellQueuedMessageEnds(to device: String? = nil) {
        let all = mail.untoldEnds
        mail.untoldEnds = all.filter { device != nil && $0.key.sender != device }
        for end in all where device == nil || end.key.sender == device { tellEnd(end) }
    }

    /// Delivers a message again to an app that ended before it had confirmed it; the app is started for that.
    ///
    /// - Returns: Whether it is delivered again.
    mutating func giveAgain(_ number: Int64, task: Task, at now: Int64) -> Bool {
        let key = QueuedMessageKey(sender: task.device, id: task.id)
        guard let queuedMessage = mail.queuedMessages[key], queuedMessage.outcome == nil,
            queuedMessage.attempts < Self.queuedMessageAttempts
        else {
            return false
        }
        work.tasks[number] = nil
        mail.queuedMessages[key]?.isGiven = false
        give(key, now)
        return true
    }
}

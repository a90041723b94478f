import Foundation
import Metrics
import Networking
import PushCore
import RelayProtocol
import Synchronization

/// Queued messages: messages without a response, which are stored for devices that are away. The store is called
/// outside every lock.
extension RelayBroker {
    /// The pause before a retry after a message could not be written to its device, or the store could not be read, in
    /// milliseconds.
    static let queuedMessagePause: Int64 = 1_000
    /// The longest time until the store is asked for expired messages again, in milliseconds.
    static let longestSweepPause: Int64 = 3_600_000
    /// The same where other servers store messages too.
    static let longestSharedSweepPause: Int64 = 30_000

    /// The state of queued messages.
    struct QueuedMessages {
        var flow = QueuedMessageFlow()
        /// The time of the next sweep over expired messages; `nil` for never.
        var sweepsAt: Timestamp?
    }

    /// Why a queued message was not kept, for the log.
    private struct QueuedMessageError: Error, CustomStringConvertible { let description: String }

    // MARK: Posting

    func post(_ queuedMessage: QueuedMessage, from sender: RelaySession, at now: Timestamp) {
        // The sender's name, under which it is forwarded, may be longer than the receiver's.
        guard queuedMessage.body.count <= QueuedMessage.bodyLimit else {
            return sendRefusal(to: sender, .undelivered(id: queuedMessage.id, .tooLarge))
        }
        let posting = state.withLock { $0.directory.posting(queuedMessage, from: sender, at: now.rawValue) }
        let account: RelayDirectory.AccountID
        switch posting {
        case .keep(let id): account = id
        case .refuse(let reason): return sendRefusal(to: sender, .undelivered(id: queuedMessage.id, reason))
        }
        guard let store = queuedMessageStore else {
            return sendRefusal(to: sender, .undelivered(id: queuedMessage.id, .notKept))
        }
        let kept = StoredMessage(
            account: account, device: queuedMessage.peer,
            key: QueuedMessageKey(sender: sender.device, id: queuedMessage.id),
            deadline: queuedMessage.deadline, body: queuedMessage.body)
        store.keep(kept) { [weak self] in self?.posted(kept, $0, by: sender) }
    }

    private func posted(_ queuedMessage: StoredMessage, _ keeping: QueuedMessageInsertion, by sender: RelaySession) {
        switch keeping {
        case .kept: break
        case .full: return sendRefusal(to: sender, .undelivered(id: queuedMessage.key.id, .full))
        case .failed(let why):
            if fault() == nil { queuedMessageFailure.log(QueuedMessageError(description: why), to: logger) }
            return sendRefusal(to: sender, .undelivered(id: queuedMessage.key.id, .notKept))
        }
        keptQueuedMessages.increment()
        let now = clock()
        state.withLock { state in
            send(.queuedMessageKept(queuedMessage.key.id), to: sender, state.connections[sender])
            if let push = state.directory.wake(
                queuedMessage.device, of: queuedMessage.account, until: queuedMessage.deadline, at: now.rawValue)
            {
                self.push(push, &state)
            }
        }
        perform(queuedMessages.withLock { $0.flow.kept(for: queuedMessage.device) })
        // A server whose session this one does not know yet may have read before the message was stored.
        sendToOtherServers(.stored(device: queuedMessage.device, deadline: queuedMessage.deadline))
        sweepQueuedMessages(by: Timestamp(rawValue: queuedMessage.deadline), at: now)
    }

    // MARK: Delivery

    /// Begins delivery to a session that has announced its account, or announces it again.
    func beginQueuedMessages(_ session: RelaySession) {
        guard let account = state.withLock({ $0.directory.account(of: session) }) else { return }
        perform(queuedMessages.withLock { $0.flow.begin(session, account) })
    }

    func endQueuedMessages(_ session: RelaySession) { queuedMessages.withLock { $0.flow.end(session) } }

    func perform(_ steps: [QueuedMessageFlow.Step]) {
        for step in steps {
            switch step {
            case .read(let session, let account, let number, let count, let bytes):
                queuedMessageStore?.read(
                    for: session.device, of: account, after: number, count: count, bytes: bytes,
                    at: clock()
                ) { [weak self] queuedMessages, isAll in self?.read(queuedMessages, isAll: isAll, for: session) }
            case .write(let queuedMessage, let session): write(queuedMessage, to: session)
            }
        }
    }

    private func read(_ read: [StoredMessage]?, isAll: Bool, for session: RelaySession) {
        if let read { return perform(queuedMessages.withLock { $0.flow.read(read, isAll: isAll, for: session) }) }
        guard fault() == nil else { return }
        schedule(Self.queuedMessagePause) { [weak self] in
            guard let self else { return }
            perform(queuedMessages.withLock { $0.flow.read([], isAll: false, for: session) })
        }
    }

    /// Writes a message. The next one is written when this one is, so that their order is kept; all other frames may
    /// overtake them.
    private func write(_ queuedMessage: StoredMessage, to session: RelaySession) {
        let frame = RelayFrame.queuedMessage(
            QueuedMessage(
                peer: queuedMessage.key.sender, id: queuedMessage.key.id, deadline: queuedMessage.deadline,
                body: queuedMessage.body))
        let connection = state.withLock { state in
            let (sender, device) = (queuedMessage.key.sender, session.device)
            perform(state.directory.pendingChanges(before: sender, to: device, by: session), &state)
            return state.connections[session]
        }
        guard let connection, let bytes = encoded(frame) else { return }
        connection.relay(bytes, isBulk: true) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .written: perform(queuedMessages.withLock { $0.flow.written(true, to: session) })
            case .ended: break
            case .choked:
                schedule(Self.queuedMessagePause) { [weak self] in
                    guard let self else { return }
                    perform(queuedMessages.withLock { $0.flow.retryWrites(for: session) })
                }
            }
        }
    }

    // MARK: Ends

    /// Deletes a message that a device has taken. One that was not delivered in this session is delivered then, and the
    /// device confirms it again.
    func taken(_ id: UUID, from sender: String, by session: RelaySession) {
        let key = QueuedMessageKey(sender: sender, id: id)
        guard queuedMessages.withLock({ $0.flow.isUnderWay(key, to: session.device) }) else { return }
        queuedMessageStore?.remove(key, for: session.device) { _ in }
        perform(queuedMessages.withLock { $0.flow.removeMessage(key, for: session.device) })
    }

    /// Withdraws a device's own message. One that is being delivered belongs to the other device.
    func recall(_ id: UUID, for device: String, by session: RelaySession) {
        let key = QueuedMessageKey(sender: session.device, id: id)
        if session.node == nil,
            let node = state.withLock({ state in
                state.directory.account(of: session).flatMap { state.directory.session(of: device, in: $0)?.node }
            })
        {
            return recall(id, for: device, by: session, at: node)
        }
        guard let store = queuedMessageStore, !queuedMessages.withLock({ $0.flow.isUnderWay(key, to: device) }) else {
            return sendRefusal(to: session, .recalled(id: id, didWait: false))
        }
        store.remove(key, for: device) { [weak self] wasKept in
            guard let self else { return }
            guard let wasKept else {
                guard fault() == nil else { return }
                // Nobody knows; it is tried again while somebody waits for the word.
                return schedule(Self.queuedMessagePause) { [weak self] in
                    guard let self, session.node != nil || state.withLock({ $0.connections[session] != nil }) else {
                        return
                    }
                    recall(id, for: device, by: session)
                }
            }
            let (isUnderWay, steps) = queuedMessages.withLock { queuedMessages in
                let isUnderWay = queuedMessages.flow.isUnderWay(key, to: device)
                return (isUnderWay, isUnderWay ? [] : queuedMessages.flow.removeMessage(key, for: device))
            }
            send(
                .recalled(id: id, didWait: wasKept && !isUnderWay), to: session,
                state.withLock { $0.connections[session] })
            perform(steps)
        }
    }

    /// Deletes the messages for a device that was removed from its account; connected senders are notified.
    func endQueuedMessages(for device: String) {
        queuedMessageStore?.removeAll(for: device) { [weak self] ended in
            for queuedMessage in ended { self?.end(queuedMessage, .unknownDevice) }
        }
    }

    private func end(_ queuedMessage: StoredMessage, _ reason: RelayUndelivered) {
        let (wasUnderWay, steps) = queuedMessages.withLock { queuedMessages in
            let wasUnderWay = queuedMessages.flow.isUnderWay(queuedMessage.key, to: queuedMessage.device)
            return (wasUnderWay, queuedMessages.flow.removeMessage(queuedMessage.key, for: queuedMessage.device))
        }
        perform(steps)
        // A message under way may have arrived: the other device reports its outcome.
        guard !wasUnderWay else { return }
        notify(
            queuedMessage.key.sender, of: queuedMessage.account, .undelivered(id: queuedMessage.key.id, reason))
    }

    // MARK: Time

    /// Schedules a sweep over expired messages, at a moment or before.
    func sweepQueuedMessages(by moment: Timestamp, at now: Timestamp) {
        guard fault() == nil else { return }
        let longest = sharing == nil ? Self.longestSweepPause : Self.longestSharedSweepPause
        let moment = min(moment, now.adding(milliseconds: longest))
        let isSooner = queuedMessages.withLock { queuedMessages in
            guard moment < queuedMessages.sweepsAt ?? .distantFuture else { return false }
            queuedMessages.sweepsAt = moment
            return true
        }
        guard isSooner else { return }
        schedule(max(1, moment.milliseconds(since: now))) { [weak self] in
            guard let self else { return }
            // An earlier timer has done the sweep.
            let isDue = queuedMessages.withLock { queuedMessages in
                guard queuedMessages.sweepsAt == moment else { return false }
                queuedMessages.sweepsAt = nil
                return true
            }
            if isDue { expireQueuedMessages() }
        }
    }

    private func expireQueuedMessages() {
        queuedMessageStore?.expire(at: clock(), node: sharing?.node) { [weak self] ended, next in
            guard let self else { return }
            for queuedMessage in ended { end(queuedMessage, .expired) }
            if let next = sharing == nil ? next : next ?? .distantFuture { sweepQueuedMessages(by: next, at: clock()) }
        }
    }
}

import Foundation
import Metrics
import Networking
import PushCore
import RelayProtocol
import Synchronization

/// Queued messages: messages without a response, which are stored for devices that are away. The store is called
/// outside every lock.
extension RelayCentre {
    /// The pause before a retry after a message could not be written to its device, or the store could not be read, in
    /// milliseconds.
    static let letterPause: Int64 = 1_000
    /// The longest time until the store is asked for expired messages again, in milliseconds.
    static let longestSweepPause: Int64 = 3_600_000

    /// The state of queued messages.
    struct Letters {
        var flow = LetterFlow()
        /// The time of the next sweep over expired messages; `nil` for never.
        var sweepsAt: Int64?
    }

    /// Why a letter was not kept, for the log.
    private struct LetterFailure: Error, CustomStringConvertible { let description: String }

    // MARK: Posting

    func post(_ letter: RelayLetter, from sender: RelaySession, at now: Int64) {
        // The sender's name, under which it is forwarded, may be longer than the receiver's.
        guard letter.body.count <= RelayLetter.bodyLimit else {
            return tell(sender, .undelivered(id: letter.id, .tooLarge))
        }
        let posting = state.withLock { $0.directory.posting(letter, from: sender, at: now) }
        let account: RelayDirectory.AccountID
        switch posting {
        case .keep(let id): account = id
        case .refuse(let reason): return tell(sender, .undelivered(id: letter.id, reason))
        }
        guard let store = letterStore else { return tell(sender, .undelivered(id: letter.id, .notKept)) }
        let kept = KeptLetter(
            account: account, device: letter.peer, key: LetterKey(sender: sender.device, id: letter.id),
            deadline: letter.deadline, body: letter.body)
        store.keep(kept) { [weak self] in self?.posted(kept, $0, by: sender) }
    }

    private func posted(_ letter: KeptLetter, _ keeping: LetterKeeping, by sender: RelaySession) {
        switch keeping {
        case .kept: break
        case .full: return tell(sender, .undelivered(id: letter.key.id, .full))
        case .failed(let why):
            if fault() == nil { letterFailure.log(LetterFailure(description: why), to: logger) }
            return tell(sender, .undelivered(id: letter.key.id, .notKept))
        }
        keptLetters.increment()
        let now = clock().rawValue
        state.withLock { state in
            send(.letterKept(letter.key.id), to: sender, state.connections[sender])
            if let push = state.directory.wake(letter.device, of: letter.account, until: letter.deadline, at: now) {
                self.push(push, &state)
            }
        }
        follow(letters.withLock { $0.flow.kept(for: letter.device) })
        sweepLetters(by: letter.deadline, at: now)
    }

    // MARK: Delivery

    /// Begins delivery to a session that has announced its account, or announces it again.
    func beginLetters(_ session: RelaySession) {
        guard let account = state.withLock({ $0.directory.account(of: session) }) else { return }
        follow(letters.withLock { $0.flow.begin(session, account) })
    }

    func endLetters(_ session: RelaySession) { letters.withLock { $0.flow.end(session) } }

    private func follow(_ steps: [LetterFlow.Step]) {
        for step in steps {
            switch step {
            case .read(let session, let account, let number, let count, let bytes):
                letterStore?.read(
                    for: session.device, of: account, after: number, count: count, bytes: bytes,
                    at: clock().rawValue
                ) { [weak self] letters, isAll in self?.read(letters, isAll: isAll, for: session) }
            case .write(let letter, let session): write(letter, to: session)
            }
        }
    }

    private func read(_ read: [KeptLetter]?, isAll: Bool, for session: RelaySession) {
        if let read { return follow(letters.withLock { $0.flow.read(read, isAll: isAll, for: session) }) }
        guard fault() == nil else { return }
        schedule(Self.letterPause) { [weak self] in
            guard let self else { return }
            follow(letters.withLock { $0.flow.read([], isAll: false, for: session) })
        }
    }

    /// Writes a message. The next one is written when this one is, so that their order is kept; all other frames may
    /// overtake them.
    private func write(_ letter: KeptLetter, to session: RelaySession) {
        let frame = RelayFrame.letter(
            RelayLetter(peer: letter.key.sender, id: letter.key.id, deadline: letter.deadline, body: letter.body))
        let connection = state.withLock { state in
            let (sender, device) = (letter.key.sender, session.device)
            follow(state.directory.tellBefore(sender, to: device, by: session), &state)
            return state.connections[session]
        }
        guard let connection, let bytes = encoded(frame) else { return }
        connection.relay(bytes, isBulk: true) { [weak self] outcome in
            guard let self else { return }
            switch outcome {
            case .written: follow(letters.withLock { $0.flow.written(true, to: session) })
            case .ended: break
            case .choked:
                schedule(Self.letterPause) { [weak self] in
                    guard let self else { return }
                    follow(letters.withLock { $0.flow.again(session) })
                }
            }
        }
    }

    // MARK: Ends

    /// Deletes a message that a device has taken. One that was not delivered in this session is delivered then, and the
    /// device confirms it again.
    func taken(_ id: UUID, from sender: String, by session: RelaySession) {
        let key = LetterKey(sender: sender, id: id)
        guard letters.withLock({ $0.flow.isUnderWay(key, to: session.device) }) else { return }
        letterStore?.remove(key, for: session.device) { _ in }
        follow(letters.withLock { $0.flow.ended(key, for: session.device) })
    }

    /// Withdraws a device's own message. One that is being delivered belongs to the other device.
    func recall(_ id: UUID, for device: String, by session: RelaySession) {
        let key = LetterKey(sender: session.device, id: id)
        guard let store = letterStore, !letters.withLock({ $0.flow.isUnderWay(key, to: device) }) else {
            return tell(session, .recalled(id: id, didWait: false))
        }
        store.remove(key, for: device) { [weak self] wasKept in
            guard let self else { return }
            guard let wasKept else {
                guard fault() == nil else { return }
                // Nobody knows; it is tried again while somebody waits for the word.
                return schedule(Self.letterPause) { [weak self] in
                    guard let self, state.withLock({ $0.connections[session] != nil }) else { return }
                    recall(id, for: device, by: session)
                }
            }
            let (isUnderWay, steps) = letters.withLock { letters in
                let isUnderWay = letters.flow.isUnderWay(key, to: device)
                return (isUnderWay, isUnderWay ? [] : letters.flow.ended(key, for: device))
            }
            send(
                .recalled(id: id, didWait: wasKept && !isUnderWay), to: session,
                state.withLock { $0.connections[session] })
            follow(steps)
        }
    }

    /// Deletes the messages for a device that was removed from its account; connected senders are notified.
    func endLetters(for device: String) {
        letterStore?.removeAll(for: device) { [weak self] ended in
            for letter in ended { self?.end(letter, .unknownDevice) }
        }
    }

    private func end(_ letter: KeptLetter, _ reason: RelayUndelivered) {
        let (wasUnderWay, steps) = letters.withLock { letters in
            let wasUnderWay = letters.flow.isUnderWay(letter.key, to: letter.device)
            return (wasUnderWay, letters.flow.ended(letter.key, for: letter.device))
        }
        follow(steps)
        // A message under way may have arrived: the other device reports its outcome.
        guard !wasUnderWay, let sender = state.withLock({ $0.directory.session(of: letter.key.sender) }) else { return }
        tell(sender, .undelivered(id: letter.key.id, reason))
    }

    // MARK: Time

    /// Schedules a sweep over expired messages, at a moment or before.
    func sweepLetters(by moment: Int64, at now: Int64) {
        guard fault() == nil else { return }
        let moment = min(moment, now + Self.longestSweepPause)
        let isSooner = letters.withLock { letters in
            guard moment < letters.sweepsAt ?? .max else { return false }
            letters.sweepsAt = moment
            return true
        }
        guard isSooner else { return }
        schedule(max(1, moment - now)) { [weak self] in
            guard let self else { return }
            // An earlier timer has done the sweep.
            let isDue = letters.withLock { letters in
                guard letters.sweepsAt == moment else { return false }
                letters.sweepsAt = nil
                return true
            }
            if isDue { expireLetters() }
        }
    }

    private func expireLetters() {
        letterStore?.expire(at: clock().rawValue) { [weak self] ended, next in
            guard let self else { return }
            for letter in ended { end(letter, .expired) }
            if let next { sweepLetters(by: next, at: clock().rawValue) }
        }
    }
}

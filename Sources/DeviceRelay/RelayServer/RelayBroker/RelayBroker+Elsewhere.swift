import Foundation
import Metrics
import PushCore
import PushServer
import RelayProtocol

/// Frames to and from sessions of other servers.
extension RelayBroker {
    // MARK: To other servers

    /// Sends a frame to a session of another server.
    ///
    /// - Parameter sender: The session of this server that the other one is brought together with by it, if any.
    func sendElsewhere(
        _ bytes: [UInt8], to session: RelaySession, at node: UInt16, from sender: RelaySession?,
        tries: Int = answerTries
    ) {
        send(.frame(bytes, to: session, from: sender), to: node) { [weak self] answer in
            // A server that does not run has no such session.
            guard answer == .unanswered, tries > 1 else { return }
            self?.schedule(Self.queuedMessagePause) { [weak self] in
                self?.sendElsewhere(bytes, to: session, at: node, from: sender, tries: tries - 1)
            }
        }
    }

    /// The number of times that an answer or a notice is sent to another server: for as long as one is taken for running.
    static let answerTries = 8

    /// Forwards a message to a session of another server. The sender is notified where it did not arrive, or nobody knows.
    func forwardElsewhere(_ route: RelayRoute, to target: RelaySession, at node: UInt16, from sender: RelaySession) {
        guard let bytes = encoded(.route(route)) else {
            return sendRefusal(to: sender, .undelivered(id: route.id, .tooLarge))
        }
        countForwarded(route)
        send(.frame(bytes, to: target, from: sender), to: node) { [weak self] answer in
            switch answer {
            case .received: break
            case .noNode: self?.sendRefusal(to: sender, .undelivered(id: route.id, .unavailable))
            case .unanswered: self?.handleLoss(of: target, for: sender)
            }
        }
    }

    private func handleLoss(of target: RelaySession, for sender: RelaySession) {
        state.withLock { perform($0.directory.handleLoss(of: target, for: sender), &$0) }
    }

    /// Sends a frame to a device of an account, wherever it is.
    func notify(_ device: String, of account: RelayDirectory.AccountID, _ frame: RelayFrame) {
        if let session = state.withLock({
            $0.directory.session(of: device, in: account) ?? $0.directory.session(of: device)
        }) {
            return sendRefusal(to: session, frame)
        }
        if let bytes = encoded(frame) { sendToOtherServers(.notice(bytes, device: device)) }
    }

    /// Has another server recall a message that it may be delivering.
    func recall(_ id: UUID, for device: String, by session: RelaySession, at node: UInt16) {
        send(.recall(id: id, device: device, by: session), to: node) { [weak self] answer in
            guard let self, answer != .received else { return }
            // The message may be under way at the other server, or its device has gone.
            schedule(Self.queuedMessagePause) { [weak self] in
                guard let self, state.withLock({ $0.connections[session] != nil }) else { return }
                recall(id, for: device, by: session)
            }
        }
    }

    /// Asks the server that has a device's session for a device of another person's.
    func findElsewhere(_ device: String, by session: RelaySession, _ sharing: RelaySharing) {
        sharing.database.node(of: device) { [weak self] node in
            guard let self else { return }
            let visitor = state.withLock { $0.directory.visitor(session) }
            guard let node, node != sharing.node, let visitor else {
                return sendRefusal(to: session, .notFound(device: device))
            }
            send(.find(device: device, visitor: visitor, by: session), to: node) { [weak self] answer in
                if answer != .received { self?.sendRefusal(to: session, .notFound(device: device)) }
            }
        }
    }

    /// Records that a device names a place, and brings it together with the one that has named the same place.
    func pair(_ session: RelaySession, at place: [UInt8], _ sharing: RelaySharing, at now: Timestamp) {
        let connection = state.withLock { state in
            if state.connections[session] != nil { state.others.pairing.insert(session) }
            return state.connections[session]
        }
        guard let network = connection.map(\.network) else { return }
        sharing.database.pair(session, at: place, from: network, node: sharing.node, now: now) { [weak self] outcome in
            guard let self else { return }
            guard let outcome else {
                return sendRefusal(to: session, .refused("the server cannot keep who is being paired; begin again"))
            }
            if let displaced = outcome.displaced {
                sendRefusal(to: displaced, .refused(PairingLimits.displaced))
            }
            guard let partner = outcome.partner else { return }
            state.withLock { state in
                guard state.connections[session] != nil else { return }
                perform(state.directory.pair(session, with: partner), &state)
            }
            guard let node = partner.node else {
                return state.withLock { perform($0.directory.pair(partner, with: session), &$0) }
            }
            if let bytes = encoded(.peerJoined(device: session.device)) {
                send(.frame(bytes, to: partner, from: session), to: node) { _ in }
            }
        }
    }

    // MARK: From other servers

    /// Receives a message of another server's relay.
    package func receive(_ bytes: [UInt8]) {
        guard let sharing else { return }
        let message: RelayNodeMessage
        do { message = try RelayNodeMessage(bytes, at: sharing.node) } catch {
            Counter(label: "aldaba_node_messages_malformed_total").increment()
            return logger.warning("A message of another server is not read.", metadata: [LogKey.error: "\(error)"])
        }
        switch message {
        case .changed(let account, let revision): synchronize(account, upTo: revision)
        case .stored(let device, let deadline): handleStored(for: device, until: deadline)
        case .frame(let bytes, let target, let sender): receive(bytes, for: target, from: sender)
        case .notice(let bytes, let device):
            let session = state.withLock { $0.directory.session(of: device) }
            if let session, let frame = frame(bytes) { sendRefusal(to: session, frame) }
        case .recall(let id, let device, let session): recall(id, for: device, by: session)
        case .find(let device, let visitor, let session):
            state.withLock { perform($0.directory.find(device, by: visitor, session), &$0) }
        case .lost: readEverything()
        }
    }

    private func handleStored(for device: String, until deadline: Int64) {
        guard queuedMessages.withLock({ $0.flow.isDelivering(to: device) }) else { return }
        perform(queuedMessages.withLock { $0.flow.kept(for: device) })
        sweepQueuedMessages(by: Timestamp(rawValue: deadline), at: clock())
    }

    private func frame(_ bytes: [UInt8]) -> RelayFrame? {
        do { return try RelayFrame(bytes) } catch {
            logger.warning("A frame of another server is not read.", metadata: [LogKey.error: "\(error)"])
            return nil
        }
    }

    /// Receives a frame for a session of this server.
    private func receive(_ bytes: [UInt8], for target: RelaySession, from sender: RelaySession?) {
        guard let frame = frame(bytes) else { return }
        if case .route(let route) = frame {
            guard let sender else { return }
            return receive(route, for: target, from: sender)
        }
        state.withLock { state in
            guard let connection = state.connections[target] else { return }
            switch frame {
            case .peerJoined:
                guard let sender else { return }
                return perform(state.directory.pair(target, with: sender), &state)
            case .found:
                if let sender { perform(state.directory.found(sender, by: target), &state) }
            case .removed(_, let device): state.directory.endGuest(device, of: target)
            case .interrupted(let device): return perform(state.directory.interrupt(device, for: target), &state)
            default: break
            }
            send(frame, to: target, connection)
        }
    }

    /// Forwards a message of another server's session to one of this server. It waits where the account is not read yet.
    ///
    /// - Parameters:
    ///   - isRead: Whether the account was read since the message came.
    ///   - isHeld: Whether the message has waited for the target's hello.
    private func receive(
        _ route: RelayRoute, for target: RelaySession, from sender: RelaySession, isRead: Bool = false,
        isHeld: Bool = false
    ) {
        enum Step { case forward(any DeviceConnection), refuse(RelayUndelivered), read(RelayDirectory.AccountID), wait }
        let step = state.withLock { state -> Step in
            // Its hello is being stored.
            if !isHeld, state.others.joining[target] != nil {
                let work: @Sendable (RelayBroker) -> Void = {
                    $0.receive(route, for: target, from: sender, isRead: isRead, isHeld: true)
                }
                guard hold(work, for: target, &state) else {
                    return .refuse(.overloaded)
                }
                return .wait
            }
            guard let connection = state.connections[target], let account = state.directory.account(of: target) else {
                guard let connection = state.connections[target], state.directory.mayReach(target, from: sender) == true
                else { return .refuse(.unavailable) }
                return .forward(connection)
            }
            // Those before it wait.
            if !isRead, let waiting = state.others.reading[account]?.frames {
                guard waiting.count < OtherServers.frameLimit else { return .refuse(.overloaded) }
                state.others.reading[account]?.frames?.append { [weak self] in
                    self?.receive(route, for: target, from: sender, isRead: true, isHeld: isHeld)
                }
                return .wait
            }
            switch state.directory.mayReach(target, from: sender) {
            case true?:
                perform(state.directory.pendingChanges(before: sender.device, to: target.device, by: target), &state)
                return .forward(connection)
            case false?: return .refuse(.unknownDevice)
            case nil: return isRead ? .refuse(.unavailable) : .read(account)
            }
        }
        switch step {
        case .forward(let connection): forward(route, connection, from: sender)
        case .refuse(let reason): sendRefusal(to: sender, .undelivered(id: route.id, reason))
        case .read(let account):
            synchronize(account, upTo: .max) { [weak self] in
                self?.receive(route, for: target, from: sender, isRead: true, isHeld: isHeld)
            }
        case .wait: break
        }
    }

    /// Keeps work until the hello of a session is stored.
    ///
    /// - Returns: `false` where too much waits.
    func hold(
        _ work: @escaping @Sendable (RelayBroker) -> Void, for session: RelaySession, _ state: inout State
    ) -> Bool {
        guard state.others.joining[session]?.frames.count ?? 0 < OtherServers.frameLimit else { return false }
        state.others.joining[session]?.frames.append { [weak self] in if let self { work(self) } }
        return true
    }
}

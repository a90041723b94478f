import Crypto
import Logging
import Metrics
import Networking
import PushCore
import PushServer
import RelayProtocol
import Synchronization

/// The broker between the devices of one person: it tracks which are connected, notifies them of each other, and
/// forwards messages between them. Thread-safe.
///
/// It stores each device's description of itself (``RelayRegister``), so that devices that are away are known after a
/// restart. In each session a device proves its account by the account's access token, of which a hash is stored.
package final class RelayBroker: UpstreamReceiver, SessionListener {
    /// Runs a closure on any thread after a delay in milliseconds.
    package typealias Schedule = @Sendable (Int64, @escaping @Sendable () -> Void) -> Void

    struct State {
        var directory = RelayDirectory(epoch: Int64.random(in: .min ... .max))
        var connections: [RelaySession: any DeviceConnection] = [:]
        /// The devices whose descriptions are still to be sent to a session, and whether one is being written.
        var describing: [RelaySession: (rest: [String], isUnderWay: Bool)] = [:]
        var waker: (any RelayWaker)?
        /// The time of the valid timer; a timer for another time does nothing.
        var wakesAt: Timestamp?
        /// The number of pushes without a result.
        var pushes = 0
        var others = OtherServers()
    }

    /// The maximum number of devices that are being woken at a time.
    static let pushLimit = 256
    /// The time for which a device that accepts no more frames is left alone before the next attempt, in milliseconds.
    static let stalePause: Int64 = 1_000
    /// The maximum number of devices whose missed interruption or removal is sent to a session in addition to the
    /// present state.
    static let missedLimit = 128

    let state = Mutex(State())
    let queuedMessages = Mutex(QueuedMessages())
    /// The sessions that missed frames, with the interruptions and removals of devices that they missed.
    private let stale = Mutex<[RelaySession: [String: RelayFrame]]>([:])
    private let register: any RelayRegister
    let queuedMessageStore: RelayDatabase?
    let documentStore: (any DocumentStore)?
    /// The other servers with the same database; `nil` for a server that is alone.
    let sharing: RelaySharing?
    /// The number of outstanding document requests of each session.
    let documentRequests = Mutex<[RelaySession: Int]>([:])
    /// Why nothing can be kept or read until the server starts again; `nil` while it can.
    let fault: @Sendable () -> String?
    let clock: @Sendable () -> Timestamp
    let schedule: Schedule
    let logger: Logger
    let deviceFailure = RepeatedMessage("A device could not join its account.")
    let queuedMessageFailure = RepeatedMessage("A queued message was not kept.")
    private let forwardedMessages = Counter(label: "aldaba_relay_forwarded_total", dimensions: [("kind", "message")])
    private let forwardedPieces = Counter(label: "aldaba_relay_forwarded_total", dimensions: [("kind", "piece")])
    let keptQueuedMessages = Counter(label: "aldaba_relay_letters_total")
    private let refused = Counter(label: "aldaba_relay_undelivered_total")
    private let woken = ["sent", "failed", "dead"].map {
        Counter(label: "aldaba_relay_wakes_total", dimensions: [("outcome", $0)])
    }

    /// Creates a broker without devices.
    ///
    /// - Parameters:
    ///   - queued messages: What keeps queued messages; `nil` where none are kept.
    ///   - documents: What keeps documents; `nil` where none are kept.
    ///   - sharing: The other servers with the same database; `nil` for a server that is alone.
    ///   - fault: Why register, queued messages and documents cannot be used until the server starts again; `nil` while they can. Then
    ///     every frame is refused with it.
    package init(
        register: any RelayRegister, queuedMessages queuedMessageStore: RelayDatabase? = nil,
        documents documentStore: (any DocumentStore)? = nil, sharing: RelaySharing? = nil,
        clock: @escaping @Sendable () -> Timestamp, schedule: @escaping Schedule,
        fault: @escaping @Sendable () -> String? = { nil }, logger: Logger
    ) {
        self.register = register
        self.queuedMessageStore = queuedMessageStore
        self.documentStore = documentStore
        self.clock = clock
        self.schedule = schedule
        self.fault = fault
        self.logger = logger
        self.sharing = sharing
        if let sharing {
            state.withLock { $0.directory.isShared = true }
            endEarlierSessions(sharing, before: clock())
            sharing.messenger.listen(self, as: .relay)
        } else if let queuedMessageStore, queuedMessageStore.isShared {
            queuedMessageStore.endSessions(at: nil, before: clock()) { _ in }
        }
        // An earlier run may have stored some.
        if queuedMessageStore != nil { sweepQueuedMessages(by: clock(), at: clock()) }
        if documentStore != nil { sweepDocuments(after: 1) }
    }

    /// Wakes devices through `waker` from now on. Called before there are sessions.
    package func wakes(by waker: any RelayWaker) {
        state.withLock { state in
            state.waker = waker
            state.directory.canWake = true
        }
    }

    // MARK: Sessions

    /// Records a session's connection. Other devices are notified once the session has announced its account.
    package func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        state.withLock { $0.connections[RelaySession(session)] = connection }
    }

    /// Notifies the person's other devices that messages under way to this one may be lost.
    package func closed(_ session: DeviceSessionID) {
        let session = RelaySession(session)
        let now = clock()
        let (account, isStored) = state.withLock { state in
            let account = state.directory.account(of: session)
            let hasNamedPlace = state.others.pairing.remove(session) != nil
            let isStored = account != nil || hasNamedPlace
            state.connections[session] = nil
            state.describing[session] = nil
            defer { perform(state.directory.closed(session, at: now.rawValue), &state) }
            return (account, isStored)
        }
        if isStored { leave(session, account, at: now) }
        endQueuedMessages(session)
        documentRequests.withLock { $0[session] = nil }
    }

    // MARK: Frames

    /// Processes a frame of a device. An unreadable frame ends the session, since the two do not use the same protocol.
    package func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        let frame: RelayFrame
        do { frame = try RelayFrame(message.raw) } catch {
            return complete(.violation("no frame of the relay: \(error)"))
        }
        let sender = RelaySession(session)
        if let fault = fault() {
            refuse(frame, of: sender, fault)
            return complete(.durable())
        }
        let mustWait = state.withLock { state -> Bool? in
            guard state.others.joining[sender] != nil else { return false }
            return hold({ $0.receive(frame, of: sender, then: complete) }, for: sender, &state) ? true : nil
        }
        switch mustWait {
        case false?: receive(frame, of: sender, then: complete)
        case true?: break
        case nil: complete(.failed)
        }
    }

    private func receive(
        _ frame: RelayFrame, of sender: RelaySession, then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        let now = clock()
        switch frame {
        case .route(let route): forward(route, from: sender, at: now)
        case .hello(let token, let device, let wake, let known):
            // Only a hash is stored, which proves nothing to any other party.
            let hello = RelayHello(
                account: Array(SHA256.hash(data: token)), device: device, wake: wake, known: known)
            if let sharing { return join(sender, with: hello, by: sharing, at: now, then: complete) }
            state.withLock { state in
                load(hello.account, &state, at: now)
                perform(
                    state.directory.hello(
                        sender, account: hello.account, device, wake: wake, knows: known, at: now.rawValue), &state)
            }
            beginQueuedMessages(sender)
            documentStore?.seen(hello.account, at: now)
        case .queuedMessage(let queuedMessage): post(queuedMessage, from: sender, at: now)
        case .queuedMessageTaken(let other, let id): taken(id, from: other, by: sender)
        case .recall(let device, let id): recall(id, for: device, by: sender)
        case .documentRequest(let id, let ask): handleDocumentRequest(ask, id: id, from: sender, at: now)
        case .dismiss(let device):
            state.withLock { perform($0.directory.dismiss(device, by: sender), &$0) }
        case .withdraw(let device, let id):
            state.withLock { $0.directory.withdraw(id, for: device, by: sender) }
        case .meet(let place):
            if let sharing {
                pair(sender, at: place, sharing, at: now)
                break
            }
            state.withLock { state in
                let network = state.connections[sender]?.network
                perform(state.directory.pair(sender, at: place, from: network, now: now.rawValue), &state)
            }
        case .find(let device): find(device, by: sender)
        case .goodbye: state.withLock { perform($0.directory.leaveAccount(sender), &$0) }
        case .welcome, .changes, .changed, .removed, .interrupted, .undelivered, .refused, .peerJoined, .found,
            .notFound,
            .visited,
            .queuedMessageKept, .recalled, .documentAnswer, .documentsChanged:
            return complete(.violation("a device does not say this to its server"))
        case .unknown: break
        }
        complete(.durable())
    }

    /// Refuses a frame of a device for good. Whoever waits for an answer to it has that answer.
    private func refuse(_ frame: RelayFrame, of sender: RelaySession, _ fault: String) {
        switch frame {
        case .route(let route): sendRefusal(to: sender, .undelivered(id: route.id, .unavailable))
        case .queuedMessage(let queuedMessage): sendRefusal(to: sender, .undelivered(id: queuedMessage.id, .notKept))
        case .documentRequest(let id, _): sendRefusal(to: sender, .documentAnswer(id: id, .refused(.notKept)))
        case .goodbye, .withdraw, .queuedMessageTaken: break
        default: sendRefusal(to: sender, .refused("relaying is out of service: \(fault)"))
        }
    }

    private func find(_ device: String, by sender: RelaySession) {
        let isElsewhere = state.withLock { state in
            guard sharing == nil || state.directory.session(of: device) != nil else { return true }
            perform(state.directory.find(device, by: sender), &state)
            return false
        }
        if isElsewhere, let sharing { findElsewhere(device, by: sender, sharing) }
    }

    private func load(_ account: [UInt8], _ state: inout State, at now: Timestamp) {
        guard !state.directory.knows(account) else { return }
        do { perform(state.directory.load(account, try register.devices(of: account), at: now.rawValue), &state) } catch
        {
            logger.error("The devices of an account could not be read.", metadata: [LogKey.error: "\(error)"])
        }
    }

    /// Forwards a message. The frame is written outside the lock; one sender's frames keep their order since they
    /// arrive one after the other.
    private func forward(_ route: RelayRoute, from sender: RelaySession, at now: Timestamp) {
        let (directive, connection) = state.withLock { state -> (RelayDirectory.Directive?, (any DeviceConnection)?) in
            perform(state.directory.pendingChanges(before: sender.device, to: route.peer, by: sender), &state)
            let directive = state.directory.route(route, from: sender, at: now.rawValue)
            switch directive {
            case .forward(_, let target, _) where target.node != nil: return (directive, nil)
            case .forward(_, let target, _): return (directive, state.connections[target])
            case .send(_, let target): return (directive, state.connections[target])
            case .wake, .push:
                perform([directive].compactMap { $0 }, &state)
                return (directive, nil)
            case .keep, .forget, .describe, nil: return (directive, nil)
            }
        }
        switch directive {
        case .forward(let route, let target, _):
            if let node = target.node { return forwardElsewhere(route, to: target, at: node, from: sender) }
            guard let connection else { return sendRefusal(to: sender, .undelivered(id: route.id, .unavailable)) }
            forward(route, connection, from: sender)
        case .send(let frame, let target): send(frame, to: target, connection)
        case .wake, .push, .keep, .forget, .describe, nil: break
        }
    }

    func countForwarded(_ route: RelayRoute) {
        (route.isBulk ? forwardedPieces : forwardedMessages).increment()
    }

    /// Writes a frame; the sender is notified where it could not be written. A session that ended meanwhile counts as
    /// not connected.
    func forward(_ route: RelayRoute, _ connection: any DeviceConnection, from sender: RelaySession) {
        // The sender's name, which replaces the receiver's, may be longer.
        guard let bytes = encoded(.route(route)) else {
            return sendRefusal(to: sender, .undelivered(id: route.id, .tooLarge))
        }
        countForwarded(route)
        connection.relay(bytes, isBulk: route.isBulk) { [weak self] outcome in
            switch outcome {
            case .written: break
            case .ended: self?.sendRefusal(to: sender, .undelivered(id: route.id, .unavailable))
            case .choked: self?.sendRefusal(to: sender, .undelivered(id: route.id, .overloaded))
            }
        }
    }

    func sendRefusal(to session: RelaySession, _ frame: RelayFrame) {
        refused.increment()
        send(frame, to: session, state.withLock { $0.connections[session] })
    }

    func send(_ frame: RelayFrame, to session: RelaySession, _ connection: (any DeviceConnection)?) {
        guard let bytes = encoded(frame) else { return }
        send(bytes, frame: frame, to: session, connection: connection)
    }

    private func send(
        _ bytes: [UInt8], frame: RelayFrame, to session: RelaySession, connection: (any DeviceConnection)?
    ) {
        if let node = session.node { return sendElsewhere(bytes, to: session, at: node, from: nil) }
        connection?.relay(bytes, isBulk: false) { [weak self] outcome in
            if outcome != .written { self?.missed(frame, session) }
        }
    }

    func encoded(_ frame: RelayFrame) -> [UInt8]? {
        do { return try frame.encoded() } catch {
            logger.error("A frame of the relay could not be written.", metadata: [LogKey.error: "\(error)"])
            return nil
        }
    }

    /// Executes directives within the lock, so that each device receives the others' states in their order.
    func perform(_ directives: [RelayDirectory.Directive], _ state: inout State) {
        var last: (frame: RelayFrame, bytes: [UInt8])?
        for directive in directives {
            switch directive {
            case .send(let frame, let session):
                // A session that missed frames receives the whole state again.
                if frame.isOfDevices, stale.withLock({ $0[session] != nil }) { break }
                // Many sessions receive the same frame, which is encoded once.
                let bytes = last.flatMap { $0.frame == frame ? $0.bytes : nil } ?? encoded(frame)
                last = bytes.map { (frame, $0) }
                guard let bytes else { break }
                if let node = session.node, case .found(let host) = frame {
                    sendElsewhere(bytes, to: session, at: node, from: state.directory.session(of: host.id))
                } else {
                    send(bytes, frame: frame, to: session, connection: state.connections[session])
                }
            case .describe(let devices, let session):
                state.describing[session] = (devices, state.describing[session]?.isUnderWay ?? false)
                describe(session, &state)
            case .forward(let route, let target, let sender):
                if let node = target.node {
                    forwardElsewhere(route, to: target, at: node, from: sender)
                } else if let connection = state.connections[target] {
                    forward(route, connection, from: sender)
                }
            case .keep(let device, let account): storeDevice(device, of: account)
            case .forget(let device):
                forget(device)
                endQueuedMessages(for: device)
            case .wake(let moment): wake(at: Timestamp(rawValue: moment), &state)
            case .push(let push):
                wake(at: Timestamp(rawValue: push.until), &state)
                self.push(push, &state)
            }
        }
    }

    private func storeDevice(_ device: StoredDevice, of account: RelayDirectory.AccountID) {
        guard let sharing else { return register.save(device, of: account) }
        // What was not stored is found again by the next push.
        sharing.database.update(device, of: account) { [weak self] in if let changed = $0 { self?.announce(changed) } }
    }

    private func forget(_ device: String) {
        if sharing == nil { register.delete(device) } else { remove(device, at: clock()) }
    }

    private func wake(at moment: Timestamp, _ state: inout State) {
        if let next = state.wakesAt, next <= moment { return }
        state.wakesAt = moment
        schedule(max(1, moment.milliseconds(since: clock()))) { [weak self] in self?.lookForAbsent(at: moment) }
    }

    // MARK: Devices that accept no frames

    /// Records that a session missed a frame: it receives the state once it accepts frames again. Responses are not
    /// repeated; their requests end at their deadline.
    private func missed(_ frame: RelayFrame, _ session: RelaySession) {
        let about: String?
        switch frame {
        case .welcome, .changes, .changed, .documentsChanged: about = nil
        case .removed(_, let device), .interrupted(let device): about = device
        default: return
        }
        let isFirst = stale.withLock { stale in
            let known = stale[session]
            var missed = known ?? [:]
            if let about, missed.count < Self.missedLimit { missed[about] = frame }
            stale[session] = missed
            return known == nil
        }
        if isFirst { schedule(Self.stalePause) { [weak self] in self?.catchUp(session) } }
    }

    private func catchUp(_ session: RelaySession) {
        let missed = stale.withLock { $0.removeValue(forKey: session) } ?? [:]
        state.withLock { state in
            guard let connection = state.connections[session] else { return }
            for frame in missed.values { send(frame, to: session, connection) }
            perform(state.directory.snapshot(for: session), &state)
        }
    }

    /// Sends the next device's present description. The one after it follows when this one is written.
    private func describe(_ session: RelaySession, _ state: inout State) {
        guard let (rest, isUnderWay) = state.describing[session], !isUnderWay else { return }
        guard let connection = state.connections[session],
            let place = rest.firstIndex(where: { state.directory.description(of: $0, for: session) != nil }),
            let bytes = state.directory.description(of: rest[place], for: session).flatMap(encoded)
        else {
            state.describing[session] = nil
            return
        }
        state.describing[session] = (Array(rest[place...]), true)
        connection.relay(bytes, isBulk: false) { [weak self] outcome in
            self?.schedule(outcome == .written ? 1 : Self.stalePause) { [weak self] in
                self?.described(outcome == .written ? rest[place] : nil, session)
            }
        }
    }

    private func described(_ device: String?, _ session: RelaySession) {
        state.withLock { state in
            state.describing[session]?.isUnderWay = false
            if let device, state.describing[session]?.rest.first == device {
                state.describing[session]?.rest.removeFirst()
            }
            describe(session, &state)
        }
    }

    // MARK: Devices that are woken

    /// Wakes a device. The outcome is reported on another thread, or within this call where there are too many pushes.
    func push(_ push: RelayPush, _ state: inout State) {
        guard let waker = state.waker, state.pushes < Self.pushLimit else {
            woken[1].increment()
            return perform(state.directory.notWoken(push, isDead: false), &state)
        }
        state.pushes += 1
        waker.wake(push.channel, until: Timestamp(rawValue: push.until)) { [weak self] outcome in
            self?.handleWakeResult(outcome, of: push)
        }
    }

    private func handleWakeResult(_ outcome: RelayWakeResult, of push: RelayPush) {
        switch outcome {
        case .sent:
            woken[0].increment()
            state.withLock { $0.pushes -= 1 }
        case .failed(let reason), .dead(let reason):
            var isDead = false
            if case .dead = outcome { isDead = true }
            woken[isDead ? 2 : 1].increment()
            logger.notice(
                "A device could not be woken.",
                metadata: [LogKey.device: "\(push.device)", LogKey.error: "\(reason)"])
            state.withLock { state in
                state.pushes -= 1
                perform(state.directory.notWoken(push, isDead: isDead), &state)
            }
        }
    }

    private func lookForAbsent(at moment: Timestamp) {
        let now = clock()
        state.withLock { state in
            guard state.wakesAt == moment else { return }
            state.wakesAt = nil
            perform(state.directory.due(at: now.rawValue), &state)
            if let next = state.directory.nextMoment { wake(at: Timestamp(rawValue: next), &state) }
        }
    }
}

extension RelaySession {
    fileprivate init(_ session: DeviceSessionID) {
        self.init(device: session.device.description, epoch: session.epoch)
    }
}

extension RelayFrame {
    /// Whether the frame lists or describes devices, and is superseded when the whole state is sent again.
    fileprivate var isOfDevices: Bool {
        switch self {
        case .changes(let changes): changes.device == nil
        case .changed: true
        default: false
        }
    }
}

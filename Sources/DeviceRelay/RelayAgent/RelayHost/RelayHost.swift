import Foundation
import RelayProtocol

/// The device's end of relaying: it handles requests of apps and terminals and messages of other devices. A value;
/// events in, directives out.
///
/// Guarantees: every command of a client is answered once, and one that another device sends twice is carried out once.
/// Other devices find an app's offer here under the access rights that the app gave it. The loss of a connection is
/// reported to both sides.
package struct RelayHost {
    /// An action for the caller to carry out, in the order of the list.
    package enum Directive: Hashable, Sendable {
        /// Send a frame to the server.
        case send(RelayFrame)
        /// Notify an app or a terminal.
        case tell(ClientNumber, RelayNotice)
        /// Open an address on this desktop, in an app that is not connected or in any, and report the outcome by
        /// ``RelayHost/opened(_:_:at:)``.
        case open(ticket: Int64, uri: String, app: String?)
        /// Carry out an operation on a file, and report the outcome by ``RelayHost/filed(_:_:at:)``.
        case file(stream: UUID, RelayFileOrder)
        /// Have one of the agent's own services respond, and report the response by ``RelayHost/served(_:_:at:)``.
        case serve(ticket: Int64, service: String, RelayMap)
        /// End the work of one of the agent's own services for a request whose response no caller needs any more.
        case endService(ticket: Int64)
        /// Ask the user whether a device may call a service, and report the answer by ``RelayHost/decided(_:_:at:)``.
        case ask(ticket: Int64, RelayQuestion)
        /// The question needs no answer any more.
        case withdraw(ticket: Int64)
        /// Start an app that had offered something.
        case start(app: String)
        /// Note what happened, for the person to look at later.
        case note(RelayLogEntry)
        /// Send a terminal the latest log entries.
        case tellLog(ClientNumber, request: Int64)
        /// Another device reports, through the server, the state of a direct connection.
        case path(device: String, RelayContent)
        /// Store that a message was taken, and report it by ``RelayHost/kept(_:isWritten:at:)``.
        case keep(ReceivedMessage)
        /// Keep the settings on the disk.
        case save(RelaySettings)
        /// Call ``RelayHost/due(at:)`` after so many milliseconds.
        case wake(after: Int64)
    }

    /// A client of the host: an app, or a terminal.
    struct Member {
        /// The app's bundle id, or the terminal's name.
        var app: String
        var name: String
        var isTerminal: Bool
        var services: [RelayService] = []
        var schemes: [String] = []
        var attributes: [String: String] = [:]
        var isPublished = false
        var watches = false
        /// The filters of the watched devices: those that match any of them, or all devices where there is none.
        var filters: [RelayDeviceFilter] = []
        /// The devices last reported to this watcher, by id.
        var seen: [String: RelayDevice] = [:]
        var isEnumerated = false
    }

    /// A command of another device that a client or a service carries out here.
    struct Task {
        var id: UUID
        var device: String
        var deadline: Int64?
        /// The client that carries it out; `nil` for the system.
        var client: ClientNumber?
        /// A page to be opened where the address cannot be.
        var fallback: String?
        var isFallback = false
        /// When the caller is notified that the command has arrived, unless it is answered before.
        var tellsAt: Int64?
        /// The command to be carried out once the user has allowed it, or its app runs.
        var call: RelayContent?
        /// The app that is being started for it.
        var awaits: String?
        /// Whether the person is being asked.
        var isAsked = false
        /// Whether the user has allowed it, once or permanently.
        var isAllowed = false
        /// The timeout for the app, or for the user's answer; `nil` where neither is waited for.
        var timeout: Int64?
        /// The service of the agent's own that answers it.
        var ownService: String?
        /// The connection over which it is asked.
        var connection: UUID?

        /// Whether the client or service that carries it out is notified of its end.
        var isEndedHere: Bool { client != nil || ownService != nil }
    }

    /// The device's account, its names, and the access rights of other devices.
    package internal(set) var settings: RelaySettings
    var members: [ClientNumber: Member] = [:]
    var ledger = CommandLedger()
    /// The frames of commands that are queued, by command id.
    var departures: [UUID: Departure] = [:]
    var directives: [Directive] = []
    /// The log entries to be written after all directives, since no client waits for the log.
    var notes: [RelayLogEntry] = []
    /// Whether the screen is known to be unlocked.
    var isScreenUnlocked = false
    /// The devices that this one knows, and its session with the server.
    var directory = RelayNeighbours()
    /// The connections over which apps call services of other devices.
    var calls = CallConnections()
    /// Messages to devices that are away, in both directions.
    var mail = MessageQueues()
    /// The commands of other devices that are carried out here.
    var work = IncomingCommands()
    /// The files and streams that go to other devices and come from them.
    var streams = RelayStreams()
    var refusal: String?
    var pairing: Pairing?
    var documents = RelayedDocuments()
    /// The agent's own services, beside the ping.
    let ownServices: Set<String>
    /// The folder for files of other devices, unless the settings name another.
    let ownFilesFolder: String
    /// The manufacturer and the model of this machine.
    let manufacturer: String, model: String
    private var wakesAt: Int64?

    /// How many commands of other devices may be carried out at a time.
    static var taskLimit: Int { 256 }
    /// How long a command may take before its caller is notified that it has arrived, in milliseconds.
    static var silence: Int64 { 100 }
    /// Until when a command without a deadline is waited for, in milliseconds.
    static var timeout: Int64 { 30_000 }
    /// How long after a deadline the server's response is waited for, in milliseconds.
    static var wordTimeout: Int64 { 500 }
    /// How long a command may be waited for at most, in milliseconds: less than ids are remembered.
    static var longestTimeout: Int64 { AnsweredCommands.age - 60_000 }

    /// A host without clients and without a session.
    ///
    /// - Parameters:
    ///   - ownServices: The services that the agent itself answers, which need the user's consent.
    ///   - filesFolder: The folder for files of other devices, unless the settings name another.
    ///   - manufacturer: The manufacturer of this machine; at most 255 bytes, as `model`.
    ///   - firstTask: The number before that of the first request to an app. It is drawn at random where there may have
    ///   been another host before, so that a late answer to one of that host's requests matches none.
    package init(
        settings: RelaySettings, ownServices: Set<String> = [], filesFolder: String = "/tmp",
        manufacturer: String = "", model: String = "", firstTask: Int64 = 0
    ) {
        self.manufacturer = manufacturer
        self.model = model
        work.lastTask = firstTask
        self.settings = settings
        self.ownServices = ownServices
        ownFilesFolder = filesFolder
    }

    // MARK: The session

    /// The session with the server is open.
    package mutating func sessionOpened(at now: Int64) -> [Directive] {
        directory.isOpen = true
        work.answered.begin(at: now)
        sayHello()
        return take(now)
    }

    /// The session with the server ended. The outcome of everything in transit through the server is unknown.
    package mutating func sessionClosed(at now: Int64) -> [Directive] {
        directory.isOpen = false
        directory.devices = nil
        directory.undescribed = []
        forgetOthers()
        failPairing("the way to the server was lost")
        queuedMessagesLost(now)
        withDocuments { $0.lost() }
        for device in devicesUnderWay.subtracting(directory.direct) {
            lost(device, detail: "the way to the server was lost", at: now)
        }
        for client in members.keys { tellWatcher(client) }
        return take(now)
    }

    /// A frame came from the server, or directly.
    ///
    /// - Parameter isGuests: Whether it is from a device of another user.
    package mutating func received(_ frame: RelayFrame, isGuests: Bool = false, at now: Int64) -> [Directive] {
        // After a suspension a frame may come before what fell due.
        endGrants(now)
        switch frame {
        case .welcome(let device, _, let all, let undescribed):
            welcomed(device, all: all, undescribed: undescribed, at: now)
        case .changed(_, let device):
            directory.undescribed.remove(device.id)
            let wasHere = known(device.id)?.presence == .online
            directory.devices?[device.id] = device
            if !wasHere { tellList(to: device.id) }
            offerAgain(to: device.id)
            tellQueuedMessageEnds(to: device.id)
            resumeLines(with: device.id, now)
            for client in members.keys { tellWatcher(client) }
        case .removed(_, let device) where device == directory.ownID: dismissed(now)
        case .removed(_, let device):
            gone(device, now)
            for client in members.keys { tellWatcher(client) }
        case .interrupted(let device) where directory.direct.contains(device):
            // The connection of the two devices' own is there still.
            break
        case .interrupted(let device): lost(device, detail: "the device went away before it answered", at: now)
        case .route(let route) where isGuests: arrivedFromGuest(route, now)
        case .route(let route): arrived(route, now)
        case .found(let device): found(device)
        case .notFound(let device): notFound(device)
        case .visited(let device): visited(device)
        case .queuedMessage(let queuedMessage): arrived(queuedMessage, now)
        case .queuedMessageKept(let id): queuedMessageKept(id, now)
        case .recalled(let id, let didWait): recalled(id, didWait)
        case .documentAnswer(let id, let told): withDocuments { $0.answered(id, told, at: now) }
        case .documentsChanged: withDocuments { $0.changed(at: now) }
        case .undelivered(let id, let reason): undelivered(id, reason: reason, at: now)
        case .refused(let why):
            refusal = why
            pairingRefused(why)
            for (client, member) in members where member.watches {
                directives.append(.tell(client, .watchFailed(.refused, why)))
            }
        case .peerJoined(let device): pairingPeerJoined(device)
        // Changes come as what follows from them.
        case .changes: break
        case .hello, .goodbye, .dismiss, .meet, .find, .withdraw, .queuedMessageTaken, .recall, .documentAsk,
            .unknown:
            break
        }
        return take(now)
    }

    /// Sends the server this device's account and offers; nothing where it belongs to no account.
    mutating func sayHello() {
        introduce()
        guard directory.isOpen, let account = settings.account else { return }
        directives.append(.send(.hello(token: account.accessToken, describedDevice, wake: settings.wake)))
    }

    /// A device is none of the user's any more, or another user's device has gone.
    mutating func gone(_ device: String, _ now: Int64) {
        directory.devices?[device] = nil
        directory.undescribed.remove(device)
        directory.met[device] = nil
        directory.guests[device] = nil
        directory.hosts[device] = nil
        for (id, file) in streams.outgoing where file.device == device {
            end(id, RelayOutcome(.unknownDevice, detail: "the device is none of yours any more"), now)
            outgoingEnded(id)
        }
        lost(device, detail: "the device went away before it answered", isForGood: true, at: now)
        // No caller waits for the requests of its apps.
        for (number, task) in work.tasks where task.device == device && task.client != nil { giveUp(number, task) }
        forgetParked(of: device)
    }

    /// Discards the deferred commands of a device that has gone: a device that comes back under its id may be another.
    mutating func forgetParked(of device: String) {
        for (number, task) in work.tasks where task.device == device && task.call != nil {
            if task.isAsked { directives.append(.withdraw(ticket: number)) }
            giveUp(number, task)
        }
    }

    private mutating func giveUp(_ number: Int64, _ task: Task) {
        forget(number, task)
        _ = keep(RelayOutcome(.cancelled), of: task.id, from: task.device)
        appStreamEnded(task.id, isLost: true)
    }

    /// The devices with which a command, stream, connection or task is in progress.
    private var devicesUnderWay: Set<String> {
        let files = streams.outgoing.values.map(\.device) + streams.incoming.values.map(\.device)
        let others =
            streams.appStreams.values.map(\.device) + calls.lines.values.map(\.device) + work.tasks.values.map(\.device)
        return Set(files + others + ledger.underWay().compactMap { ledger[$0]?.device })
    }

    /// Ends everything when this device belongs to its account no more: no device answers it.
    mutating func endAll(_ detail: String, _ now: Int64) {
        for device in devicesUnderWay {
            lost(device, detail: detail, isForGood: true, at: now)
            forgetParked(of: device)
            for (id, file) in streams.outgoing where file.device == device && ledger[id] == nil { outgoingEnded(id) }
        }
        for id in ledger.underWay() {
            let hasLeft = ledger[id].map { $0.life != .requesting } ?? false
            end(id, RelayOutcome(hasLeft ? .outcomeUnknown : .notDelivered, detail: detail), now)
        }
    }

    /// Handles the loss of a device. Whatever was in transit to it may have arrived or not.
    ///
    /// - Parameter isForGood: Whether it does not come back; connections between apps wait for it otherwise.
    mutating func lost(_ device: String, detail: String, isForGood: Bool = false, at now: Int64) {
        suspendLines(with: device, detail, isForGood: isForGood, now)
        for (id, file) in streams.outgoing where file.device == device { streams.outgoing[id]?.isAway = true }
        for (id, file) in streams.incoming where file.device == device { incomingEnded(id) }
        appStreamsLost(with: device)
        for id in ledger.underWay(to: device)
        where streams.outgoing[id] == nil && !isKept(id) && ledger[id]?.isQueuedMessage != true {
            let isWaiting = ledger.isWaiting(id)
            if isWaiting, !isForGood, ledger[id]?.waits == true { continue }
            end(id, RelayOutcome(isWaiting ? .notDelivered : .outcomeUnknown, detail: detail), now)
        }
        // Tasks here continue, and their responses are kept for a repeated command.
        for (number, task) in work.tasks where task.device == device {
            work.tasks[number]?.deadline = min(task.deadline ?? .max, now + Self.longestTimeout)
        }
    }

    private mutating func undelivered(_ id: UUID, reason: RelayUndelivered, at now: Int64) {
        let outcome = reason.outcome
        if streams.outgoing[id] != nil, [.unavailable, .notJoined, .notWoken].contains(reason) {
            // It is offered again when the device is back.
            streams.outgoing[id]?.isAway = true
            return
        }
        if endNotTold(id, reason) || ledger[id] == nil && queuedMessageEnded(id, outcome) { return }
        if ledger[id] == nil { outgoingEnded(id) }
        if !askAgain(id, reason: reason, at: now) {
            end(id, isAskedAgain(id) ? RelayOutcome(.outcomeUnknown) : outcome, now)
        }
    }

    // MARK: Time

    /// The deadline that was asked for has come.
    package mutating func due(at now: Int64) -> [Directive] {
        wakesAt = nil
        for id in ledger.due(at: now) {
            if let command = ledger[id], command.life != .requesting, command.opens != nil {
                // Opened late, it would stay open there.
                send(.cancel(command: id), to: command.device, deadline: nil)
            }
            end(id, ledger.outcomeAtDeadline(of: id), now)
        }
        lookForSilentFiles(now)
        endSilentStreams(now)
        withDocuments { $0.due(at: now) }
        endGrants(now)
        endLines(now)
        for (number, task) in work.tasks {
            if let timeout = task.timeout, timeout <= now {
                gaveUp(number, task: task, at: now)
                continue
            }
            if let deadline = task.deadline, deadline <= now, task.isEndedHere {
                forget(number, task)
                let detail =
                    task.client == nil
                    ? "it took longer than to its deadline, and was ended"
                    : "the app did not answer before the deadline"
                keep(RelayOutcome(.outcomeUnknown, detail: detail), of: task.id, from: task.device)
                appStreamEnded(task.id, isLost: true)
            }
            guard let moment = task.tellsAt, moment <= now, work.tasks[number] != nil else { continue }
            work.tasks[number]?.tellsAt = nil
            send(.executing(command: task.id), to: task.device, deadline: task.deadline)
        }
        return take(now)
    }

    /// Takes the directives, together with the next moment at which something is due.
    mutating func take(_ now: Int64) -> [Directive] {
        askNext(now)
        nextQueuedMessages(now)
        sendWaiting(now)
        var next = min(ledger.deadline ?? .max, calls.linesDue ?? .max)
        for moment in [nextFileMoment, nextStreamMoment, documents.nextMoment] { next = min(next, moment ?? .max) }
        if let moment = settings.grantEnds?.values.min() { next = min(next, moment) }
        for task in work.tasks.values {
            // A task of the system ends with the system's response.
            let end = task.isEndedHere ? task.deadline : task.timeout
            next = min(next, end ?? .max, task.tellsAt ?? .max)
        }
        if next < wakesAt ?? .max {
            wakesAt = next
            directives.append(.wake(after: max(1, next - now)))
        }
        for entry in notes { directives.append(.note(entry)) }
        defer {
            directives = []
            notes = []
        }
        return directives
    }

    /// Ends a command and answers its client.
    mutating func end(_ id: UUID, _ outcome: RelayOutcome, from device: String? = nil, _ now: Int64) {
        guard let command = ledger.end(id, outcome.status, detail: outcome.detail, from: device, at: now) else {
            return
        }
        mail.sentQueuedMessages[id] = nil
        departures[id] = nil
        if let opens = command.opens, outcome.status == .success {
            addLine(
                id, line: Line(client: command.client, device: command.device, app: opens.app, service: opens.service),
                at: now)
        }
        if let connection = command.connection { answeredOver(connection, id: id, at: now) }
        outgoingEnded(id)
        appStreamEnded(id)
        directives.append(.tell(command.client, .answered(request: command.request, id: id, outcome)))
        note(id, command: command, status: outcome.status)
    }

    /// Notes what happened, behind all that is to be done.
    mutating func log(_ entry: RelayLogEntry) { notes.append(entry) }

    /// Notes what was asked of another device.
    mutating func note(_ id: UUID, command: CommandLedger.Command, status: RelayStatus) {
        log(
            RelayLogEntry(
                device: command.device, what: command.what, status: status, id: id, asker: command.asker))
    }

    /// Sends something to another device, without a command of its own.
    mutating func send(
        _ content: RelayContent, to device: String, deadline: Int64?, isBulk: Bool = false
    ) {
        guard hasWay(to: device), let body = try? content.encoded() else { return }
        directives.append(
            .send(
                .route(
                    RelayRoute(
                        peer: device, id: UUID.random(), deadline: deadline, body: body, isBulk: isBulk)))
        )
    }
}

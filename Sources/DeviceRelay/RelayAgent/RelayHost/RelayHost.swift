import CoreValues
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
        /// ``RelayHost/launchEnded(_:_:at:)``.
        case open(ticket: Int64, uri: String, app: String?)
        /// Find out whether an app of this desktop opens addresses of a scheme that is not allowed, and report it by
        /// ``RelayHost/foundOpener(_:scheme:isPresent:at:)``.
        case findOpener(ticket: Int64, scheme: String, app: String?)
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
        /// Store that a message is given to its app; nothing waits for that.
        case keepAttempt(DeliveryAttempt)
        /// Keep the settings on the disk.
        case save(RelaySettings)
        /// Call ``RelayHost/due(at:)`` after so many milliseconds.
        case wake(after: Int64)
    }

    /// The machine that the host runs on.
    struct Machine {
        /// The agent's own services, beside the ping.
        let services: Set<String>
        /// The folder for files of other devices, unless the settings name another.
        let filesFolder: String
        /// The manufacturer and the model.
        let manufacturer: String, model: String
    }

    /// The device's account, its names, and the access rights of other devices.
    package internal(set) var settings: RelaySettings
    let machine: Machine
    /// Whether the screen is known to be unlocked.
    var isScreenUnlocked = false
    /// The apps and terminals.
    var clients = RelayClients()
    var ledger = CommandLedger()
    /// The frames of commands that are queued, by command id.
    var departures: [UUID: Departure] = [:]
    /// The devices that this one knows, and its session with the server.
    var devices = KnownDevices()
    /// Other persons' devices.
    var others = OtherUsersDevices()
    /// The connections over which apps call services of other devices.
    var connections = CallConnections()
    /// Messages to devices that are away, in both directions.
    var messages = MessageQueues()
    /// The commands of other devices that are carried out here.
    var work: IncomingCommands
    /// The files and streams that go to other devices and come from them.
    var streams = RelayStreams()
    var documents = RelayedDocuments()
    var pairing = DevicePairing()
    /// Why the server has refused this device; `nil` where it has not.
    var refusal: String?
    var directives: [Directive] = []
    /// The log entries to be written after all directives, since no client waits for the log.
    private var notes: [RelayLogEntry] = []
    private var wakesAt: Timestamp?

    /// The default deadline of commands.
    static var timeout: Duration { .seconds(30) }
    /// How long a command may be waited for at most: less than ids are remembered.
    static var longestTimeout: Duration { .milliseconds(AnsweredCommands.age) - .seconds(60) }
    /// How long the server keeps something for a device that is away.
    static var waitingTimeout: Duration { .seconds(299) }
    /// The app that comes with every agent; it has the service ``pingService``.
    package static var ownApp: String { "aldaba.relay" }
    /// Answers a message of the type `ping` with one of the type `pong` and what else was in it.
    package static var pingService: String { "ping" }
    /// The service that takes files.
    package static var filesService: String { "files" }

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
        machine = Machine(
            services: ownServices, filesFolder: filesFolder, manufacturer: manufacturer, model: model)
        work = IncomingCommands(lastTask: firstTask)
        self.settings = settings
    }

    // MARK: Effects

    /// Performs the effects that a part of the host has.
    mutating func perform(_ effects: [RelayEffect], at now: Timestamp) {
        for effect in effects {
            switch effect {
            case .directive(let directive): directives.append(directive)
            case .command(let route):
                ledger.sent(route.id)
                directives.append(.send(.route(route)))
            case .send(let content, let device, let isBulk): send(content, to: device, isBulk: isBulk)
            case .reply(let id, let device, let outcome): reply(id, to: device, outcome)
            case .end(let id, let outcome): end(id, outcome, at: now)
            case .settle(let task, let outcome): settle(task, outcome, at: now)
            case .executing(let id, let device): ledger.executing(id, on: device)
            case .join(let account):
                var changed = settings
                changed.change(account: account)
                apply(changed)
            }
        }
    }

    /// Passes an event to the documents, and carries out the resulting directives.
    mutating func withDocuments(_ change: (inout RelayedDocuments) -> Void) {
        documents.account = settings.account
        documents.isConnected = devices.listed != nil
        change(&documents)
        for directive in documents.takeDirectives() {
            switch directive {
            case .ask(let id, let ask): directives.append(.send(.documentRequest(id: id, ask)))
            case .answer(let client, let request, let outcome): answer(client, request: request, outcome)
            case .tell(let client, let request, let news):
                directives.append(.tell(client, .told(request: request, news)))
            case .note(let what, let status): log(RelayLogEntry(device: "", what: what, status: status))
            }
        }
    }

    /// Answers a client's request.
    mutating func answer(_ client: ClientNumber, request: Int64, _ outcome: RelayOutcome, id: UUID? = nil) {
        directives.append(.tell(client, .answered(request: request, id: id, outcome)))
    }

    /// Notes what happened, behind all that is to be done.
    mutating func log(_ entry: RelayLogEntry) { notes.append(entry) }

    /// Sends something to another device, without a command of its own.
    mutating func send(
        _ content: RelayContent, to device: String, deadline: Timestamp? = nil, isBulk: Bool = false
    ) {
        guard devices.canReach(device), let body = try? content.encoded() else { return }
        let route = RelayRoute(
            peer: device, id: UUID.random(), deadline: deadline?.rawValue, body: body, isBulk: isBulk)
        directives.append(.send(.route(route)))
    }

    /// Takes the directives, together with the next moment at which something is due.
    mutating func takeDirectives(at now: Timestamp) -> [Directive] {
        askNext(at: now)
        deliverNext(at: now)
        sendWaiting(at: now)
        let next = nextMoment
        if next < wakesAt ?? .distantFuture {
            wakesAt = next
            directives.append(.wake(after: max(1, next.milliseconds(since: now))))
        }
        for entry in notes { directives.append(.note(entry)) }
        defer {
            directives = []
            notes = []
        }
        return directives
    }

    // MARK: Time

    /// The moment at which something is due next; `distantFuture` for never. Computed for every frame.
    private var nextMoment: Timestamp {
        let commands = ledger.deadline.map { Timestamp(rawValue: $0) } ?? .distantFuture
        let grants = settings.grantEnds?.values.min().map { Timestamp(rawValue: $0) } ?? .distantFuture
        let others = min(connections.nextMoment ?? .distantFuture, documents.nextMoment ?? .distantFuture)
        return min(work.nextMoment, commands, grants, others, streams.nextMoment)
    }

    /// The deadline that was asked for has come.
    package mutating func due(at now: Timestamp) -> [Directive] {
        wakesAt = nil
        for id in ledger.due(at: now.rawValue) {
            if let command = ledger[id], command.life != .requesting, command.opens != nil {
                // Opened late, it would stay open there.
                send(.cancel(command: id), to: command.device)
            }
            end(id, ledger.outcomeAtDeadline(of: id), at: now)
        }
        perform(streams.incoming.due(isTalking: streams.isTalking(at: now), at: now), at: now)
        perform(streams.apps.due(at: now), at: now)
        withDocuments { $0.due(at: now) }
        endGrants(at: now)
        endConnections(at: now)
        for (number, task) in work.tasks {
            if let timeout = task.timeout, timeout <= now {
                giveUp(number, task, at: now)
                continue
            }
            if let deadline = task.deadline, deadline <= now, task.isEndedHere {
                directives += work.discard(number)
                let detail =
                    task.client == nil
                    ? "it took longer than to its deadline, and was ended"
                    : "the app did not answer before the deadline"
                keep(RelayOutcome(.outcomeUnknown, detail: detail), of: task.id, from: task.device)
                directives += streams.apps.discard(task.id, isLost: true)
            }
            guard let moment = task.tellsAt, moment <= now, work.tasks[number] != nil else { continue }
            work.tasks[number]?.tellsAt = nil
            send(.executing(command: task.id), to: task.device, deadline: task.deadline)
        }
        return takeDirectives(at: now)
    }

    /// Ends connections over which nothing has passed, and those whose device did not come back.
    private mutating func endConnections(at now: Timestamp) {
        let times = CallConnections.Times(settings)
        let (lost, idle) = connections.due(at: now, times: times) { id in
            work.tasks.values.contains { $0.connection == id }
        }
        for id in lost { lose(id, reason: .unknown, detail: "the device did not come back in time", at: now) }
        for id in idle {
            guard let connection = connections[id] else { continue }
            close(id, reason: .idle)
            directives.append(.tell(connection.client, .closed(connection: id, .idle)))
        }
    }

    // MARK: The end of a command or a connection

    /// Ends a command and answers its client.
    mutating func end(_ id: UUID, _ outcome: RelayOutcome, from device: String? = nil, at now: Timestamp) {
        guard let command = ledger.end(id, outcome.status, detail: outcome.detail, from: device, at: now.rawValue)
        else {
            return
        }
        messages.sent.remove(id)
        departures[id] = nil
        if let opens = command.opens, outcome.status == .success {
            open(
                CallConnections.Connection(
                    client: command.client, device: command.device, app: opens.app, service: opens.service),
                id: id, at: now)
        }
        if let connection = command.connection { connections.answered(id, over: connection, at: now) }
        directives += streams.outgoing.discard(id)
        directives += streams.apps.discard(id)
        answer(command.client, request: command.request, outcome, id: id)
        logCommand(command, id: id, status: outcome.status)
    }

    /// Notes what was asked of another device.
    mutating func logCommand(_ command: CommandLedger.Command, id: UUID, status: RelayStatus) {
        log(
            RelayLogEntry(
                device: command.device, what: command.what, status: status, id: id, asker: command.asker))
    }

    /// Opens a connection between apps, at either end.
    mutating func open(_ connection: CallConnections.Connection, id: UUID, at now: Timestamp) {
        var connection = connection
        connection.isOthers = others.guests[connection.device] != nil || devices[connection.device] == nil
        connections.add(connection, id: id, times: CallConnections.Times(settings), at: now)
    }

    /// Closes a connection, and notifies the other device at once or when it is back. Its requests that the app has not
    /// answered end.
    mutating func close(_ id: UUID, reason: RelayCloseReason) {
        guard let connection = connections[id] else { return }
        connections.remove(id, ledger: ledger)
        for (number, task) in work.tasks where task.connection == id && task.client == connection.client {
            work.tasks[number] = nil
            let detail = "the connection was closed before it was answered"
            reply(task.id, to: task.device, RelayOutcome(.outcomeUnknown, detail: detail))
        }
        if let content = connections.closing(id, of: connection, reason: reason) {
            send(content, to: connection.device)
        }
    }

    /// Ends a connection without notifying the other device.
    mutating func lose(_ id: UUID, reason: RelayCloseReason, detail: String, at now: Timestamp) {
        perform(connections.lose(id, reason: reason, detail: detail, ledger: ledger), at: now)
    }

    // MARK: Queued messages of this device

    /// The server has queued a message of this device.
    mutating func queuedMessageKept(_ id: UUID, at now: Timestamp) {
        guard let deadline = messages.sent.remove(id), let command = ledger.kept(id, until: deadline, at: now.rawValue)
        else {
            return
        }
        answer(command.client, request: command.request, RelayOutcome(.success), id: id)
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
        log(RelayLogEntry(device: ended.device, what: ended.what, status: status, id: id, asker: ended.asker))
        return true
    }

    /// The server reports whether a cancelled message was queued.
    mutating func recalled(_ id: UUID, didWait: Bool) {
        let requests = messages.sent.takeRecalls(of: id)
        if didWait { queuedMessageEnded(id, RelayOutcome(.cancelled)) }
        let outcome =
            didWait
            ? RelayOutcome(.success)
            : RelayOutcome(.failed, detail: "it waits no more: the device has it, or it has ended")
        for (client, request) in requests { answer(client, request: request, outcome) }
    }

    /// The session with the server is lost, and with it the responses about queued messages.
    mutating func queuedMessagesLost(at now: Timestamp) {
        for id in ledger.underWay() where ledger[id]?.isQueuedMessage == true {
            let detail = "the way to the server was lost; tell it again under the same id"
            end(id, RelayOutcome(ledger.isWaiting(id) ? .networkUnavailable : .outcomeUnknown, detail: detail), at: now)
        }
        for (client, request) in messages.sent.takeRecalls() {
            let outcome = RelayOutcome(.outcomeUnknown, detail: "the way to the server was lost")
            answer(client, request: request, outcome)
        }
    }
}

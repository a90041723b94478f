import CoreValues
import Foundation
import RelayProtocol

/// A command of another device that a client or a service carries out here.
struct IncomingCommand {
    var id: UUID
    var device: String
    var deadline: Timestamp?
    /// The client that carries it out; `nil` for the system.
    var client: ClientNumber?
    /// A page to be opened where the address cannot be.
    var fallback: String?
    var isFallback = false
    /// When the caller is notified that the command has arrived, unless it is answered before.
    var tellsAt: Timestamp?
    /// The command to be carried out once the user has allowed it, or its app runs.
    var call: RelayContent?
    /// The app that is being started for it.
    var awaits: String?
    /// Whether the person is being asked.
    var isAsked = false
    /// Whether the user has allowed it, once or permanently.
    var isAllowed = false
    /// The timeout for the app, or for the user's answer; `nil` where neither is waited for.
    var timeout: Timestamp?
    /// The service of the agent's own that answers it.
    var ownService: String?
    /// The connection over which it is asked.
    var connection: UUID?

    /// Whether the client or service that carries it out is notified of its end.
    var isEndedHere: Bool { client != nil || ownService != nil }

    /// When the task has something to do next; `distantFuture` for never. One of the system ends with the system's
    /// response.
    fileprivate var nextMoment: Timestamp {
        min((isEndedHere ? deadline : timeout) ?? .distantFuture, tellsAt ?? .distantFuture)
    }
}

/// The commands of other devices that are carried out here. A value.
struct IncomingCommands {
    var answered = AnsweredCommands()
    /// The tasks whose question waits until another one about the same device is answered, in order.
    var unasked: [Int64] = []
    /// Whether what is being carried out was allowed by the person.
    var isAllowing = false
    var tasks: [Int64: IncomingCommand] = [:]
    private var lastTask: Int64
    /// The descriptions of other devices' commands for the log, by command id.
    var described: [UUID: String] = [:]

    /// How many commands of other devices may be carried out at a time.
    static var limit: Int { 256 }
    /// How long a command may take before its caller is notified that it has arrived.
    static var silence: Duration { .milliseconds(100) }
    /// How long a person is waited for, and an app that is being started.
    static var questionTimeout: Duration { .seconds(60) }
    static var startTimeout: Duration { .seconds(20) }
    /// How many questions are open at a time.
    static var questionLimit: Int { 8 }
    /// How many commands of one device wait until theirs can be asked: of a device of the person's, and of another's.
    static var unaskedLimits: (own: Int, guests: Int) { (64, 4) }

    /// Creates an empty set of commands; `lastTask` is the number before that of the first task.
    init(lastTask: Int64) { self.lastTask = lastTask }

    /// Whether another command may be carried out now.
    var hasCapacity: Bool { tasks.count < Self.limit }

    /// Adds a task for a command.
    ///
    /// - Parameter client: The client that carries it out; `nil` for the system.
    /// - Returns: The task's number.
    mutating func add(_ route: RelayRoute, for client: ClientNumber?, fallback: String? = nil, at now: Timestamp)
        -> Int64
    {
        lastTask += 1
        tasks[lastTask] = IncomingCommand(
            id: route.id, device: route.peer, deadline: route.deadline.map { Timestamp(rawValue: $0) }, client: client,
            fallback: fallback,
            tellsAt: now + Self.silence)
        return lastTask
    }

    /// Removes a task that is no longer wanted, and notifies the client or service that carries it out.
    mutating func discard(_ number: Int64) -> [RelayHost.Directive] {
        guard let task = tasks.removeValue(forKey: number) else { return [] }
        var directives: [RelayHost.Directive] = []
        if let client = task.client { directives.append(.tell(client, .cancelled(call: number))) }
        if task.ownService != nil { directives.append(.endService(ticket: number)) }
        return directives
    }

    /// Limits the deadlines of a device's tasks, since the device is unreachable.
    mutating func limitDeadlines(of device: String, to end: Timestamp) {
        for (number, task) in tasks where task.device == device {
            tasks[number]?.deadline = min(task.deadline ?? .distantFuture, end)
        }
    }

    /// When a task has something to do next; `distantFuture` for never.
    var nextMoment: Timestamp { tasks.values.lazy.map(\.nextMoment).min() ?? .distantFuture }

    // MARK: Deferred commands

    /// Defers a task until the app runs that is being started for it.
    ///
    /// - Returns: Whether the app is not being started yet.
    mutating func postpone(_ number: Int64, _ content: RelayContent, until app: String, at now: Timestamp) -> Bool {
        let isFirst = !tasks.values.contains { $0.awaits == app }
        let deadline = tasks[number]?.deadline
        tasks[number]?.call = content
        tasks[number]?.awaits = app
        tasks[number]?.isAllowed = isAllowing
        tasks[number]?.timeout = min(Self.lastMoment(before: deadline, at: now), now + Self.startTimeout)
        // At the caller's own deadline nothing is opened any more.
        if let deadline, deadline <= now + Self.startTimeout { tasks[number]?.fallback = nil }
        return isFirst
    }

    /// Defers a task until the person has answered a question about it.
    ///
    /// - Parameter canAsk: Whether the person is asked now; otherwise the question waits for others.
    mutating func postpone(_ number: Int64, _ content: RelayContent, canAsk: Bool, at now: Timestamp) {
        tasks[number]?.call = content
        tasks[number]?.isAsked = canAsk
        let lastMoment = Self.lastMoment(before: tasks[number]?.deadline, at: now)
        tasks[number]?.timeout = min(lastMoment, now + Self.questionTimeout)
        if !canAsk { unasked.append(number) }
    }

    /// Whether the person may be asked about a device now.
    func canAsk(about device: String) -> Bool {
        let open = tasks.values.lazy.filter(\.isAsked)
        return !open.contains { $0.device == device } && open.count < Self.questionLimit
    }

    /// Whether another question about a device may wait.
    func canWait(for device: String, isGuests: Bool) -> Bool {
        let limit = isGuests ? Self.unaskedLimits.guests : Self.unaskedLimits.own
        return unasked.count(where: { tasks[$0]?.device == device }) < limit
    }

    /// The tasks that wait to be asked about the same service and device as a task.
    func unasked(like task: IncomingCommand) -> [Int64] {
        guard let target = task.call?.target else { return [] }
        return unasked.filter { number in
            guard let other = tasks[number], other.device == task.device, let wanted = other.call?.target else {
                return false
            }
            return wanted == target
        }
    }

    /// The latest time for a result, so that the caller learns before its deadline that nothing was done.
    private static func lastMoment(before deadline: Timestamp?, at now: Timestamp) -> Timestamp {
        guard let deadline, deadline > now else { return deadline ?? .distantFuture }
        return deadline.adding(milliseconds: -min(1_000, deadline.milliseconds(since: now) / 4))
    }
}

extension RelayContent {
    /// The service that a call, a connection or a stream is for; `nil` for any other content.
    var target: (app: String, service: String)? {
        switch self {
        case .call(let call): (call.app, call.service)
        case .open(let app, let service, _): (app, service)
        case .offer(let offer): (offer.app ?? "", offer.service ?? "")
        default: nil
        }
    }
}

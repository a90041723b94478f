import Foundation

/// The commands that a device has sent to others, with the state and the outcome of each. A value.
///
/// Guarantees: every command that was begun ends once, with a status that tells "not delivered" from "outcome unknown".
/// Ended commands can be queried for a day. Commands beyond a limit are queued (``CommandQueue``).
public struct CommandLedger: Sendable {
    private static var historyLimit: Int { 1024 }
    /// How long the history keeps a command, in milliseconds.
    private static var historyAge: Int64 { 86_400_000 }

    /// A command in progress.
    public struct Command: Hashable, Sendable {
        /// The client that sent the command.
        public var client: ClientNumber
        /// The number that the client gave it.
        public var request: Int64
        /// The device that it is for.
        public var device: String
        /// When it is given up, in milliseconds since 1970.
        public var deadline: Int64
        /// The state of the command.
        public var life: CommandState = .requesting
        /// How often it has left this device.
        public internal(set) var sendings = 0
        /// Whether it opens a connection.
        public var opens: (app: String, service: String)?
        /// The connection over which it asks; `nil` for a command by itself.
        public var connection: UUID?
        /// The app that gave it.
        public var asker = ""
        /// A description of the command, without its contents.
        public var what = ""
        /// When it was given, in milliseconds since 1970.
        public var givenAt: Int64 = 0
        /// When it was given for the first time, where it may have been carried out then; `nil` for one that is new.
        public internal(set) var firstGivenAt: Int64?
        /// Whether the server keeps it for a device that is away.
        public var waits = false
        /// A hash that tells the command from another one of its id. It is meaningless outside this process.
        public var mark = 0
        /// Whether it is a queued message, which only waits for the server's confirmation: the presence of its device
        /// is irrelevant.
        public var isQueuedMessage = false

        /// A command that has not left yet.
        public init(
            client: ClientNumber, request: Int64, device: String, deadline: Int64,
            opens: (app: String, service: String)? = nil
        ) {
            self.client = client
            self.request = request
            self.device = device
            self.deadline = deadline
            self.opens = opens
        }

        /// Compares all that there is.
        public static func == (left: Command, right: Command) -> Bool {
            left.client == right.client && left.request == right.request && left.device == right.device
                && left.deadline == right.deadline && left.life == right.life
        }

        /// Hashes the values that distinguish commands.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(client)
            hasher.combine(request)
        }
    }

    /// A command in progress, or ended.
    public struct Entry: Hashable, Sendable {
        /// The command's id.
        public var id: UUID
        /// The device that it was for.
        public var device: String
        /// A description of the command, without its contents.
        public var what: String
        /// When it was given, in milliseconds since 1970.
        public var givenAt: Int64
        /// The state of the command.
        public var life: CommandState
        /// The outcome; `nil` while the command is in progress.
        public var status: RelayStatus?
        /// More about its end, for people.
        public var detail: String?
        /// A hash that tells the command from another one of its id.
        var mark = 0
        /// The app that gave it.
        public var asker = ""
        /// The time until which the server keeps it; `nil` where it is no queued message.
        var keptUntil: Int64?
        /// When it ended.
        var endedAt: Int64 = 0
        /// When it was given for the first time, where it may have been carried out then.
        var firstGivenAt: Int64?

        /// The earliest possible execution time; `nil` where the command was certainly not executed.
        var mayBeDoneSince: Int64? {
            switch status {
            case .success, .failed, .outcomeUnknown, .cancelled: firstGivenAt ?? givenAt
            default: firstGivenAt
            }
        }
    }

    private var open: [UUID: Command] = [:]
    private var ended: [UUID: Entry] = [:]
    /// The ended commands, the oldest first. A slice, so that removing the first one does not move the others.
    private var order: ArraySlice<UUID> = []
    private var queue = CommandQueue()
    private var deadlines = CommandDeadlines()

    /// A ledger without commands.
    public init() {}

    /// The number of commands in progress.
    public var count: Int { open.count }

    /// The time at which the next command is given up; `nil` when none is in progress.
    public var deadline: Int64? { deadlines.first }

    /// Adds a new command, which may be queued before it is sent (``isWaiting(_:)``).
    ///
    /// - Parameter size: How many bytes are kept while it is queued.
    /// - Returns: The reason why it cannot be begun; `nil` when it is.
    public mutating func begin(_ id: UUID, _ command: Command, size: Int = 0) -> RelayOutcome? {
        if let refusal = refusal(of: id, command.mark) { return refusal }
        let entry = queue.enter(id, of: command.client, for: command.device, over: command.connection, size: size)
        if case .full(let limit) = entry {
            return RelayOutcome(.resourceLimits, detail: "\(limit.words), and as many as may wait already")
        }
        var command = command
        command.firstGivenAt = firstGiven(id, to: command.device)
        open[id] = command
        deadlines.add(id, at: command.deadline)
        return nil
    }

    /// The reason why a command of an id cannot be sent; `nil` where it can.
    ///
    /// It can for the first time, as the same command after it has ended, or where the earlier command of the id was
    /// certainly not carried out.
    ///
    /// - Parameter mark: The command's hash.
    public func refusal(of id: UUID, _ mark: Int) -> RelayOutcome? {
        if open[id] != nil { return RelayOutcome(.failed, detail: "a command of this id is under way") }
        guard let entry = ended[id], entry.mark != mark, entry.mayBeDoneSince != nil || entry.keptUntil != nil else {
            return nil
        }
        return RelayOutcome(.failed, detail: "another command had this id, “\(entry.what)”; each has one of its own")
    }

    /// Notes a command that was refused before it left. What was given under its id before may have been carried out
    /// all the same.
    public mutating func refused(_ id: UUID, command: Command, outcome: RelayOutcome, at now: Int64) {
        guard open[id] == nil, ended[id]?.keptUntil == nil else { return }
        storeEntry(
            id, command: command, status: outcome.status, detail: outcome.detail,
            firstGivenAt: firstGiven(id, to: command.device), at: now)
    }

    /// Whether a command waits for others to end before it leaves.
    public func isWaiting(_ id: UUID) -> Bool { queue.isWaiting(id) }

    /// The commands queued for a connection, in order.
    public func waiting(of client: ClientNumber, for device: String, over connection: UUID) -> [UUID] {
        queue.waiting(of: client, for: device, over: connection)
    }

    /// The next command that has waited and may leave now; `nil` where none may.
    public mutating func next() -> UUID? { queue.next() }

    /// The outcome of a command whose deadline has passed. A command that was queued until then exceeded a limit.
    public func outcomeAtDeadline(of id: UUID) -> RelayOutcome {
        if let limit = queue.limit(of: id) {
            return RelayOutcome(.resourceLimits, detail: "\(limit.words), and none ended before the deadline")
        }
        let hasLeft = open[id].map { $0.life != .requesting } ?? false
        return RelayOutcome(hasLeft ? .outcomeUnknown : .expired, detail: "no answer came before the deadline")
    }

    /// When a command of this id was given to a device for the first time, where it has ended and may have been carried
    /// out.
    public func firstGiven(_ id: UUID, to device: String) -> Int64? {
        ended[id].flatMap { $0.device == device ? $0.mayBeDoneSince : nil }
    }

    /// The command of an id that is in progress.
    public subscript(id: UUID) -> Command? { open[id] }

    /// It has left this device.
    public mutating func sent(_ id: UUID) {
        open[id]?.sendings += 1
        if open[id]?.life == .requesting { open[id]?.life = .sent }
    }

    /// It has arrived.
    public mutating func executing(_ id: UUID, on device: String) {
        if open[id]?.device == device { open[id]?.life = .executing }
        if keptQueuedMessage(id)?.device == device { ended[id]?.life = .executing }
    }

    /// Ends a command.
    ///
    /// - Returns: The command; `nil` when it had ended before, or another device reports the end.
    public mutating func end(
        _ id: UUID, _ status: RelayStatus, detail: String? = nil, from device: String? = nil, at now: Int64
    ) -> Command? {
        guard let command = open[id], device == nil || device == command.device else { return nil }
        open[id] = nil
        queue.leave(id)
        deadlines.clean(open.count) { open[$0]?.deadline == $1 }
        storeEntry(id, command: command, status: status, detail: detail, firstGivenAt: command.firstGivenAt, at: now)
        return command
    }

    private mutating func storeEntry(
        _ id: UUID, command: Command, status: RelayStatus, detail: String?, firstGivenAt: Int64?, at now: Int64
    ) {
        if ended[id] != nil { order.removeAll { $0 == id } }
        ended[id] = Entry(
            id: id, device: command.device, what: command.what, givenAt: command.givenAt, life: Self.life(status),
            status: status, detail: detail, mark: command.mark, asker: command.asker, endedAt: now,
            firstGivenAt: firstGivenAt)
        order.append(id)
        forgetOld(at: now)
    }

    private mutating func forgetOld(at now: Int64) {
        while let oldest = order.first,
            order.count > Self.historyLimit || (ended[oldest]?.endedAt ?? .min) <= now - Self.historyAge
        {
            ended[oldest] = nil
            order.removeFirst()
        }
    }

    private static func life(_ status: RelayStatus) -> CommandState {
        switch status {
        case .success: .completed
        case .expired: .expired
        case .cancelled: .cancelled
        default: .failed
        }
    }

    // MARK: QueuedMessages

    /// How long after a queued message's deadline its outcome may still arrive, in milliseconds.
    static var queuedMessageGrace: Int64 { 60_000 }

    /// The server keeps a message until a moment: its app's command has succeeded, and the message's outcome is
    /// reported later.
    ///
    /// - Returns: The command; `nil` where none of this id is in progress.
    public mutating func kept(_ id: UUID, until deadline: Int64, at now: Int64) -> Command? {
        guard let command = end(id, .success, at: now) else { return nil }
        ended[id]?.life = .sent
        ended[id]?.status = nil
        ended[id]?.keptUntil = deadline
        return command
    }

    /// A message that the server keeps has ended.
    ///
    /// - Parameter device: The device that reports the end; `nil` for the server.
    /// - Returns: The ended message; `nil` where none of this id is queued, or another device reports the end.
    public mutating func queuedMessageEnded(
        _ id: UUID, _ status: RelayStatus, detail: String? = nil, from device: String? = nil
    ) -> Entry? {
        guard let queuedMessage = ended[id], queuedMessage.keptUntil != nil,
            device == nil || device == queuedMessage.device
        else {
            return nil
        }
        ended[id]?.keptUntil = nil
        ended[id]?.status = status
        ended[id]?.detail = detail
        ended[id]?.life = Self.life(status)
        return ended[id]
    }

    /// A message that the server keeps, as far as is known here.
    public func keptQueuedMessage(_ id: UUID) -> Entry? { ended[id].flatMap { $0.keptUntil == nil ? nil : $0 } }

    /// The state and the outcome of a command. The outcome of a queued message without a report long after its deadline
    /// is unknown.
    public func life(of id: UUID, at now: Int64) -> (life: CommandState, status: RelayStatus?, detail: String?)? {
        if let command = open[id] { return (command.life, nil, nil) }
        guard let entry = ended[id] else { return nil }
        if let end = entry.keptUntil, now > end, now - end > Self.queuedMessageGrace {
            return (.failed, .outcomeUnknown, nil)
        }
        return (entry.life, entry.status, entry.detail)
    }

    /// The latest commands: those in progress, and then those that have ended, the newest first.
    public func last(_ count: Int) -> [Entry] {
        let running = open.map { id, command in
            Entry(
                id: id, device: command.device, what: command.what, givenAt: command.givenAt, life: command.life,
                status: nil)
        }.sorted { ($0.givenAt, $0.id.uuidString) > ($1.givenAt, $1.id.uuidString) }
        return Array((running + order.suffix(count).reversed().compactMap { ended[$0] }).prefix(count))
    }

    /// The commands in progress to a device, or to any.
    public func underWay(to device: String? = nil) -> [UUID] {
        open.filter { device == nil || $0.value.device == device }.map(\.key)
    }

    /// The commands of a client.
    public func underWay(of client: ClientNumber) -> [UUID] { open.filter { $0.value.client == client }.map(\.key) }

    /// The commands whose deadline has come, each of which is to be ended; they are named once.
    public mutating func due(at now: Int64) -> [UUID] {
        var named: Set<UUID> = []
        return deadlines.take(at: now).filter { open[$0.id]?.deadline == $0.moment && named.insert($0.id).inserted }
            .map(\.id)
    }
}

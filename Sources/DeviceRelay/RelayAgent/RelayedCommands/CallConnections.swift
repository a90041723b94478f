import CoreValues
import Foundation
import RelayProtocol

/// The connections over which apps call services of other devices.
///
/// A connection outlives a short loss of connectivity: requests without a response are repeated under the same id when
/// the device is back. It carries each out once, and their order is kept. An idle connection ends. A value.
struct CallConnections {
    /// A connection to an app service, at either end.
    struct Connection {
        var client: ClientNumber
        var device: String
        var app: String
        var service: String
        /// Whether the other device opened it.
        var isServed = false
        /// Whether the other device is another person's.
        var isOthers = false
        /// When something passed last.
        var usedAt = Timestamp(rawValue: 0)
        /// When the connectivity to the other device was lost; `nil` while there is one.
        var lostAt: Timestamp?
        /// The requests sent from this end that have no response yet, in order.
        var asked: [RelayRoute] = []
    }

    /// How long connections last.
    struct Times {
        /// After how long without a message a connection ends; `nil` for never.
        var idle: Duration?
        /// How long a connection outlives a loss of connectivity.
        var grace: Duration

        /// The times that the settings name.
        init(_ settings: RelaySettings) {
            let seconds = settings.connectionIdle ?? 300
            idle = seconds > 0 ? .seconds(seconds) : nil
            grace = .seconds(settings.connectionGrace ?? 120)
        }
    }

    private(set) var open: [UUID: Connection] = [:]
    /// When to look at the connections next; `nil` for never.
    private(set) var nextMoment: Timestamp?
    /// How many bytes of requests are kept for connections.
    private var askedBytes = 0
    /// The reasons of closed connections that could not be reported to their devices.
    private var unreported: [UUID: RelayCloseReason] = [:]
    /// The queued commands whose connection was closed before they were sent.
    private var unaskable: [UUID] = []

    /// The most bytes of requests that are kept for connections; a request beyond that has an unknown outcome when the
    /// connectivity is lost.
    static var askedLimit: Int { 8 << 20 }
    /// How often a request is repeated where the other device could not read it.
    static var sendingLimit: Int { 8 }
    /// The most closed connections that are kept for devices that could not be notified.
    static var unreportedLimit: Int { 256 }

    /// The open connection of an id; `nil` for none.
    subscript(id: UUID) -> Connection? { open[id] }

    /// Whether a connection is open whose device is unreachable.
    func isLost(_ id: UUID) -> Bool { open[id]?.lostAt != nil }

    // MARK: Opening and closing

    /// Adds a connection.
    mutating func add(_ connection: Connection, id: UUID, times: Times, at now: Timestamp) {
        open[id] = connection
        use(id, at: now)
        if let idle = times.idle { look(by: now + idle) }
    }

    /// Something passes over a connection.
    mutating func use(_ id: UUID, at now: Timestamp) { open[id]?.usedAt = now }

    /// Removes a connection; its queued commands end.
    mutating func remove(_ id: UUID, ledger: CommandLedger) {
        guard let connection = open.removeValue(forKey: id) else { return }
        for route in connection.asked { askedBytes -= route.body.count }
        unaskable += ledger.waiting(of: connection.client, for: connection.device, over: id)
    }

    /// The content that notifies the other device of a connection that was removed; `nil` where that is done when it
    /// is back.
    mutating func closing(_ id: UUID, of connection: Connection, reason: RelayCloseReason) -> RelayContent? {
        guard connection.lostAt != nil else { return .close(connection: id, reason) }
        if unreported.count >= Self.unreportedLimit { unreported = [:] }
        unreported[id] = reason
        return nil
    }

    /// Ends a connection without notifying the other device.
    mutating func lose(
        _ id: UUID, reason: RelayCloseReason, detail: String, ledger: CommandLedger
    ) -> [RelayEffect] {
        guard let connection = open[id] else { return [] }
        remove(id, ledger: ledger)
        return Self.endOfAsked(connection, detail: detail, ledger: ledger)
            + [.directive(.tell(connection.client, .closed(connection: id, reason)))]
    }

    /// Ends the requests of a connection that is not resumed: no response to them can arrive any more.
    static func endOfAsked(_ connection: Connection, detail: String, ledger: CommandLedger) -> [RelayEffect] {
        guard connection.lostAt != nil else { return [] }
        return connection.asked.map { asked in
            let hasLeft = ledger[asked.id].map { $0.sendings > 0 } ?? false
            return .end(asked.id, RelayOutcome(hasLeft ? .outcomeUnknown : .notDelivered, detail: detail))
        }
    }

    /// The queued commands whose connection was closed before they were sent; they are removed.
    mutating func takeUnaskable() -> [UUID] {
        defer { unaskable = [] }
        return unaskable
    }

    // MARK: Requests

    /// Asks over a connection, or keeps the request until the device is back.
    ///
    /// - Returns: The effects; `nil` where it is not kept, and nothing was done.
    mutating func ask(_ route: RelayRoute, over id: UUID, at now: Timestamp) -> [RelayEffect]? {
        guard let connection = open[id], askedBytes + route.body.count <= Self.askedLimit else { return nil }
        open[id]?.asked.append(route)
        use(id, at: now)
        askedBytes += route.body.count
        return connection.lostAt == nil ? sendAsked(over: id, from: connection.asked.count) : []
    }

    private func sendAsked(over id: UUID, from first: Int = 0) -> [RelayEffect] {
        (open[id]?.asked ?? []).dropFirst(first).map { .command($0) }
    }

    /// A request has its answer.
    mutating func answered(_ request: UUID, over id: UUID, at now: Timestamp) {
        guard let index = index(of: request, over: id), let size = open[id]?.asked[index].body.count else { return }
        open[id]?.asked.remove(at: index)
        use(id, at: now)
        askedBytes -= size
    }

    private func index(of request: UUID, over id: UUID) -> Int? { open[id]?.asked.firstIndex { $0.id == request } }

    /// Whether a command is repeated when its device is back.
    func isKept(_ command: UUID, ledger: CommandLedger) -> Bool {
        guard let id = ledger[command]?.connection else { return false }
        return isLost(id) && (ledger.isWaiting(command) || index(of: command, over: id) != nil)
    }

    /// A request was not delivered.
    ///
    /// - Returns: The effects; `nil` where it is not repeated.
    mutating func askAgain(
        _ request: UUID, reason: RelayUndelivered, ledger: CommandLedger, times: Times, at now: Timestamp
    ) -> [RelayEffect]? {
        guard let id = ledger[request]?.connection, let index = index(of: request, over: id),
            let connection = open[id], !connection.isOthers
        else { return nil }
        switch reason {
        case .unavailable where times.grace > .zero:
            if connection.lostAt == nil { suspend(id, times: times, at: now) }
            return []
        case .begunAnew where (ledger[request]?.sendings ?? 0) < Self.sendingLimit:
            // All that was asked after it, too, so that it comes in its order; what came before is known by its id.
            return connection.lostAt == nil ? sendAsked(over: id, from: index) : []
        default: return nil
        }
    }

    // MARK: Losses of connectivity

    private mutating func suspend(_ id: UUID, times: Times, at now: Timestamp) {
        open[id]?.lostAt = now
        look(by: now + times.grace)
    }

    /// The connectivity to a device was lost.
    ///
    /// - Returns: The connections that end with it.
    mutating func suspend(with device: String, isForGood: Bool, times: Times, at now: Timestamp) -> [UUID] {
        var ended: [UUID] = []
        for (id, connection) in open where connection.device == device {
            if isForGood || connection.isOthers || times.grace == .zero {
                open[id]?.lostAt = now
                ended.append(id)
            } else if connection.lostAt == nil {
                suspend(id, times: times, at: now)
            }
        }
        return ended
    }

    /// The connections with a device, or with any, that wait for their device, by its id.
    func lost(with device: String?) -> [String: [UUID]] {
        let lost = open.filter { $0.value.lostAt != nil && (device == nil || $0.value.device == device) }
        return Dictionary(grouping: lost.keys) { lost[$0]?.device ?? "" }
    }

    /// A device is back: its connections go on.
    mutating func resume(_ ids: [UUID], with device: String, times: Times, at now: Timestamp) -> [RelayEffect] {
        let ids = ids.sorted { $0.uuidString < $1.uuidString }
        var effects = [RelayEffect.send(.resume(connections: ids), to: device)]
        for id in ids {
            open[id]?.lostAt = nil
            use(id, at: now)
            effects += sendAsked(over: id)
            if let idle = times.idle { look(by: now + idle) }
        }
        return effects
    }

    /// The other device lists the connections that it has.
    mutating func resumed(_ ids: [UUID], by device: String, at now: Timestamp) -> [RelayEffect] {
        var effects: [RelayEffect] = []
        for id in ids {
            guard let connection = open[id], connection.device == device else {
                let reason = unreported.removeValue(forKey: id) ?? .unknown
                effects.append(.send(.close(connection: id, reason), to: device))
                continue
            }
            // Even where this device did not notice the loss, messages in transit may be lost.
            guard connection.lostAt == nil else { continue }
            use(id, at: now)
            effects += sendAsked(over: id)
        }
        return effects
    }

    // MARK: Time

    /// Has ``due(at:times:isBusy:)`` called by a moment.
    mutating func look(by moment: Timestamp) { nextMoment = min(nextMoment ?? .distantFuture, moment) }

    /// Has ``due(at:times:isBusy:)`` called at a moment, whatever was asked before.
    mutating func look(at moment: Timestamp) { nextMoment = moment }

    /// The connections over which nothing has passed, and those whose device did not come back.
    ///
    /// - Parameter isBusy: Whether a request of the other device is carried out over a connection.
    mutating func due(at now: Timestamp, times: Times, isBusy: (UUID) -> Bool) -> (lost: [UUID], idle: [UUID]) {
        guard let moment = nextMoment, moment <= now else { return ([], []) }
        nextMoment = nil
        var (lost, idle): ([UUID], [UUID]) = ([], [])
        for (id, connection) in open {
            if let lostAt = connection.lostAt {
                if lostAt + times.grace <= now { lost.append(id) } else { look(by: lostAt + times.grace) }
            } else if let timeout = times.idle {
                let end = (!connection.asked.isEmpty || isBusy(id) ? now : connection.usedAt) + timeout
                if end <= now { idle.append(id) } else { look(by: end) }
            }
        }
        return (lost, idle)
    }
}

extension CommandLedger {
    /// Whether a request over a connection was sent more than once. That the last attempt was not delivered, or came
    /// after the connection was closed, does not show the result of earlier ones.
    func isRepeated(_ id: UUID) -> Bool { self[id].map { $0.connection != nil && $0.sendings > 1 } ?? false }
}

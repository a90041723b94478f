import Foundation
import RelayProtocol

/// Connections between apps. A connection outlives a short loss of connectivity: requests without a response are
/// repeated under the same id when the device is back. It carries each out once, and their order is kept. An idle
/// connection ends.
extension RelayHost {
    /// A connection to an app service, at either end.
    struct Line {
        var client: ClientNumber
        var device: String
        var app: String
        var service: String
        /// Whether the other device opened it.
        var isServed = false
        /// Whether the other device is another person's.
        var isOthers = false
        /// When something passed last.
        var usedAt: Int64 = 0
        /// When the connectivity to the other device was lost; `nil` while there is one.
        var lostAt: Int64?
        /// The requests sent from this end that have no response yet, in order.
        var asked: [RelayRoute] = []
    }

    /// The most bytes of requests that are kept for connections; a request beyond that has an unknown outcome when the
    /// connectivity is lost.
    static var askedLimit: Int { 8 << 20 }
    /// How often a question is asked again where the other device could not read it.
    static var sendingLimit: Int { 8 }
    /// The most closed connections that are kept for devices that could not be notified.
    static var untoldLimit: Int { 256 }

    /// After how many milliseconds without a message a connection ends; `nil` for never.
    var idleTime: Int64? {
        let seconds = settings.connectionIdle ?? 300
        return seconds > 0 ? seconds * 1000 : nil
    }
    /// How long a connection outlives a loss of connectivity, in milliseconds.
    var lineGrace: Int64 { (settings.connectionGrace ?? 120) * 1000 }

    // MARK: Opening and closing

    mutating func addLine(_ id: UUID, line: Line, at now: Int64) {
        var line = line
        line.usedAt = now
        line.isOthers = directory.guests[line.device] != nil || known(line.device) == nil
        calls.lines[id] = line
        if let idleTime { checkConnections(by: now + idleTime) }
    }

    private mutating func remove(_ id: UUID) -> Line? {
        let line = calls.lines.removeValue(forKey: id)
        for asked in line?.asked ?? [] { calls.askedBytes -= asked.body.count }
        if let line { calls.unaskable += ledger.waiting(of: line.client, for: line.device, over: id) }
        return line
    }

    /// Notifies the other device that a connection is closed; at once, or when it is back. Its requests that the app
    /// has not answered end.
    mutating func closeThere(_ id: UUID, line: Line, reason: RelayCloseReason) {
        _ = remove(id)
        for (number, task) in work.tasks where task.connection == id && task.client == line.client {
            work.tasks[number] = nil
            let detail = "the connection was closed before it was answered"
            reply(task.id, device: task.device, outcome: RelayOutcome(.outcomeUnknown, detail: detail))
        }
        guard line.lostAt != nil else { return send(.close(connection: id, reason), to: line.device, deadline: nil) }
        if calls.untoldCloses.count >= Self.untoldLimit { calls.untoldCloses = [:] }
        calls.untoldCloses[id] = reason
    }

    /// Ends a connection without notifying the other device.
    mutating func loseLine(_ id: UUID, reason: RelayCloseReason, detail: String, at now: Int64) {
        guard let line = remove(id) else { return }
        if line.lostAt != nil { endAsked(line, detail: detail, at: now) }
        directives.append(.tell(line.client, .closed(connection: id, reason)))
    }

    /// Ends the requests of a connection that is not resumed: no response to them can arrive any more.
    mutating func endAsked(_ line: Line, detail: String, at now: Int64) {
        for asked in line.asked {
            let hasLeft = ledger[asked.id].map { $0.sendings > 0 } ?? false
            end(asked.id, RelayOutcome(hasLeft ? .outcomeUnknown : .notDelivered, detail: detail), now)
        }
    }

    /// The person has taken back what some connections were opened by.
    mutating func closeRefused(_ old: RelaySettings) {
        for (id, line) in calls.lines where line.isServed {
            let grantee = grantee(line.device)
            let wasGranted = old.isGranted(grantee, app: line.app, service: line.service)
            let isRefused =
                isDenied(line.device, app: line.app, service: line.service)
                || wasGranted && refusal(of: line.service, line.app, to: line.device)?.status == .notAuthorized
            guard isRefused else { continue }
            closeThere(id, line: line, reason: .cancelled)
            directives.append(.tell(line.client, .closed(connection: id, .cancelled)))
        }
    }

    // MARK: Questions

    /// Asks over a connection, or keeps the question until the device is back.
    ///
    /// - Returns: Whether it is kept; otherwise nothing was done.
    mutating func ask(_ route: RelayRoute, over connection: UUID, _ now: Int64) -> Bool {
        guard let line = calls.lines[connection], calls.askedBytes + route.body.count <= Self.askedLimit else {
            return false
        }
        calls.lines[connection]?.asked.append(route)
        calls.lines[connection]?.usedAt = now
        calls.askedBytes += route.body.count
        if line.lostAt == nil { sendAsked(over: connection, from: line.asked.count) }
        return true
    }

    private mutating func sendAsked(over connection: UUID, from first: Int = 0) {
        for place in (calls.lines[connection]?.asked.indices ?? 0..<0).dropFirst(first) {
            guard let route = calls.lines[connection]?.asked[place] else { return }
            ledger.sent(route.id)
            directives.append(.send(.route(route)))
        }
    }

    /// A question has its answer.
    mutating func answeredOver(_ connection: UUID, id: UUID, at now: Int64) {
        guard let place = place(of: id, over: connection), let size = calls.lines[connection]?.asked[place].body.count
        else { return }
        calls.lines[connection]?.asked.remove(at: place)
        calls.lines[connection]?.usedAt = now
        calls.askedBytes -= size
    }

    private func place(of id: UUID, over connection: UUID) -> Int? {
        calls.lines[connection]?.asked.firstIndex { $0.id == id }
    }

    /// Whether a command is asked again when its device is back.
    func isKept(_ id: UUID) -> Bool {
        guard let connection = ledger[id]?.connection else { return false }
        return calls.lines[connection]?.lostAt != nil
            && (ledger.isWaiting(id) || place(of: id, over: connection) != nil)
    }

    /// Whether a request over a connection was sent more than once. That the last attempt was not delivered, or came
    /// after the connection was closed, does not show the result of earlier ones.
    func isAskedAgain(_ id: UUID) -> Bool { ledger[id].map { $0.connection != nil && $0.sendings > 1 } ?? false }

    /// A question did not arrive.
    ///
    /// - Returns: Whether it is asked again, now or later.
    mutating func askAgain(_ id: UUID, reason: RelayUndelivered, at now: Int64) -> Bool {
        guard let connection = ledger[id]?.connection, let place = place(of: id, over: connection),
            let line = calls.lines[connection], !line.isOthers
        else { return false }
        switch reason {
        case .unavailable where lineGrace > 0:
            if line.lostAt == nil { suspend(connection, now) }
            return true
        case .begunAnew where (ledger[id]?.sendings ?? 0) < Self.sendingLimit:
            // All that was asked after it, too, so that it comes in its order; what came before is known by its id.
            if line.lostAt == nil { sendAsked(over: connection, from: place) }
            return true
        default: return false
        }
    }

    // MARK: Losing the way, and finding it

    private mutating func suspend(_ id: UUID, _ now: Int64) {
        calls.lines[id]?.lostAt = now
        checkConnections(by: now + lineGrace)
    }

    /// The connectivity to a device was lost.
    mutating func suspendLines(with device: String, _ detail: String, isForGood: Bool, _ now: Int64) {
        for (id, line) in calls.lines where line.device == device {
            if isForGood || line.isOthers || lineGrace == 0 {
                calls.lines[id]?.lostAt = now
                loseLine(id, reason: .unknown, detail: detail, at: now)
            } else if line.lostAt == nil {
                suspend(id, now)
            }
        }
    }

    /// A device is back, or some are: connections with them go on.
    mutating func resumeLines(with device: String? = nil, _ now: Int64) {
        let lost = calls.lines.filter { $0.value.lostAt != nil && (device == nil || $0.value.device == device) }
        for (device, all) in Dictionary(grouping: lost.keys, by: { lost[$0]?.device ?? "" }) {
            guard known(device)?.presence == .online, hasWay(to: device) else { continue }
            let ids = all.sorted { $0.uuidString < $1.uuidString }
            send(.resume(connections: ids), to: device, deadline: nil)
            for id in ids {
                calls.lines[id]?.lostAt = nil
                calls.lines[id]?.usedAt = now
                sendAsked(over: id)
                if let idleTime { checkConnections(by: now + idleTime) }
            }
        }
    }

    /// The other device lists the connections that it has.
    mutating func resumed(_ connections: [UUID], by device: String, _ now: Int64) {
        for id in connections {
            guard let line = calls.lines[id], line.device == device else {
                send(
                    .close(connection: id, calls.untoldCloses.removeValue(forKey: id) ?? .unknown), to: device,
                    deadline: nil)
                continue
            }
            // Even where this device did not notice the loss, messages in transit may be lost.
            guard line.lostAt == nil else { continue }
            calls.lines[id]?.usedAt = now
            sendAsked(over: id)
        }
    }

    // MARK: Time

    private mutating func checkConnections(by moment: Int64) { calls.linesDue = min(calls.linesDue ?? .max, moment) }

    /// Ends connections over which nothing has passed, and those whose device did not come back.
    mutating func endLines(_ now: Int64) {
        guard let due = calls.linesDue, due <= now else { return }
        calls.linesDue = nil
        for (id, line) in calls.lines {
            if let lostAt = line.lostAt {
                guard lostAt + lineGrace <= now else {
                    checkConnections(by: lostAt + lineGrace)
                    continue
                }
                loseLine(id, reason: .unknown, detail: "the device did not come back in time", at: now)
            } else if let idleTime {
                let isBusy = !line.asked.isEmpty || work.tasks.values.contains { $0.connection == id }
                let end = (isBusy ? now : line.usedAt) + idleTime
                guard end <= now else {
                    checkConnections(by: end)
                    continue
                }
                closeThere(id, line: line, reason: .idle)
                directives.append(.tell(line.client, .closed(connection: id, .idle)))
            }
        }
    }
}

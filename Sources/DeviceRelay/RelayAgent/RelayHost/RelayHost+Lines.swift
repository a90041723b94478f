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

    mutating func addLine(_ id: UUID, _ line: Line, _ now: Int64) {
        var line = line
        line.usedAt = now
        line.isOthers = guests[line.device] != nil || known(line.device) == nil
        lines[id] = line
        if let idleTime { checkConnections(by: now + idleTime) }
    }

    private mutating func remove(_ id: UUID) -> Line? {
        let line = lines.removeValue(forKey: id)
        for asked in line?.asked ?? [] { askedBytes -= asked.body.count }
        if let line { unaskable += ledger.waiting(of: line.client, for: line.device, over: id) }
        return line
    }

    /// Notifies the other device that a connection is closed; at once, or when it is back. Its requests that the app
    /// has not answered end.
    mutating func closeThere(_ id: UUID, _ line: Line, _ reason: RelayCloseReason) {
        _ = remove(id)
        for (number, task) in tasks where task.connection == id && task.client == line.client {
            tasks[number] = nil
            let detail = "the connection was closed before it was answered"
            reply(task.id, task.device, RelayOutcome(.outcomeUnknown, detail: detail))
        }
        guard line.lostAt != nil else { return send(.close(connection: id, reason), to: line.device, deadline: nil) }
        if untoldCloses.count >= Self.untoldLimit { untoldCloses = [:] }
        untoldCloses[id] = reason
    }

    /// Ends a connection without notifying the other device.
    mutating func loseLine(_ id: UUID, _ reason: RelayCloseReason, _ detail: String, _ now: Int64) {
        guard let line = remove(id) else { return }
        if line.lostAt != nil { endAsked(line, detail, now) }
        directives.append(.tell(line.client, .closed(connection: id, reason)))
    }

    /// Ends the requests of a connection that is not resumed: no response to them can arrive any more.
    mutating func endAsked(_ line: Line, _ detail: String, _ now: Int64) {
        for asked in line.asked {
            let hasLeft = ledger[asked.id].map { $0.sendings > 0 } ?? false
            end(asked.id, RelayOutcome(hasLeft ? .outcomeUnknown : .notDelivered, detail: detail), now)
        }
    }

    /// The person has taken back what some connections were opened by.
    mutating func closeRefused(_ old: RelaySettings) {
        for (id, line) in lines where line.isServed {
            let grantee = grantee(line.device)
            let wasGranted = old.isGranted(grantee, line.app, line.service)
            let isRefused =
                isDenied(line.device, line.app, line.service)
                || wasGranted && refusal(of: line.service, line.app, to: line.device)?.status == .notAuthorized
            guard isRefused else { continue }
            closeThere(id, line, .cancelled)
            directives.append(.tell(line.client, .closed(connection: id, .cancelled)))
        }
    }

    // MARK: Questions

    /// Asks over a connection, or keeps the question until the device is back.
    ///
    /// - Returns: Whether it is kept; otherwise nothing was done.
    mutating func ask(_ route: RelayRoute, over connection: UUID, _ now: Int64) -> Bool {
        guard let line = lines[connection], askedBytes + route.body.count <= Self.askedLimit else { return false }
        lines[connection]?.asked.append(route)
        lines[connection]?.usedAt = now
        askedBytes += route.body.count
        if line.lostAt == nil { sendAsked(over: connection, from: line.asked.count) }
        return true
    }

    private mutating func sendAsked(over connection: UUID, from first: Int = 0) {
        for place in (lines[connection]?.asked.indices ?? 0..<0).dropFirst(first) {
            guard let route = lines[connection]?.asked[place] else { return }
            ledger.sent(route.id)
            directives.append(.send(.route(route)))
        }
    }

    /// A question has its answer.
    mutating func answeredOver(_ connection: UUID, _ id: UUID, _ now: Int64) {
        guard let place = place(of: id, over: connection), let size = lines[connection]?.asked[place].body.count
        else { return }
        lines[connection]?.asked.remove(at: place)
        lines[connection]?.usedAt = now
        askedBytes -= size
    }

    private func place(of id: UUID, over connection: UUID) -> Int? {
        lines[connection]?.asked.firstIndex { $0.id == id }
    }

    /// Whether a command is asked again when its device is back.
    func isKept(_ id: UUID) -> Bool {
        guard let connection = ledger[id]?.connection else { return false }
        return lines[connection]?.lostAt != nil
            && (ledger.isWaiting(id) || place(of: id, over: connection) != nil)
    }

    /// Whether a request over a connection was sent more than once. That the last attempt was not delivered, or came
    /// after the connection was closed, does not show the result of earlier ones.
    func isAskedAgain(_ id: UUID) -> Bool { ledger[id].map { $0.connection != nil && $0.sendings > 1 } ?? false }

    /// A question did not arrive.
    ///
    /// - Returns: Whether it is asked again, now or later.
    mutating func askAgain(_ id: UUID, _ reason: RelayUndelivered, _ now: Int64) -> Bool {
        guard let connection = ledger[id]?.connection, let place = place(of: id, over: connection),
            let line = lines[connection], !line.isOthers
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
        lines[id]?.lostAt = now
        checkConnections(by: now + lineGrace)
    }

    /// The connectivity to a device was lost.
    mutating func suspendLines(with device: String, _ detail: String, isForGood: Bool, _ now: Int64) {
        for (id, line) in lines where line.device == device {
            if isForGood || line.isOthers || lineGrace == 0 {
                lines[id]?.lostAt = now
                loseLine(id, .unknown, detail, now)
            } else if line.lostAt == nil {
                suspend(id, now)
            }
        }
    }

    /// A device is back, or some are: connections with them go on.
    mutating func resumeLines(with device: String? = nil, _ now: Int64) {
        let lost = lines.filter { $0.value.lostAt != nil && (device == nil || $0.value.device == device) }
        for (device, all) in Dictionary(grouping: lost.keys, by: { lost[$0]?.device ?? "" }) {
            guard known(device)?.presence == .online, hasWay(to: device) else { continue }
            let ids = all.sorted { $0.uuidString < $1.uuidString }
            send(.resume(connections: ids), to: device, deadline: nil)
            for id in ids {
                lines[id]?.lostAt = nil
                lines[id]?.usedAt = now
                sendAsked(over: id)
                if let idleTime { checkConnections(by: now + idleTime) }
            }
        }
    }

    /// The other device lists the connections that it has.
    mutating func resumed(_ connections: [UUID], by device: String, _ now: Int64) {
        for id in connections {
            guard let line = lines[id], line.device == device else {
                send(
                    .close(connection: id, untoldCloses.removeValue(forKey: id) ?? .unknown), to: device, deadline: nil)
                continue
            }
            // Even where this device did not notice the loss, messages in transit may be lost.
            guard line.lostAt == nil else { continue }
            lines[id]?.usedAt = now
            sendAsked(over: id)
        }
    }

    // MARK: Time

    private mutating func checkConnections(by moment: Int64) { linesDue = min(linesDue ?? .max, moment) }

    /// Ends connections over which nothing has passed, and those whose device did not come back.
    mutating func endLines(_ now: Int64) {
        guard let due = linesDue, due <= now else { return }
        linesDue = nil
        for (id, line) in lines {
            if let lostAt = line.lostAt {
                guard lostAt + lineGrace <= now else {
                    checkConnections(by: lostAt + lineGrace)
                    continue
                }
                loseLine(id, .unknown, "the device did not come back in time", now)
            } else if let idleTime {
                let isBusy = !line.asked.isEmpty || tasks.values.contains { $0.connection == id }
                let end = (isBusy ? now : line.usedAt) + idleTime
                guard end <= now else {
                    checkConnections(by: end)
                    continue
                }
                closeThere(id, line, .idle)
                directives.append(.tell(line.client, .closed(connection: id, .idle)))
            }
        }
    }
}

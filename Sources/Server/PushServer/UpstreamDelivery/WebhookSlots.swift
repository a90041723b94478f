import PushCore

/// Requests to webhooks that are under way at the same time. A value.
///
/// A team has ``ofTeam`` slots of ``total`` at most, and webhooks that were slow lately have ``ofSlow`` together: receivers that never
/// answer take neither the slots of other teams nor most of all. Requests begin in the order in which they were asked for, but for
/// those whose team, or whose slowness, has no slot left. Each webhook asks for one request at a time, so that no more wait than
/// there are webhooks.
package struct WebhookSlots: Sendable {
    /// Requests at the same time.
    package static let total = 64
    /// Requests of one team at the same time.
    package static let ofTeam = 8
    /// Requests to slow webhooks at the same time.
    package static let ofSlow = 16
    /// A request that takes longer makes its webhook slow: two seconds, in milliseconds.
    static let slowness: Int64 = 2000
    /// A webhook counts as slow for five minutes after a request that made it slow, in milliseconds.
    static let memory: Int64 = 300_000

    /// A webhook.
    package enum Endpoint: Hashable, Sendable {
        /// The webhook of a hub, by the hub's number.
        case hub(Int64)
        /// The webhook of an app.
        case app(AppID)
    }

    private struct Request {
        var ticket: Int
        var team: TeamID
        var endpoint: Endpoint
    }

    private struct Running {
        var request: Request
        var isSlow: Bool
        var begunAt: Timestamp
    }

    private var lastTicket = 0
    private var waiting: [Request] = []
    private var running: [Int: Running] = [:]
    private var slowUntil: [Endpoint: Timestamp] = [:]

    /// Slots that nobody has.
    package init() {}

    /// Whether a request has its slot.
    package func isRunning(_ ticket: Int) -> Bool { running[ticket] != nil }

    /// Whether a request waits for its slot.
    package func isWaiting(_ ticket: Int) -> Bool { waiting.contains { $0.ticket == ticket } }

    /// Asks for a slot. ``begin(at:)`` says when there is one.
    ///
    /// - Returns: The request's number.
    package mutating func ask(of team: TeamID, for endpoint: Endpoint) -> Int {
        lastTicket += 1
        waiting.append(Request(ticket: lastTicket, team: team, endpoint: endpoint))
        return lastTicket
    }

    /// Gives out the slots that are free.
    ///
    /// - Returns: The requests that have one from now on.
    package mutating func begin(at now: Timestamp) -> [Int] {
        var teams: [TeamID: Int] = [:]
        var slow = 0
        for running in running.values {
            teams[running.request.team, default: 0] += 1
            if running.isSlow { slow += 1 }
        }
        var begun: [Int] = []
        var left: [Request] = []
        for request in waiting {
            let isSlow = slowUntil[request.endpoint].map { $0 > now } ?? false
            guard running.count < Self.total, teams[request.team, default: 0] < Self.ofTeam,
                !isSlow || slow < Self.ofSlow
            else {
                left.append(request)
                continue
            }
            running[request.ticket] = Running(request: request, isSlow: isSlow, begunAt: now)
            teams[request.team, default: 0] += 1
            if isSlow { slow += 1 }
            begun.append(request.ticket)
        }
        waiting = left
        return begun
    }

    /// Takes in that a request is over.
    package mutating func end(_ ticket: Int, at now: Timestamp) {
        guard let ended = running.removeValue(forKey: ticket) else { return }
        slowUntil = slowUntil.filter { $0.value > now }
        guard now.milliseconds(since: ended.begunAt) > Self.slowness else { return }
        slowUntil[ended.request.endpoint] = now.adding(milliseconds: Self.memory)
    }

    /// Takes back a request that waits for its slot.
    package mutating func giveUp(_ ticket: Int) { waiting.removeAll { $0.ticket == ticket } }
}

extension ConnectionPool {
    /// A connection that has not ended.
    struct Connection: Sendable {
        /// The number of streams that the server allows; `nil` until the connection is ready.
        var limit: Int?
        var inFlight = 0
        var isProven = false
        /// Whether it has answered a request.
        var hasAnswered = false
        /// Whether it takes no more requests and closes after the last one.
        var isRetired = false
        var since: Instant
        var activeAt: Instant
        /// The time since which requests are open.
        var busyAt: Instant
        var pingedAt: Instant?
        var retiresAt: Instant?
        /// Whether it took so long to be made, or to prove its token, that another one is made beside it.
        var isSlow = false
        /// The number of the latest write, by which equally loaded connections take turns.
        var lastWrite = 0
        /// The number of requests in a row that reached their deadline in flight.
        var unansweredInRow = 0

        init(at now: Instant) {
            since = now
            activeAt = now
            busyAt = now
        }

        mutating func recordActivity(at now: Instant) {
            activeAt = now
            pingedAt = nil
        }

        mutating func recordAnswer(at now: Instant, proves: Bool) {
            recordActivity(at: now)
            inFlight -= 1
            unansweredInRow = 0
            isSlow = false
            hasAnswered = true
            if proves { isProven = true }
        }

        mutating func wrote(at now: Instant, number: Int) {
            if inFlight == 0 { busyAt = now }
            inFlight += 1
            lastWrite = number
        }

        /// The number of requests that it may have in flight.
        func capacity(_ rules: Rules) -> Int {
            guard let limit, !isRetired else { return 0 }
            return rules.startsWithOneStream && !isProven ? min(limit, 1) : min(limit, rules.streams)
        }

        /// The time at which PING is due, or the acknowledgement of one overdue, or the first SETTINGS.
        func pingDue(_ rules: Rules) -> Instant {
            guard limit != nil else { return since + rules.dialTime }
            if let pingedAt { return pingedAt + rules.pingTime }
            return inFlight > 0 ? max(activeAt, busyAt) + rules.silenceTime : activeAt + rules.idleTime
        }

        /// Whether it may soon take what waits, so that no other one is needed yet.
        func isPromising(_ rules: Rules) -> Bool {
            !isRetired && !isSlow && (limit == nil || (rules.startsWithOneStream && !isProven))
        }

        /// The time at which it is slow if it is still promising; `nil` where it has nothing to do.
        func slowFrom(_ rules: Rules) -> Instant? {
            guard isPromising(rules), limit ?? 0 == 0 || inFlight > 0 else { return nil }
            return max(since, busyAt) + rules.proofTime
        }

        func nextWake(_ rules: Rules) -> Instant {
            var next = pingDue(rules)
            if let retiresAt, !isRetired { next = min(next, retiresAt) }
            return slowFrom(rules).map { min(next, $0) } ?? next
        }
    }

    /// The load at which a connection counts as busy, so that another one is made beside it.
    private static let busyStreams = 256
    /// A connection that ends sooner, without an answer, counts as a failed attempt.
    private static let shortLife = Duration.seconds(10)
    /// A connection that leaves as many requests in a row without an answer is replaced.
    private static let unansweredLimit = 3

    /// The connection with the fewest requests among those that take another one.
    var leastLoaded: Int? {
        var best: (number: Int, load: (Int, Int, Int))?
        for (number, connection) in connections where connection.inFlight < connection.capacity(rules) {
            let load = (connection.inFlight, connection.lastWrite, number)
            if best.map({ load < $0.load }) ?? true { best = (number, load) }
        }
        return best?.number
    }

    /// Whether another connection is needed and allowed, apart from the delay.
    var mayDial: Bool {
        var (live, retired) = (0, 0)
        var areAllBusy = true
        for connection in connections.values {
            if connection.isRetired {
                retired += 1
                continue
            }
            live += 1
            if connection.isPromising(rules) { return false }
            if connection.inFlight < Self.busyStreams { areAllBusy = false }
        }
        guard queued > 0 || (live > 0 && areAllBusy) else { return false }
        return live < rules.connections && retired < rules.connections
    }

    /// Records that a connection has shown a sign of life.
    mutating func recordActivity(of connection: Int, at now: Instant) {
        connections[connection]?.recordActivity(at: now)
    }

    mutating func handleSettings(
        of number: Int, _ limit: Int, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        recordActivity(of: number, at: now)
        guard var connection = connections[number] else { return }
        if connection.limit == nil {
            connection.since = now
            connection.isSlow = false
            isUnreachable = false
            // Connections that began together do not end together.
            connection.retiresAt = now + rules.age * Double.random(in: 0.9...1.1, using: &random)
        }
        connection.limit = limit
        connections[number] = connection
    }

    /// Takes no more requests on a connection.
    mutating func retire(_ number: Int, at now: Instant, using random: inout some RandomNumberGenerator) {
        guard let connection = connections[number], !connection.isRetired else { return }
        connections[number]?.isRetired = true
        recordEnd(of: connection, at: now, using: &random)
    }

    private mutating func recordEnd(
        of connection: Connection, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        if connection.limit != nil, connection.hasAnswered || now - connection.since >= Self.shortLife {
            backOff.reset()
            dialsFrom = nil
        } else if dialsFrom.map({ $0 <= now }) ?? true {
            // Connections that end together are one failure.
            dialsFrom = now + .milliseconds(backOff.next(using: &random))
        }
    }

    mutating func handleEnd(
        of number: Int, _ unprocessed: Set<Int> = [], at now: Instant, using random: inout some RandomNumberGenerator,
        into directives: inout [Directive]
    ) {
        if let connection = connections[number] { isUnreachable = connection.limit == nil }
        retire(number, at: now, using: &random)
        for request in requestsInFlight(on: number) {
            if unprocessed.contains(request) {
                handleRefusal(of: request, on: number, &directives)
            } else {
                handleLoss(of: request, on: number, &directives)
            }
        }
        connections[number] = nil
        if failsUnsent(at: now) { failUnsent(for: .unreachable, into: &directives) }
    }

    /// Whether requests fail that no connection takes: the server could not be reached, and no attempt is due.
    func failsUnsent(at now: Instant) -> Bool {
        guard !rules.waitsForConnectivity, isUnreachable, let dialsFrom, dialsFrom > now else { return false }
        return connections.values.allSatisfy(\.isRetired)
    }

    private func requestsInFlight(on connection: Int) -> [Int] {
        guard connections[connection]?.inFlight ?? 0 > 0 else { return [] }
        return requests.filter { $0.value.connection == connection }.keys.sorted()
    }

    mutating func handleTime(
        _ now: Instant, using random: inout some RandomNumberGenerator, into directives: inout [Directive]
    ) {
        while let number = deadlines.popDue(at: now, isLive: { [requests] in requests[$0] != nil }) {
            if let connection = requests[number]?.connection {
                connections[connection]?.unansweredInRow += 1
                if connections[connection]?.unansweredInRow == Self.unansweredLimit {
                    retire(connection, at: now, using: &random)
                }
            }
            fail(number, for: .deadline, into: &directives)
        }
        for number in connections.keys.sorted() {
            guard let connection = connections[number] else { continue }
            if let slow = connection.slowFrom(rules), slow <= now { connections[number]?.isSlow = true }
            if let retiresAt = connection.retiresAt, retiresAt <= now { retire(number, at: now, using: &random) }
            guard connection.pingDue(rules) <= now else { continue }
            if connection.limit != nil, connection.pingedAt == nil {
                connections[number]?.pingedAt = now
                directives.append(.ping(connection: number))
            } else {
                directives.append(.close(connection: number))
                handleEnd(of: number, at: now, using: &random, into: &directives)
            }
        }
    }

    /// Closes connections that have no requests and take none.
    mutating func closeDrained(_ directives: inout [Directive]) {
        let isOver = isShuttingDown && requests.isEmpty
        for (number, connection) in connections where connection.inFlight == 0 && (connection.isRetired || isOver) {
            connections[number] = nil
            directives.append(.close(connection: number))
        }
    }
}

extension ConnectionPool {
    /// A request that has not ended.
    struct Request: Sendable {
        /// The connection that it was written on; `nil` while it is queued.
        var connection: Int?
        var sends = 0
        /// Whether it was sent again for its token.
        var hasNewToken = false
        var mayHaveBeenProcessed = false

        mutating func wrote(on connection: Int) {
            self.connection = connection
            sends += 1
        }
    }

    mutating func submit(_ request: Int, deadline: Instant, at now: Instant, _ directives: inout [Directive]) {
        guard !isShuttingDown, deadline > now else {
            let cause: Cause = isShuttingDown ? .shutDown : .deadline
            directives.append(.finish(request: request, .failed(cause, mayHaveBeenProcessed: false)))
            return
        }
        guard !failsUnsent(at: now) else {
            directives.append(.finish(request: request, .failed(.unreachable, mayHaveBeenProcessed: false)))
            return
        }
        fresh.append(request) { [requests] in requests[$0] != nil }
        deadlines.insert(request, at: deadline) { [requests] in requests[$0] != nil }
        requests[request] = Request()
        queued += 1
    }

    /// Ends all requests that are not in flight.
    mutating func failUnsent(for cause: Cause, into directives: inout [Directive]) {
        for request in requests.filter({ $0.value.connection == nil }).keys.sorted() {
            fail(request, for: cause, into: &directives)
        }
    }

    /// Ends a request without an answer. One in flight may have been processed, and its stream is reset.
    mutating func fail(_ number: Int, for cause: Cause, into directives: inout [Directive]) {
        guard let request = requests.removeValue(forKey: number) else { return }
        if let connection = request.connection {
            connections[connection]?.inFlight -= 1
            directives.append(.abandon(request: number, connection: connection))
        } else {
            queued -= 1
        }
        let isDoubtful = request.connection != nil || request.mayHaveBeenProcessed
        directives.append(.finish(request: number, .failed(cause, mayHaveBeenProcessed: isDoubtful)))
    }

    /// The request, if it is in flight on that connection. An event of another one came too late.
    private func inFlight(_ number: Int, on connection: Int) -> Request? {
        guard let request = requests[number], request.connection == connection else { return nil }
        return request
    }

    mutating func handleAnswer(
        _ answer: Answer, _ number: Int, _ connection: Int, at now: Instant,
        using random: inout some RandomNumberGenerator, into directives: inout [Directive]
    ) {
        guard var request = inFlight(number, on: connection) else {
            return recordActivity(of: connection, at: now)
        }
        // In one step: each access by the subscript copies the connection.
        connections[connection]?.recordAnswer(at: now, proves: answer == .proven)
        var isResent = false
        switch answer {
        case .proven, .plain: break
        case .leaving: retire(connection, at: now, using: &random)
        case .tokenExpired:
            directives.append(.renewToken(request: number))
            // The other connections have seen the same token.
            if connections[connection]?.isRetired == false {
                for other in connections.keys.sorted() { retire(other, at: now, using: &random) }
            }
            isResent = !request.hasNewToken
        case .tokenRenewedEarly:
            retire(connection, at: now, using: &random)
            isResent = !request.hasNewToken
        }
        if isResent, !isShuttingDown {
            request.hasNewToken = true
            requeue(number, request)
        } else {
            requests[number] = nil
            directives.append(.finish(request: number, .answered))
        }
    }

    /// Sends a request again that was not processed. One that was left over by a connection that answered others and then
    /// took no more has not used up an attempt: its deadline ends it.
    mutating func handleRefusal(of number: Int, on connection: Int, _ directives: inout [Directive]) {
        guard var request = inFlight(number, on: connection) else { return }
        connections[connection]?.inFlight -= 1
        if let ended = connections[connection], ended.isRetired, ended.hasAnswered { request.sends -= 1 }
        guard request.sends > rules.resends else { return requeue(number, request) }
        requests[number] = nil
        directives.append(
            .finish(request: number, .failed(.refused, mayHaveBeenProcessed: request.mayHaveBeenProcessed)))
    }

    /// Handles a request of which it is not known whether it was processed.
    mutating func handleLoss(of number: Int, on connection: Int, _ directives: inout [Directive]) {
        guard var request = inFlight(number, on: connection) else { return }
        connections[connection]?.inFlight -= 1
        request.mayHaveBeenProcessed = true
        if rules.resendsUnanswered, request.sends <= rules.resends { return requeue(number, request) }
        requests[number] = nil
        directives.append(.finish(request: number, .failed(.connectionLost, mayHaveBeenProcessed: true)))
    }

    private mutating func requeue(_ number: Int, _ request: Request) {
        var request = request
        request.connection = nil
        requests[number] = request
        again.insert(number)
        queued += 1
    }

    /// Writes queued requests while a connection takes them, and makes another connection where that is not enough.
    mutating func writeQueued(at now: Instant, into directives: inout [Directive]) {
        while queued > 0, let connection = leastLoaded, let number = popQueued() {
            queued -= 1
            writes += 1
            requests[number]?.wrote(on: connection)
            connections[connection]?.wrote(at: now, number: writes)
            directives.append(.write(request: number, connection: connection))
        }
        guard mayDial, dialsFrom.map({ $0 <= now }) ?? true else { return }
        lastConnection += 1
        connections[lastConnection] = Connection(at: now)
        directives.append(.dial(connection: lastConnection))
    }

    private mutating func popQueued() -> Int? {
        if let number = again.first(isLive: { [requests] in requests[$0] != nil }) {
            again.removeFirst()
            return number
        }
        guard let number = fresh.first(isLive: { [requests] in requests[$0] != nil }) else { return nil }
        fresh.removeFirst()
        return number
    }
}

import Platform

/// The decisions of a client about its connections and requests.
///
/// A value without I/O: events and the time are its input, directives its output. Each submitted request ends with
/// exactly one ``Directive/finish(request:_:)``.
struct ConnectionPool: Sendable {
    typealias Instant = PoolInstant

    /// The limits and times of a pool.
    struct Rules: Sendable {
        /// The number of connections that take requests or are being made.
        var connections = 8
        /// The number of streams of a connection, whatever the server allows.
        var streams = 1000
        /// How many times a request is sent again.
        var resends = 4
        /// Whether a request without an answer is sent again, although it may have been processed.
        var resendsUnanswered = false
        /// Whether requests wait until a connection can be made, in place of failing with the attempt.
        var waitsForConnectivity = true
        /// Whether a connection has one stream until its token was accepted.
        var startsWithOneStream = true
        /// The time without an event after which an idle connection is checked by PING.
        var idleTime = Duration.seconds(300)
        /// The time without an event after which a connection with open requests is checked by PING.
        var silenceTime = Duration.seconds(15)
        /// The time within which PING must be acknowledged.
        var pingTime = Duration.seconds(10)
        /// The time after which a connection that is being made, or that proves its token, holds back no other one.
        var proofTime = Duration.seconds(3)
        /// The time within which a connection must be made, its first SETTINGS included.
        var dialTime = Duration.seconds(20)
        /// The age at which a connection takes no more requests, give or take a tenth.
        var age = Duration.seconds(12 * 3600)
        /// The delays between attempts to connect.
        var backOff = BackOff(base: .milliseconds(500), cap: .seconds(60))
    }

    /// An event of the outside.
    enum Event: Sendable, Hashable {
        /// A new request. Numbers increase.
        case submit(request: Int, deadline: Instant)
        /// The caller no longer waits for a request.
        case cancel(request: Int)
        /// SETTINGS of a connection; the first ones make it ready.
        case settings(connection: Int, streamLimit: Int)
        /// GOAWAY on a connection.
        case goAway(connection: Int)
        /// The acknowledgement of a PING.
        case pingAcknowledged(connection: Int)
        /// A response.
        case answered(request: Int, connection: Int, Answer)
        /// The server did not process a request: REFUSED_STREAM, or a stream beyond that of GOAWAY.
        case refused(request: Int, connection: Int)
        /// A request's stream ended without an answer.
        case lost(request: Int, connection: Int)
        /// The end of a connection, or the failure to make it. The server has processed none of some requests.
        case closed(connection: Int, unprocessed: Set<Int> = [])
        /// The time of ``nextWake``.
        case wake
        /// No further requests are taken, and those that are not in flight end now.
        case stop
        /// No further requests are taken; connections close after the last request.
        case shutDown
        /// Every request ends now.
        case giveUp
    }

    /// The meaning of a response for its connection.
    enum Answer: Sendable, Hashable {
        /// The credential was accepted.
        case proven
        /// Nothing follows for the connection.
        case plain
        /// The connection is to be replaced.
        case leaving
        /// The token has expired: it and all connections that used it are to be replaced, and the request is sent again.
        case tokenExpired
        /// The token was renewed too early: the connection is to be replaced, and the request is sent again.
        case tokenRenewedEarly
    }

    /// An action of the pool's owner.
    enum Directive: Sendable, Hashable {
        /// Make a connection.
        case dial(connection: Int)
        /// Write a request.
        case write(request: Int, connection: Int)
        /// Reset a request's stream.
        case abandon(request: Int, connection: Int)
        /// Send PING.
        case ping(connection: Int)
        /// Close a connection.
        case close(connection: Int)
        /// Make another token in place of the one that a request carried.
        case renewToken(request: Int)
        /// End a request for its caller.
        case finish(request: Int, Ending)
    }

    /// The end of a request.
    enum Ending: Sendable, Hashable {
        /// The response that came last.
        case answered
        /// No response.
        case failed(Cause, mayHaveBeenProcessed: Bool)
    }

    /// The reason of an end without a response.
    enum Cause: Sendable, Hashable {
        case deadline
        case cancelled
        case connectionLost
        case refused
        case unreachable
        case shutDown
    }

    let rules: Rules
    var requests: [Int: Request] = [:]
    var connections: [Int: Connection] = [:]
    /// The requests that were never written, and those that are to be written again.
    var fresh = RequestQueue()
    var again = RequestQueue()
    /// The number of requests in both queues.
    var queued = 0
    var deadlines = DeadlineHeap()
    var lastConnection = 0
    var writes = 0
    var backOff: BackOff
    var dialsFrom: Instant?
    /// Whether the latest connection that ended could not be made.
    var isUnreachable = false
    var isShuttingDown = false

    /// Creates a pool without connections; the first request makes one.
    init(rules: Rules) {
        self.rules = rules
        backOff = rules.backOff
    }

    /// Handles an event.
    ///
    /// - Parameter directives: The list to which what must be done is appended, in order.
    mutating func handle(
        _ event: Event, at now: Instant, using random: inout some RandomNumberGenerator,
        into directives: inout [Directive]
    ) {
        switch event {
        case .submit(let request, let deadline): submit(request, deadline: deadline, at: now, &directives)
        case .cancel(let request): fail(request, for: .cancelled, into: &directives)
        case .settings(let connection, let limit): handleSettings(of: connection, limit, at: now, using: &random)
        case .goAway(let connection):
            recordActivity(of: connection, at: now)
            retire(connection, at: now, using: &random)
        case .pingAcknowledged(let connection): recordActivity(of: connection, at: now)
        case .answered(let request, let connection, let answer):
            handleAnswer(answer, request, connection, at: now, using: &random, into: &directives)
        case .refused(let request, let connection):
            recordActivity(of: connection, at: now)
            handleRefusal(of: request, on: connection, &directives)
        case .lost(let request, let connection):
            recordActivity(of: connection, at: now)
            handleLoss(of: request, on: connection, &directives)
        case .closed(let connection, let unprocessed):
            handleEnd(of: connection, unprocessed, at: now, using: &random, into: &directives)
        case .wake: handleTime(now, using: &random, into: &directives)
        case .stop:
            isShuttingDown = true
            failUnsent(for: .shutDown, into: &directives)
        case .shutDown: isShuttingDown = true
        case .giveUp:
            isShuttingDown = true
            for request in requests.keys.sorted() { fail(request, for: .shutDown, into: &directives) }
        }
        writeQueued(at: now, into: &directives)
        closeDrained(&directives)
    }

    /// The number of requests in flight.
    var inFlight: Int { requests.count - queued }

    /// The time at which ``Event/wake`` is due.
    var nextWake: Instant? {
        mutating get {
            var next = deadlines.first { [requests] in requests[$0] != nil }
            func consider(_ instant: Instant?) {
                if let instant, next.map({ instant < $0 }) ?? true { next = instant }
            }
            for connection in connections.values { consider(connection.nextWake(rules)) }
            if mayDial, let dialsFrom { consider(dialsFrom) }
            return next
        }
    }
}

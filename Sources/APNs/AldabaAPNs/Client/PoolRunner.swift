import Logging
import NIOCore
import Networking
import PushCore

/// Performs the directives of a ``ConnectionPool``. Confined to one event loop.
final class PoolRunner {
    /// A request that has not ended.
    private final class OpenRequest {
        let message: PoolMessage
        var response: HTTP2Response?
        /// The generation of the token that it carried last.
        var token: Int?
        var wasWritten = false
        let continuation: CheckedContinuation<PoolOutcome, Never>

        init(message: PoolMessage, continuation: CheckedContinuation<PoolOutcome, Never>) {
            self.message = message
            self.continuation = continuation
        }
    }

    private let eventLoop: any EventLoop
    private let transport: any PoolTransport
    private let clocks: Clocks
    private let metrics: ClientMetrics
    private let logger: Logger
    private var pool: ConnectionPool
    private var tokens: ProviderTokenSource?
    private var requests: [Int: OpenRequest] = [:]
    private var connections: [Int: any PoolConnection] = [:]
    /// Events that came while another one was being handled.
    private var events: [ConnectionPool.Event] = []
    private var directives: [ConnectionPool.Directive] = []
    /// The directives that are being performed.
    private var batch: [ConnectionPool.Directive] = []
    /// The counts that the metrics contain.
    private var counts = PoolCounts()
    private var timer: (at: PoolInstant, task: Scheduled<Void>)?
    private var lastFailure: String?
    private var whenEmpty: [CheckedContinuation<Void, Never>] = []

    init(
        eventLoop: any EventLoop, transport: any PoolTransport, rules: ConnectionPool.Rules,
        tokens: ProviderTokenSource?, clocks: Clocks, metrics: ClientMetrics, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.transport = transport
        self.clocks = clocks
        self.metrics = metrics
        self.logger = logger
        self.tokens = tokens
        pool = ConnectionPool(rules: rules)
    }

    /// Sends a request; its end resumes the continuation.
    func submit(
        _ number: Int, _ message: PoolMessage, deadline: PoolInstant,
        _ continuation: CheckedContinuation<PoolOutcome, Never>
    ) {
        requests[number] = OpenRequest(message: message, continuation: continuation)
        handle(.submit(request: number, deadline: deadline))
    }

    /// Ends a request whose caller no longer waits.
    func cancel(_ number: Int) { handle(.cancel(request: number)) }

    /// Ends every request after a time, and resumes once none is open.
    func shutDown(grace: Duration, _ continuation: CheckedContinuation<Void, Never>) {
        whenEmpty.append(continuation)
        handle(.shutDown)
        let runner = NIOLoopBound(self, eventLoop: eventLoop)
        if !requests.isEmpty { eventLoop.scheduleTask(in: TimeAmount(grace)) { runner.value.handle(.giveUp) } }
    }

    /// Ends the requests that are not in flight, and takes no more.
    func stop() { handle(.stop) }

    /// Closes the connections of a pool without requests, for good.
    func closeConnections() { handle(.shutDown) }

    // MARK: Events

    private func handle(_ event: ConnectionPool.Event) {
        events.append(event)
        // A directive can cause an event at once, which is handled after it.
        guard events.count == 1 else { return }
        var next = 0
        var random = SystemRandomNumberGenerator()
        while next < events.count {
            pool.handle(events[next], at: clocks.now(), using: &random, into: &directives)
            next += 1
            swap(&batch, &directives)
            for index in batch.indices { perform(batch[index]) }
            batch.removeAll(keepingCapacity: true)
        }
        events.removeAll(keepingCapacity: true)
        let new = PoolCounts(pool)
        if new != counts { metrics.record(from: counts, to: new) }
        counts = new
        setTimer()
        if requests.isEmpty {
            for continuation in whenEmpty { continuation.resume() }
            whenEmpty = []
        }
    }

    private func setTimer() {
        guard let wake = pool.nextWake else { return }
        if let timer, timer.at <= wake { return }
        timer?.task.cancel()
        let runner = NIOLoopBound(self, eventLoop: eventLoop)
        let delay = TimeAmount(max(.zero, wake - clocks.now()))
        timer = (
            wake,
            eventLoop.scheduleTask(in: delay) {
                runner.value.timer = nil
                runner.value.handle(.wake)
            }
        )
    }

    private func handle(_ event: HTTP2ClientEvent, of connection: Int) {
        switch event {
        case .settings(let streamLimit):
            lastFailure = nil
            handle(.settings(connection: connection, streamLimit: streamLimit))
        case .goAway(_, let code, let debugData):
            let reason = String(decoding: debugData.prefix(200), as: UTF8.self)
            logger.debug("GOAWAY", metadata: ["code": "\(code)", "reason": "\(reason)"])
            metrics.goAways.increment()
            lastFailure = "GOAWAY \(code) \(reason)"
            handle(.goAway(connection: connection))
        case .pingAcknowledged: handle(.pingAcknowledged(connection: connection))
        case .ended(let request, let result): handle(result, of: request, on: connection)
        case .closed(let reason, let unprocessed): handleEnd(of: connection, reason, unprocessed)
        }
    }

    /// Takes no more requests on a connection that has ended, and ends it for the pool after those that were sent to it
    /// in the meantime: they were not processed.
    private func handleEnd(of number: Int, _ reason: String, _ unprocessed: Set<Int>) {
        guard let connection = connections[number] else { return }
        lastFailure = reason
        let wasReady = pool.connections[number]?.limit != nil
        let level: Logger.Level = wasReady ? .debug : .warning
        logger.log(
            level: level, wasReady ? "connection closed" : "no connection could be made",
            metadata: ["reason": "\(reason)"])
        // Nothing was sent to a connection that was never ready: its end alone tells that the server cannot be reached.
        if wasReady { handle(.goAway(connection: number)) }
        let (runner, eventLoop) = (NIOLoopBound(self, eventLoop: self.eventLoop), self.eventLoop)
        connection.settle {
            eventLoop.execute {
                runner.value.connections.removeValue(forKey: number)?.close()
                runner.value.handle(.closed(connection: number, unprocessed: unprocessed))
            }
        }
    }

    private func handle(
        _ result: Result<HTTP2Response, HTTP2RequestError>, of request: Int, on connection: Int
    ) {
        switch result {
        case .success(let response):
            requests[request]?.response = response
            handle(.answered(request: request, connection: connection, Refusal.answer(in: response)))
        case .failure(.notProcessed): handle(.refused(request: request, connection: connection))
        case .failure(let error):
            lastFailure = "\(error)"
            handle(.lost(request: request, connection: connection))
        }
    }

    // MARK: Directives

    private func perform(_ directive: ConnectionPool.Directive) {
        switch directive {
        case .dial(let connection): dial(connection)
        case .write(let request, let connection): write(request, on: connection)
        case .abandon(let request, let connection): connections[connection]?.abandon(request: request)
        case .ping(let connection): connections[connection]?.ping()
        case .close(let connection): connections.removeValue(forKey: connection)?.close()
        case .renewToken(let request):
            guard let generation = requests[request]?.token else { return }
            // Many requests may have carried it.
            guard tokens?.discard(generation: generation) == true else { return }
            logger.warning("the provider token has expired before its time; is the clock right?")
        case .finish(let number, let ending): finish(number, ending)
        }
    }

    private func dial(_ number: Int) {
        let (runner, eventLoop) = (NIOLoopBound(self, eventLoop: self.eventLoop), self.eventLoop)
        let events = LoopQueue<HTTP2ClientEvent>(eventLoop: eventLoop) { runner.value.handle($0, of: number) }
        connections[number] = transport.dial { events.add($0) }
    }

    private func write(_ number: Int, on connection: Int) {
        guard let request = requests[number] else { return }
        if request.wasWritten { metrics.resends.increment() }
        request.wasWritten = true
        var headers = request.message.headers
        if tokens != nil {
            var random = SystemRandomNumberGenerator()
            do {
                guard let token = try tokens?.token(at: clocks.wall(), using: &random) else { return }
                request.token = token.generation
                headers.append("authorization", token.authorization)
            } catch {
                // Without a token the server refuses the request, which tells the caller what is wrong.
                logger.warning("no provider token could be signed: \(error)")
            }
        }
        connections[connection]?.send(request: number, headers: headers, body: request.message.body)
    }

    private func finish(_ number: Int, _ ending: ConnectionPool.Ending) {
        guard let request = requests.removeValue(forKey: number) else { return }
        switch ending {
        case .answered:
            guard let response = request.response else { return }
            request.continuation.resume(returning: .response(response))
        case .failed(let cause, let mayHaveBeenProcessed):
            request.continuation.resume(
                returning: .failure(cause, mayHaveBeenProcessed: mayHaveBeenProcessed, detail: lastFailure))
        }
    }
}

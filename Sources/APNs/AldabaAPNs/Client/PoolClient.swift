import Logging
import NIOCore
import Networking
import PushCore

/// A pool with its admission: requests in, outcomes out. Thread-safe.
final class PoolClient: Sendable {
    private let eventLoop: any EventLoop
    private let runner: NIOLoopBoundBox<PoolRunner>
    private let commands: LoopQueue<Command>
    private let gate: AdmissionGate
    private let clocks: Clocks
    let metrics = ClientMetrics()

    init(
        transport: any PoolTransport, rules: ConnectionPool.Rules, limit: Int, tokens: ProviderTokenSource?,
        clocks: Clocks, eventLoop: any EventLoop, logger: Logger
    ) {
        self.eventLoop = eventLoop
        self.clocks = clocks
        gate = AdmissionGate(limit: limit, eventLoop: eventLoop, now: clocks.now)
        let runner = NIOLoopBoundBox<PoolRunner>.makeBoxSendingValue(
            PoolRunner(
                eventLoop: eventLoop, transport: transport, rules: rules, tokens: tokens, clocks: clocks,
                metrics: metrics, logger: logger), eventLoop: eventLoop)
        self.runner = runner
        commands = LoopQueue(eventLoop: eventLoop) { command in
            switch command {
            case .submit(let number, let message, let deadline, let continuation):
                runner.value.submit(number, message, deadline: deadline, continuation)
            case .cancel(let number): runner.value.cancel(number)
            }
        }
    }

    /// A command to the runner. All pass one queue, so that a request is cancelled after it was submitted.
    private enum Command: Sendable {
        case submit(
            Int, PoolMessage, deadline: PoolInstant, CheckedContinuation<PoolOutcome, Never>)
        case cancel(Int)
    }

    deinit {
        // No call is open: each one holds the client.
        eventLoop.execute { [runner] in runner.value.closeConnections() }
    }

    /// The number of callers that wait until fewer requests are open.
    var waitingCount: Int { gate.waitingCount }

    /// Sends a request and waits for its end.
    ///
    /// - Parameters:
    ///   - time: The time until the deadline.
    ///   - message: Creates the request; called when it is admitted.
    func request(within time: Duration, _ message: @Sendable () -> PoolMessage) async -> PoolOutcome {
        let deadline = clocks.now() + time
        let number: Int
        switch await gate.enter(until: deadline) {
        case .admitted(let admitted): number = admitted
        case .failed(let cause): return .failure(cause, mayHaveBeenProcessed: false, detail: nil)
        }
        defer { gate.leave() }
        let request = message()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                commands.add(.submit(number, request, deadline: deadline, continuation))
                // A task that was cancelled before this has called its handler in vain.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: Int) { commands.add(.cancel(number)) }

    /// Takes no more requests, and ends those that are not in flight.
    func stop() {
        gate.close()
        eventLoop.execute { [runner] in runner.value.stop() }
    }

    /// Takes no more requests, and closes all connections when the open ones have ended, or after a time.
    func shutDown(grace: Duration) async {
        gate.close()
        await withCheckedContinuation { continuation in
            eventLoop.execute { [runner] in runner.value.shutDown(grace: grace, continuation) }
        }
    }
}

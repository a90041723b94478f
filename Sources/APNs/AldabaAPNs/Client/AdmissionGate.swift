import NIOCore
import Synchronization

/// Suspends callers while too many requests are open. Thread-safe.
final class AdmissionGate: Sendable {
    /// The result for a caller.
    enum Outcome: Sendable {
        /// The caller may send a request of this number, and calls ``AdmissionGate/leave()`` after it.
        case admitted(Int)
        case failed(ConnectionPool.Cause)
    }

    private struct State {
        var queue: AdmissionQueue
        var callers: [Int: CheckedContinuation<Outcome, Never>] = [:]
        var lastNumber = 0
        var isClosed = false
        /// The time of the earliest timer that is set.
        var timer: PoolInstant?
    }

    private let state: Mutex<State>
    private let eventLoop: any EventLoop
    private let now: @Sendable () -> PoolInstant

    init(limit: Int, eventLoop: any EventLoop, now: @escaping @Sendable () -> PoolInstant) {
        state = Mutex(State(queue: AdmissionQueue(limit: limit)))
        self.eventLoop = eventLoop
        self.now = now
    }

    /// The number of callers that wait.
    var waitingCount: Int { state.withLock { $0.queue.waitingCount } }

    /// Admits the caller, now or when those before it have entered.
    func enter(until deadline: PoolInstant) async -> Outcome {
        let (number, isAdmitted, isClosed) = state.withLock { state in
            state.lastNumber += 1
            return (state.lastNumber, !state.isClosed && state.queue.enterNow(), state.isClosed)
        }
        if isClosed { return .failed(.shutDown) }
        if isAdmitted { return .admitted(number) }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait(number, until: deadline, continuation)
                // A task that was cancelled before this has called its handler in vain.
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func wait(
        _ number: Int, until deadline: PoolInstant, _ continuation: CheckedContinuation<Outcome, Never>
    ) {
        let outcome: Outcome? = state.withLock { state in
            if state.isClosed { return .failed(.shutDown) }
            if state.queue.enter(number, deadline: deadline) { return .admitted(number) }
            state.callers[number] = continuation
            return nil
        }
        if let outcome { continuation.resume(returning: outcome) } else { setTimer() }
    }

    private func cancel(_ number: Int) {
        let caller = state.withLock { state in
            state.queue.cancel(number) ? state.callers.removeValue(forKey: number) : nil
        }
        caller?.resume(returning: .failed(.cancelled))
    }

    /// Ends a request, and admits the next caller.
    func leave() {
        let next = state.withLock { state in
            state.queue.leave().map { ($0, state.callers.removeValue(forKey: $0)) }
        }
        if let (number, caller) = next { caller?.resume(returning: .admitted(number)) }
    }

    /// Admits no more callers, and ends the waiting ones.
    func close() {
        let callers = state.withLock { state in
            state.isClosed = true
            return state.queue.removeAll().compactMap { state.callers.removeValue(forKey: $0) }
        }
        for caller in callers { caller.resume(returning: .failed(.shutDown)) }
    }

    private func setTimer() {
        let due: PoolInstant? = state.withLock { state in
            guard let next = state.queue.nextDeadline, state.timer.map({ next < $0 }) ?? true else { return nil }
            state.timer = next
            return next
        }
        guard let due else { return }
        eventLoop.scheduleTask(in: TimeAmount(max(.zero, due - now()))) { [self] in handleTimer(due) }
    }

    private func handleTimer(_ due: PoolInstant) {
        let overdue = state.withLock { state in
            // An earlier timer has been set since.
            if state.timer == due { state.timer = nil }
            var callers: [CheckedContinuation<Outcome, Never>] = []
            while let number = state.queue.popDue(at: now()) {
                if let caller = state.callers.removeValue(forKey: number) { callers.append(caller) }
            }
            return callers
        }
        for caller in overdue { caller.resume(returning: .failed(.deadline)) }
        setTimer()
    }
}

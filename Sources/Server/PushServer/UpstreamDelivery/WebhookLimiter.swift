import PushCore
import Synchronization

/// Has requests to webhooks wait for their slots (``WebhookSlots``).
package final class WebhookLimiter: Sendable {
    private struct State {
        var slots = WebhookSlots()
        var waiters: [Int: CheckedContinuation<Void, any Error>] = [:]
    }

    private let state = Mutex(State())
    private let clock: @Sendable () -> Timestamp

    /// A limiter under which nothing is under way.
    package init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// Makes a request when there is a slot for it.
    ///
    /// - Throws: `CancellationError` where the task is cancelled before, and what the request throws.
    package func run<Result: Sendable>(
        of team: TeamID, _ endpoint: WebhookSlots.Endpoint, _ request: @Sendable () async throws -> Result
    ) async throws -> Result {
        let ticket = state.withLock { $0.slots.ask(of: team, for: endpoint) }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, ticket) }
        } onCancel: {
            giveUp(ticket)
        }
        defer { end(ticket) }
        return try await request()
    }

    private func wait(_ waiter: CheckedContinuation<Void, any Error>, _ ticket: Int) {
        let begun = state.withLock { state -> [CheckedContinuation<Void, any Error>]? in
            if state.slots.isRunning(ticket) { return [waiter] }
            guard state.slots.isWaiting(ticket) else { return nil }
            state.waiters[ticket] = waiter
            return begin(&state)
        }
        guard let begun else { return waiter.resume(throwing: CancellationError()) }
        for waiter in begun { waiter.resume() }
    }

    /// Gives out free slots.
    ///
    /// - Returns: Those who have waited. Who has a slot before it waits finds it then.
    private func begin(_ state: inout State) -> [CheckedContinuation<Void, any Error>] {
        state.slots.begin(at: clock()).compactMap { state.waiters.removeValue(forKey: $0) }
    }

    private func end(_ ticket: Int) {
        let begun = state.withLock { state in
            state.slots.end(ticket, at: clock())
            return begin(&state)
        }
        for waiter in begun { waiter.resume() }
    }

    private func giveUp(_ ticket: Int) {
        let waiter = state.withLock { state in
            state.slots.giveUp(ticket)
            // Who has a slot already ends by itself.
            return state.slots.isRunning(ticket) ? nil : state.waiters.removeValue(forKey: ticket)
        }
        waiter?.resume(throwing: CancellationError())
    }
}

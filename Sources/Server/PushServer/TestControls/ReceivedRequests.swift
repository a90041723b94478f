import PushCore
import Synchronization

/// Remembers what providers sent, and lets callers wait for it. Thread-safe.
package final class ReceivedRequests: Sendable {
    /// The number of the request that the current task serves; `nil` where nothing is remembered.
    @TaskLocal package static var current: Int?

    /// The answer to a caller.
    package struct Page: Sendable {
        /// A request with the states of its notifications.
        package struct Item: Sendable {
            /// The request.
            package var request: ReceivedRequest
            /// The request's own state.
            package var state: String
            /// The states of its notifications, in their order.
            package var states: [String]
        }
        /// The requests that fit, the newest first, up to a limit.
        package var items: [Item]
        /// The number of all that fit.
        package var matching: Int
        /// The highest number given so far.
        package var last: Int
        /// The number of requests that the bounds have dropped.
        package var forgotten: Int
    }

    /// A caller that waits until enough requests fit.
    private struct Waiter {
        var filter: ReceivedFilter
        var count: Int
        var matching: Set<Int>
        var continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var log = ReceivedLog()
        var waiters: [Int: Waiter] = [:]
        var nextWaiter = 0

        /// Looks at a changed request for everybody who waits.
        mutating func changed(_ number: Int) -> [CheckedContinuation<Void, Never>] {
            guard !waiters.isEmpty, let request = log.request(number) else { return [] }
            let state = log.state(of: request)
            var done: [CheckedContinuation<Void, Never>] = []
            for key in waiters.keys {
                guard var waiter = waiters[key] else { continue }
                if waiter.filter.counts(request, state: state) {
                    waiter.matching.insert(number)
                } else {
                    waiter.matching.remove(number)
                }
                waiters[key] = waiter
                guard waiter.matching.count >= waiter.count else { continue }
                waiters[key] = nil
                done.append(waiter.continuation)
            }
            return done
        }
    }

    private let state = Mutex(State())

    /// Remembers nothing yet.
    package init() {}

    // MARK: Recording

    /// Remembers a request.
    ///
    /// - Returns: The number of the request.
    package func append(_ request: ReceivedRequest) -> Int {
        update { state in
            let number = state.log.append(request)
            return (number, state.changed(number))
        }
    }

    /// Changes a request's parties or other properties.
    package func update(_ number: Int, _ change: (inout ReceivedRequest) -> Void) {
        update { state in
            state.log.update(number, change)
            return ((), state.changed(number))
        }
    }

    /// Records the answer of a request.
    package func answered(_ number: Int, _ answer: ReceivedRequest.Answer) { update(number) { $0.answer = answer } }

    /// Records the fault that a test has set for a request.
    package func record(fault: Int, in number: Int) { update(number) { $0.fault = fault } }

    /// Adds a notification that was made of a request.
    package func add(_ accepted: ReceivedRequest.Accepted, to number: Int) {
        update { state in
            state.log.add(accepted, to: number)
            return ((), state.changed(number))
        }
    }

    /// Adds a send to a topic that was made of a request, unless its notifications are known.
    package func addBroadcast(_ id: NotificationID, to number: Int) {
        update { state in
            guard state.log.request(number)?.accepted.isEmpty == true else { return ((), []) }
            for each in [id] + state.log.copies(of: id) {
                state.log.add(ReceivedRequest.Accepted(id: each, app: "", payload: []), to: number)
            }
            return ((), state.changed(number))
        }
    }

    /// Records what a batch of the mailboxes' writer has made durable.
    func committed(_ changes: [RowChange]) {
        update { state in
            var done: [CheckedContinuation<Void, Never>] = []
            for change in changes {
                let number: Int? =
                    switch change {
                    case .appendLine(let line, let id): state.log.set(id, line.state.text)
                    case .insertNotification(let record):
                        // A copy's payload is the send's, under the send's own id.
                        if case .shared(let payload) = record.payload {
                            state.log.addCopy(record.id, of: NotificationID(rawValue: payload.rawValue))
                        } else {
                            nil
                        }
                    default: nil
                    }
                if let number { done += state.changed(number) }
            }
            return ((), done)
        }
    }

    private func update<Result>(_ body: (inout State) -> (Result, [CheckedContinuation<Void, Never>])) -> Result {
        let (result, done) = state.withLock { body(&$0) }
        for continuation in done { continuation.resume() }
        return result
    }

    // MARK: Queries

    /// The requests that fit a filter.
    ///
    /// - Parameter limit: The maximum number of those that are returned.
    package func page(_ filter: ReceivedFilter, limit: Int) -> Page {
        state.withLock { state in
            let log = state.log
            var page = Page(items: [], matching: 0, last: log.last, forgotten: log.forgotten)
            for request in log.newestFirst {
                let own = log.state(of: request)
                guard filter.fits(request, state: own) else { continue }
                page.matching += 1
                guard page.items.count < limit else { continue }
                let states = request.accepted.map { log.state(of: $0.id) ?? NotificationState.accepted.text }
                page.items.append(Page.Item(request: request, state: own, states: states))
            }
            return page
        }
    }

    /// Waits until a number of requests fit, but no longer than a time.
    package func wait(for filter: ReceivedFilter, count: Int, timeout: Duration) async {
        let key = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.wait(key, for: filter, count: count) }
            group.addTask {
                // The time is over, or the wait has ended before.
                try? await Task.sleep(for: timeout)
                self.endWait(key)
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func wait(_ key: Int, for filter: ReceivedFilter, count: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    let log = state.log
                    let matching = log.newestFirst.filter { filter.counts($0, state: log.state(of: $0)) }.map(\.number)
                    guard matching.count < count, !Task.isCancelled else { return true }
                    state.waiters[key] = Waiter(
                        filter: filter, count: count, matching: Set(matching), continuation: continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            endWait(key)
        }
    }

    private func endWait(_ key: Int) { state.withLock { $0.waiters.removeValue(forKey: key) }?.continuation.resume() }

    /// Forgets the requests of a namespace, or all.
    ///
    /// - Returns: The number of those that were forgotten.
    package func forget(namespace: String?) -> Int {
        state.withLock { state in
            let count = state.log.forget(namespace: namespace)
            let log = state.log
            state.waiters = state.waiters.mapValues { waiter in
                var waiter = waiter
                waiter.matching = waiter.matching.filter { log.request($0) != nil }
                return waiter
            }
            return count
        }
    }
}

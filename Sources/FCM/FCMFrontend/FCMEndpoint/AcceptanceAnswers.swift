import PushCore
import PushServer
import Synchronization

/// Collects the results of the acceptances of one request. Thread-safe.
final class AcceptanceAnswers: AcceptanceSink {
    private struct State {
        var ids: [NotificationID?]
        var missing: Int
        var continuation: CheckedContinuation<[NotificationID?], Never>?
    }

    private let state: Mutex<State>

    private init(_ count: Int) {
        state = Mutex(State(ids: Array(repeating: nil, count: count), missing: count))
    }

    /// Makes acceptances durable, together.
    ///
    /// Durable ones are not undone. Those for which the queue is full wait for space; those that the store failed to
    /// take are tried once more. So a list of which nothing was accepted may be sent again, and no other list needs to
    /// be.
    ///
    /// - Returns: An id for each, in the order of the list; `nil` for one that could not be made durable, or was too
    ///   many.
    static func of(_ acceptances: [AcceptedNotification], by acceptor: any NotificationAcceptor) async
        -> [NotificationID?]
    {
        let first = AcceptanceAnswers(acceptances.count)
        for acceptance in numbered(acceptances) where !acceptor.accept(acceptance, sink: first) {
            first.completed([AcceptanceResult(ticket: acceptance.ticket, id: nil, apnsID: nil)])
        }
        var ids = await first.all()
        let left = ids.indices.filter { ids[$0] == nil }
        guard !left.isEmpty, left.count < ids.count else { return ids }
        let others = numbered(left.map { acceptances[$0] })
        let second = AcceptanceAnswers(others.count)
        let taken = await acceptor.acceptAll(others, sink: second)
        second.completed(others.dropFirst(taken).map { AcceptanceResult(ticket: $0.ticket, id: nil, apnsID: nil) })
        for (place, id) in zip(left, await second.all()) { ids[place] = id }
        return ids
    }

    /// The same acceptances, with their indexes in the list as tickets.
    private static func numbered(_ acceptances: [AcceptedNotification]) -> [AcceptedNotification] {
        acceptances.enumerated().map { place, acceptance in
            var acceptance = acceptance
            acceptance.ticket = Int32(clamping: place)
            return acceptance
        }
    }

    /// Waits until there is a result for each.
    private func all() async -> [NotificationID?] {
        await withCheckedContinuation { continuation in
            let ids = state.withLock { state -> [NotificationID?]? in
                guard state.missing > 0 else { return state.ids }
                state.continuation = continuation
                return nil
            }
            if let ids { continuation.resume(returning: ids) }
        }
    }

    func completed(_ results: [AcceptanceResult]) {
        let complete = state.withLock { state -> (CheckedContinuation<[NotificationID?], Never>, [NotificationID?])? in
            for result in results where state.ids.indices.contains(Int(result.ticket)) {
                state.ids[Int(result.ticket)] = result.id
                state.missing -= 1
            }
            guard state.missing <= 0, let continuation = state.continuation else { return nil }
            state.continuation = nil
            return (continuation, state.ids)
        }
        if let (continuation, ids) = complete { continuation.resume(returning: ids) }
    }
}

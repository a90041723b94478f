import PushModel
import ServerCore
import Synchronization

/// Collects what becomes of the acceptances of one request. Thread-safe.
final class AcceptanceAnswers: AcceptanceSink {
    private struct State {
        var ids: [NotificationID?]
        var missing: Int
        var continuation: CheckedContinuation<[NotificationID?], Never>?
    }

    private let state: Mutex<State>

    private init(_ count: Int, _ continuation: CheckedContinuation<[NotificationID?], Never>) {
        state = Mutex(State(ids: Array(repeating: nil, count: count), missing: count, continuation: continuation))
    }

    /// Has acceptances made durable, together.
    ///
    /// - Parameter acceptances: Their tickets are their places in the list.
    /// - Returns: An id for each; `nil` for what could not be made durable, or was too much.
    static func of(_ acceptances: [Acceptance], by acceptor: any NotificationAcceptor) async -> [NotificationID?] {
        guard !acceptances.isEmpty else { return [] }
        return await withCheckedContinuation { continuation in
            let answers = AcceptanceAnswers(acceptances.count, continuation)
            for acceptance in acceptances where !acceptor.accept(acceptance, sink: answers) {
                answers.completed([AcceptanceResult(ticket: acceptance.ticket, id: nil, apnsID: nil)])
            }
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

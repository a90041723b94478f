import PushCore
import Synchronization

/// Tells its listeners which notifications are new or have changed. Thread-safe.
///
/// The newest ``limit`` changes are kept; a listener that is slower learns how many it missed.
package final class NotificationFeed: Sendable {
    /// The changes since a position.
    package struct Changes: Sendable {
        /// The notifications, each once, in the order of their last change.
        package var ids: [NotificationID]
        /// The number of changes that are not kept any more.
        package var missed: Int
        /// The position after these changes.
        package var position: Int
    }

    private struct State {
        var ids: [NotificationID] = []
        /// The number of all changes so far; `ids` has the last of them, at their number modulo the limit.
        var count = 0
    }

    /// The number of changes that are kept.
    package static let limit = 4096

    private let signal = MessageArrivalSignal()
    private let state = Mutex(State())
    private let listeners = Atomic(0)

    /// Creates a feed without listeners.
    package init() {}

    /// The position after the newest change.
    package var position: Int { state.withLock(\.count) }

    /// Follows the changes from now on. Every listener ends by ``leave()``.
    package func listen() -> AsyncStream<Void> {
        listeners.add(1, ordering: .relaxed)
        return signal.listen()
    }

    /// Ends a listener.
    package func leave() { listeners.subtract(1, ordering: .relaxed) }

    /// The changes since a position.
    package func changes(since position: Int) -> Changes {
        state.withLock { state in
            let first = max(position, state.count - state.ids.count)
            var seen: Set<NotificationID> = []
            var ids: [NotificationID] = []
            for number in (first..<state.count).reversed() {
                let id = state.ids[number % Self.limit]
                if seen.insert(id).inserted { ids.append(id) }
            }
            return Changes(ids: ids.reversed(), missed: first - position, position: state.count)
        }
    }

    /// Records what a batch of the mailboxes' writer has made durable. Without listeners it costs one load.
    func committed(_ changes: [RowChange]) {
        guard listeners.load(ordering: .relaxed) > 0 else { return }
        let hasChanges = state.withLock { state in
            let before = state.count
            for change in changes {
                guard let id = change.notification else { continue }
                if state.ids.count < Self.limit {
                    state.ids.append(id)
                } else {
                    state.ids[state.count % Self.limit] = id
                }
                state.count += 1
            }
            return state.count > before
        }
        if hasChanges { signal.send() }
    }
}

extension RowChange {
    /// The notification whose state the change is; `nil` where it changes none.
    fileprivate var notification: NotificationID? {
        switch self {
        case .insertNotification(let record): record.id
        case .insertRefusal(let record): record.id
        case .appendLine(_, let id): id
        default: nil
        }
    }
}

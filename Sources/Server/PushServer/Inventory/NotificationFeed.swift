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
        /// The number of changes that the feed no longer has, and this reader did not get.
        package var missed: Int
        /// The position after these changes.
        package var position: Int
    }

    private struct State {
        var ids: [NotificationID] = []
        /// The number of all changes so far; `ids` has the last of them, at their number after ``base`` modulo the limit.
        var count = 0
        /// The number of changes before the first in `ids`.
        var base = 0
        /// The parts of the exchange with other nodes; `nil` for a server that is alone.
        var forward: (@Sendable ([NotificationID]) -> Void)?
        var listening: (@Sendable () -> Void)?
    }

    /// The number of changes that are kept.
    package static let limit = 4096

    private let signal = MessageArrivalSignal()
    private let state = Mutex(State())
    private let listeners = Atomic(0)
    /// Whether other nodes have listeners.
    private let forwards = Atomic(false)

    /// Creates a feed without listeners.
    package init() {}

    /// The position after the newest change.
    package var position: Int { state.withLock(\.count) }

    /// Follows the changes from now on. Every listener ends by ``leave()``.
    package func listen() -> AsyncStream<Void> {
        listeners.add(1, ordering: .relaxed)
        state.withLock { $0.listening }?()
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
                let id = state.ids[(number - state.base) % Self.limit]
                if seen.insert(id).inserted { ids.append(id) }
            }
            return Changes(ids: ids.reversed(), missed: first - position, position: state.count)
        }
    }

    // MARK: Other nodes

    /// Has the changes of this node forwarded, and other nodes told of listeners, from now on.
    func forward(
        changes: @escaping @Sendable ([NotificationID]) -> Void, listening: @escaping @Sendable () -> Void
    ) {
        state.withLock { ($0.forward, $0.listening) = (changes, listening) }
    }

    /// Whether this feed has listeners.
    var hasListeners: Bool { listeners.load(ordering: .relaxed) > 0 }

    /// Whether other nodes have listeners.
    var isForwarding: Bool {
        get { forwards.load(ordering: .relaxed) }
        set { forwards.store(newValue, ordering: .relaxed) }
    }

    // MARK: Changes

    /// Records what a batch of the mailboxes' writer has made durable. Without listeners it costs two loads.
    func committed(_ changes: [RowChange]) {
        let (isHeard, isForwarded) = (hasListeners, isForwarding)
        guard isHeard || isForwarded else { return }
        let ids = changes.compactMap(\.notification)
        guard !ids.isEmpty else { return }
        if isForwarded { state.withLock { $0.forward }?(ids) }
        if isHeard { record(ids) }
    }

    /// Records changes.
    ///
    /// - Parameter missed: The number of other changes, which are not known.
    func record(_ ids: [NotificationID], missed: Int = 0) {
        state.withLock { state in
            // Those that are not known are passed over, as if they were not kept any more.
            if missed > 0 {
                state.ids = []
                state.base = state.count + missed
                state.count = state.base
            }
            for id in ids {
                if state.ids.count < Self.limit {
                    state.ids.append(id)
                } else {
                    state.ids[(state.count - state.base) % Self.limit] = id
                }
                state.count += 1
            }
        }
        signal.send()
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

import Synchronization

/// The requests of this process about one activity that the agent has not answered.
///
/// While a change of the content is unanswered, the agent's events have older content, which is not taken.
final class ActivityProgress: Sendable {
    private struct State {
        var isStarting: Bool
        var unanswered = 0
        /// Whether the newest content that was not taken is another than the app's.
        var hasSkipped = false
    }

    private let state: Mutex<State>

    init(isStarting: Bool) { state = Mutex(State(isStarting: isStarting)) }

    /// Whether the agent has not yet answered that it has the activity.
    var isStarting: Bool { state.withLock(\.isStarting) }

    /// Notes that the agent has the activity.
    func noteStarted() { state.withLock { $0.isStarting = false } }

    /// Changes the object, before the agent is asked for the same change.
    func beginChange(_ change: () -> Void) {
        state.withLock { state in
            state.unanswered += 1
            change()
        }
    }

    /// Notes the answer to a change.
    ///
    /// - Returns: Whether the agent may have other content than the object, so that it is to be asked.
    func endChange() -> Bool {
        state.withLock { state in
            state.unanswered -= 1
            guard state.unanswered == 0 else { return false }
            defer { state.hasSkipped = false }
            return state.hasSkipped
        }
    }

    /// Takes content of the agent, unless a change of the app is unanswered. `isOther` says whether they differ.
    func receive(_ take: () -> Void, isOther: () -> Bool) {
        state.withLock { state in
            if state.unanswered == 0 { take() } else { state.hasSkipped = isOther() }
        }
    }
}

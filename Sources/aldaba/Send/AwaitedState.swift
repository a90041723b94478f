import PushCore

/// A state that the sender of a notification waits for.
enum AwaitedState: String, CaseIterable, Sendable {
    case accepted, acked, presented, opened

    /// The progress towards the awaited state.
    enum Progress: Hashable {
        /// The notification has come that far.
        case reached
        /// The notification may still come that far.
        case pending
        /// The notification has ended before, in this state.
        case ended(NotificationState)
    }

    /// The progress by a timeline, whose entries are in the order of time.
    func progress(_ timeline: [NotificationState]) -> Progress {
        if timeline.contains(where: isReached) { return .reached }
        return timeline.last(where: isEnd).map { .ended($0) } ?? .pending
    }

    /// Whether a notification in a state has come that far.
    private func isReached(by state: NotificationState) -> Bool {
        switch state {
        case .opened, .action: true
        case .dismissed, .presented: self != .opened
        case .acked, .decrypted, .undecryptable, .extended, .unanswered, .handed, .suppressed:
            self == .accepted || self == .acked
        case .accepted, .stored, .sent, .expired, .replaced, .withdrawn, .dropped: self == .accepted
        case .failed: false
        }
    }

    /// Whether a notification in a state comes no further.
    private func isEnd(_ state: NotificationState) -> Bool {
        switch state {
        // What could not be decrypted is shown as its placeholder, or not at all.
        case .expired, .replaced, .withdrawn, .dropped, .failed, .suppressed, .dismissed: true
        default: false
        }
    }
}

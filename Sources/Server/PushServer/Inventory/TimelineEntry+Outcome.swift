import PushCore

extension TimelineEntry {
    /// The line that says what became of a notification: the last one, unless the device said before it whether the notification
    /// was shown.
    ///
    /// - Parameter lines: The lines of a timeline in their order.
    package static func outcome(of lines: [TimelineEntry]) -> TimelineEntry? {
        switch lines.last?.state {
        case .handed, .acked: lines.last { $0.isHidden || $0.state == .presented } ?? lines.last
        case .unanswered: lines.last(where: \.isHidden) ?? lines.last
        default: lines.last
        }
    }

    /// Whether the device did not show the notification.
    private var isHidden: Bool {
        switch state {
        case .suppressed, .undecryptable: true
        default: false
        }
    }
}

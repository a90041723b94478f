extension TimelineEntry {
    /// The distance of two clocks, or of a state and its record, beyond which time determines the order instead of
    /// cause.
    static let tolerance = Duration.seconds(2)

    /// Orders lines by time; lines that are close together are ordered by a notification's sequence of states.
    ///
    /// Lines come from two machines, and an acknowledgement is recorded when the server receives it: the app's response
    /// may have an earlier time by then. A line whose effect another machine recorded up to two seconds before it is
    /// placed before that effect. The lines of one machine stay in the order of their times, which are unchanged.
    package static func ordered(_ entries: [TimelineEntry]) -> [TimelineEntry] {
        let keyed = entries.enumerated().map { offset, entry in
            let effects = entries.lazy
                .filter {
                    $0.state.order > entry.state.order && $0.at < entry.at
                        && ($0.source == .server) != (entry.source == .server)
                }
                .map(\.at)
                .filter { entry.at.duration(since: $0) <= tolerance }
            return (at: effects.min() ?? entry.at, order: entry.state.order, offset: offset, entry: entry)
        }
        return keyed.sorted { ($0.at, $0.order, $0.offset) < ($1.at, $1.order, $1.offset) }.map(\.entry)
    }
}

extension NotificationState {
    /// The state's position in a notification's sequence of states, for lines of the same millisecond.
    fileprivate var order: Int {
        switch self {
        case .accepted: 0
        case .stored: 1
        case .sent: 2
        case .acked: 3
        case .decrypted, .undecryptable: 4
        case .extended: 5
        case .presented: 6
        case .opened, .action, .dismissed: 7
        case .unanswered, .handed: 8
        case .expired, .replaced, .withdrawn, .suppressed, .dropped, .failed: 9
        }
    }
}

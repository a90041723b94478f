extension TimelineEntry {
    /// How far apart two clocks, or a state and its record, may be before time decides over cause.
    static let tolerance = Duration.seconds(2)

    /// Orders lines by time; where two lie close together, by the order of a notification's life.
    ///
    /// Lines come from two machines, and an acknowledgement is noted when the server has heard of it: the app's
    /// answer may bear an earlier time by then. A line whose effect is recorded up to two seconds before it is
    /// put before that effect; the times themselves stay as they were seen.
    public static func ordered(_ entries: [TimelineEntry]) -> [TimelineEntry] {
        let keyed = entries.enumerated().map { offset, entry in
            let effects = entries.lazy
                .filter { $0.state.order > entry.state.order && $0.at < entry.at }
                .map(\.at)
                .filter { entry.at.duration(since: $0) <= tolerance }
            return (at: effects.min() ?? entry.at, order: entry.state.order, offset: offset, entry: entry)
        }
        return keyed.sorted { ($0.at, $0.order, $0.offset) < ($1.at, $1.order, $1.offset) }.map(\.entry)
    }
}

extension NotificationState {
    /// The state's place in a notification's life, for lines of the same millisecond.
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
        case .handed: 8
        case .expired, .replaced, .withdrawn, .suppressed, .dropped, .failed: 9
        }
    }
}

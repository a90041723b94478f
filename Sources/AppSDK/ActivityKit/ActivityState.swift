import AgentProtocol

/// The state of a Live Activity in its life cycle.
public enum ActivityState: String, Codable, Hashable, Sendable {
    /// It is shown, and takes updates.
    case active
    /// It takes no more updates, and may still be shown.
    case ended
    /// It is not shown any more.
    case dismissed
    /// The stale date has passed without an update.
    case stale
}

/// The lifetime of a Live Activity that an app requests. Both styles are the same here.
public enum ActivityStyle: Codable, Hashable, Sendable {
    /// It lasts until it is ended.
    case standard
    /// On Apple's systems it ends when the person leaves it.
    case transient
}

extension ActivityState {
    init(_ state: LiveActivity.State) {
        self =
            switch state {
            case .active: .active
            case .stale: .stale
            case .ended: .ended
            case .dismissed: .dismissed
            }
    }

    /// Whether the activity takes updates.
    var isRunning: Bool { self == .active || self == .stale }

    /// Whether an activity in this state may enter another: none goes back from its end.
    func mayBecome(_ other: ActivityState) -> Bool {
        switch self {
        case .active, .stale: other != self
        case .ended: other == .dismissed
        case .dismissed: false
        }
    }
}

/// The source that observed a state.
package enum TimelineSource: String, Sendable, CaseIterable {
    /// The server.
    case server
    /// The agent of the device.
    case agent
    /// The app, by its response to the agent.
    case app
    /// The desktop's notification server, or the person who uses it.
    case desktop
}

/// A line of a timeline.
package struct TimelineEntry: Hashable, Sendable {
    /// The time at which its source observed the state, by the source's own clock.
    package var at: Timestamp
    /// The state that was reached.
    package var state: NotificationState
    /// The source that observed the state.
    package var source: TimelineSource
    /// The fault and its place, or the form in which it was shown; never a secret, never a payload.
    package var note: String?

    /// Creates a line; the note is for people.
    package init(at: Timestamp, state: NotificationState, source: TimelineSource, note: String? = nil) {
        self.at = at
        self.state = state
        self.source = source
        self.note = note
    }
}

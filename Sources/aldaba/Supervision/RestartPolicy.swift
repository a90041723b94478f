/// Decides whether a child that died is started again: always at once, until it has died too often.
package struct RestartPolicy: Sendable {
    /// How many deaths within the window end the attempts.
    package let limit: Int
    /// The time within which deaths are counted.
    package let window: Duration
    private var deaths: [ContinuousClock.Instant] = []

    /// Makes a policy; by default five deaths in ten seconds are too many.
    package init(limit: Int = 5, window: Duration = .seconds(10)) {
        self.limit = max(1, limit)
        self.window = window
    }

    /// Notes a death.
    ///
    /// - Returns: Whether to start the child again; `false` when this was the last of `limit` within the window.
    package mutating func recordExit(at instant: ContinuousClock.Instant) -> Bool {
        deaths.append(instant)
        deaths.removeAll { $0.duration(to: instant) >= window }
        return deaths.count < limit
    }
}

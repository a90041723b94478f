/// How long the agent waits and how much it keeps.
package struct AgentTiming: Sendable {
    /// How long an app may be away, from the agent's start or the end of its connection, before it counts as gone. Then
    /// its queued notifications are shown on the desktop, and a tap starts it. Its library reconnects within two
    /// seconds.
    package var returnLimit = Duration.seconds(5)
    /// The pause between looks whether the process of an app that is away has ended; then it counts as gone at once.
    package var endPause = Duration.milliseconds(100)
    /// How long the agent waits at its start for the desktop to report whether the screen is locked.
    package var lockTimeout = Duration.milliseconds(500)
    /// How long a manifest must be missing before its app counts as taken away.
    package var removalTimeout = Duration.seconds(2)
    /// How long an app in the foreground may take to answer how a notification is shown; then it is shown without the
    /// answer. Longer than the app's library waits for the app's handlers.
    package var answerTimeout = Duration.seconds(35)
    /// How long responses wait for an app that cannot be started.
    package var launchLimit = Duration.seconds(60)
    /// The pause between a failure of the store and the next attempt.
    package var storePause = Duration.seconds(1)
    /// How much is kept for each app.
    package var limits = AgentLimits()

    /// The times of an agent outside of tests.
    package init() {}
}

/// How much the agent keeps for each app.
package struct AgentLimits: Sendable {
    /// How many notifications, finished or not; of the older ones those that are finished are deleted.
    package var kept = 10_000
    /// How many notifications that the app has not handled; older ones end as `dropped(overflow)`.
    package var waiting = 10_000
    /// How long after its arrival a notification stays, handled or not; one that is not handled by then ends as
    /// `expired`.
    package var retention = Duration.seconds(30 * 86_400)

    /// The limits of the agent, unless told otherwise. Each parameter is the property of its name.
    package init(kept: Int = 10_000, waiting: Int = 10_000, retention: Duration = .seconds(30 * 86_400)) {
        self.kept = kept
        self.waiting = waiting
        self.retention = retention
    }
}

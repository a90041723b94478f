/// How long the agent waits and how much it keeps.
package struct AgentTiming: Sendable {
    /// How long an app may be away, from the agent's start or the end of its connection, before it counts as gone. Then
    /// its queued notifications are shown on the desktop, and a tap starts it. Its library reconnects within two
    /// seconds.
    package var returnLimit = Duration.seconds(5)
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

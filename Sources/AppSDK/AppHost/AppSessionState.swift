import AgentProtocol
import Platform

/// The connection to the agent.
struct AppConnectionState {
    var link = AppSession.Link.closed
    var backOff = BackOff(base: .milliseconds(50), cap: AppSession.longestBackOff)
    var isSlow = false
    /// Whether another process of this app took its place: then nothing is ever connected again.
    var isSuperseded = false
    var reports: Set<String> = []
}

/// The device token, and what the app asked about it.
struct DeviceTokenState {
    var registration = AppSession.Registration.untouched
    var tokenIsAwaited = false
    var token: String?
}

import AgentProtocol
import Platform

/// The connection to the agent.
struct AppConnectionState {
    var link = AppSession.Link.closed
    var backOff = BackOff(base: .milliseconds(50), cap: AppSession.longestBackOff)
    var isSlow = false
    /// Whether another process of this app took its place: then nothing is ever connected again.
    var isSuperseded = false
    /// Whether the app receives the events of its Live Activities, on every connection.
    var observesActivities = false
    var reports: Set<String> = []
}

/// The device token, and what the app asked about it.
struct DeviceTokenState {
    var registration = AppSession.Registration.untouched
    var tokenIsAwaited = false
    var token: String?
}

/// The app's own request for its device token. Firebase and PushKit request the same token, and their answers are not the
/// app's: its handler is called once for each of its requests, and for each other token that comes later.
struct AppTokenWish {
    private var isWanted = false
    private var isAwaited = false
    private var told: String?

    /// The app asks for its token.
    mutating func begin() { (isWanted, isAwaited) = (true, true) }

    /// Returns whether the app's own handler gets this directive.
    mutating func isAnswered(by directive: AppSession.Directive) -> Bool {
        switch directive {
        case .announceToken(let token):
            defer { (isAwaited, told) = (false, token) }
            return isWanted && (isAwaited || token != told)
        case .announceRegistrationFailure:
            defer { isAwaited = false }
            return isAwaited
        default: return false
        }
    }
}

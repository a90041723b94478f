import AgentEngine

/// The numbers of the sessions, by what became of them.
struct SessionCounters {
    /// How many sessions were attempted; the newest has this number.
    var sessionCount = 0
    /// The newest session that logged in.
    var sessionLoggedIn = 0
    /// When that was, in milliseconds since the machine was started.
    var loggedInAt: Int64 = 0
    /// The newest session after whose login the server was asked whether its endpoints are as before.
    var endpointsChecked = 0
    /// Why the last attempt to enrol or to open a session failed, for people; `nil` before that, and once a session is open.
    var fault: String?
    /// The newest session that carried a notification, or in which the server confirmed something of ours.
    var sessionCarried = 0
}

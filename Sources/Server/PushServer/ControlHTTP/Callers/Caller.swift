import PushCore

/// The party that the work of a request is counted for.
///
/// The number of callers is bounded by the register: a party is named only after it has shown a valid credential.
package enum Caller: Hashable, Sendable {
    /// Everybody who has not shown a valid credential.
    case unauthenticated
    /// Devices with their id and secret, all together.
    case devices
    /// Holders of keys that are in every copy of a team's apps: Listen keys, enrolment keys, installations, subscriptions.
    case clients(of: TeamID)
    /// Holders of keys that a team keeps to itself.
    case team(TeamID)
    /// Callers of the development listener, which asks for no credential.
    case development
    /// The server itself, for long work that no request waits for.
    case background
}

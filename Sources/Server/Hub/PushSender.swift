import Audience
import HubWire
import PushModel

/// One notification for one channel, as a sender takes it.
package struct HubPush: Hashable, Sendable {
    /// The channel.
    package var channel: PushChannel
    /// The platform of the channel.
    package var platform: HubPlatform
    /// The payload.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// Names the notification: the same one is delivered once, however often it is sent within a day.
    package var id: APNsID
    /// The push service's environment that the channel is of; `nil` where the installation does not say.
    package var environment: PushEnvironment?

    /// Brings the parts together.
    package init(
        channel: PushChannel, platform: HubPlatform, body: [UInt8], headers: [String: String], id: APNsID,
        environment: PushEnvironment? = nil
    ) {
        self.channel = channel
        self.platform = platform
        self.body = body
        self.headers = headers
        self.id = id
        self.environment = environment
    }
}

/// What a push service said of one notification.
package struct PushVerdict: Hashable, Sendable {
    /// What became of it.
    package var outcome: SendOutcome
    /// When the channel died, where the push service says so.
    package var diedAt: Timestamp?
    /// The push service's own word; `nil` where it said none.
    package var reason: String?
    /// After how many milliseconds, at least, the same notification may be tried again; `nil` where the outcome is its last.
    package var retryAfter: Int64?
    /// Whether this server knows more of it later: it has a timeline under the notification's id.
    package var isTraced = false
    /// Evidence whether the credential is for sandbox or production; `nil` for none.
    package var environment: EnvironmentSign?

    /// A verdict on a channel that lives, or of which no more is known.
    package init(
        _ outcome: SendOutcome, diedAt: Timestamp? = nil, reason: String? = nil, retryAfter: Int64? = nil
    ) {
        self.outcome = outcome
        self.diedAt = diedAt
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

/// The port by which the hub reaches a push service.
package protocol PushSender: Sendable {
    /// Hands notifications over and waits for what the push service says.
    ///
    /// - Returns: One verdict each, in their order; `nil` where nothing is known, because the push service or the server's own
    ///   store could not be asked, or the server ends. Then the whole slice is handed over again: a sender of which the push
    ///   service does not know notifications again says ``PushVerdict/retryAfter`` instead.
    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?]
}

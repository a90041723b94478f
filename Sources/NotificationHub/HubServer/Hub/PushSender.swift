import HubProtocol
import PushCore

/// A notification for one channel, as a sender takes it.
package struct HubPush: Hashable, Sendable {
    /// The channel.
    package var channel: PushChannel
    /// The platform of the channel.
    package var platform: HubPlatform
    /// The payload.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// The notification's id: a notification with the same id is delivered once, however often it is sent within a day.
    package var id: APNsID
    /// The push service's environment of the channel; `nil` where the installation does not specify it.
    package var environment: PushEnvironment?

    /// Creates an instance from its properties.
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

/// A push service's verdict on one notification.
package struct PushVerdict: Hashable, Sendable {
    /// The outcome of the notification.
    package var outcome: SendOutcome
    /// The time at which the channel died, where the push service reports it.
    package var diedAt: Timestamp?
    /// The push service's own reason; `nil` where it gave none.
    package var reason: String?
    /// The minimum time before the same notification may be tried again, in milliseconds; `nil` for a final outcome.
    package var retryAfter: Int64?
    /// Whether this server learns more later: it keeps a timeline under the notification's id.
    package var isTraced = false
    /// Evidence whether the credential is for sandbox or production; `nil` for none.
    package var environment: EnvironmentSign?

    /// Creates a verdict on a channel that is alive, or of which no more is known.
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
    /// Submits notifications and waits for the push service's response.
    ///
    /// - Returns: A verdict for each notification, in their order; `nil` where none is known, because the push service
    ///   or the server's own store did not respond, or the server ends. The whole slice is then submitted again. A
    ///   sender whose push service does not recognize repetitions returns ``PushVerdict/retryAfter`` instead.
    func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?]
}

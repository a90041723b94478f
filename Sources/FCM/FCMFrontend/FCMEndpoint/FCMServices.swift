import FCMProtocol
import PushCore
import PushServer

/// The server's services that FCM's interface uses.
package struct FCMServices: Sendable {
    /// The service accounts of the register.
    package var accounts: ServiceAccountDirectory
    /// The apps of the register.
    package var apps: AppDirectory
    /// The directory of registration tokens.
    package var tokens: TokenDirectory
    /// The device groups.
    package var groups: any DeviceGroupRegister
    /// Makes access tokens and opens them.
    package var sealer: AccessTokenSealer
    /// The service that accepts notifications.
    package var acceptor: any NotificationAcceptor
    /// The names by which senders reach the server: what their credentials must say that they are meant for.
    package var names: @Sendable () -> ServerNames
    /// Sends to topics, conditions and installations; `nil` where nobody does.
    package var audiences: (any AudienceSender)?
    /// The maximum number of messages of a project per minute.
    package var messagesPerMinute: Int
    /// The maximum number of a project's messages to one device per minute; 0 for no limit.
    package var messagesPerDevice = 0
    /// Opens the server keys of the legacy HTTP API; `nil` for a server without that API.
    package var serverKeys: ServerKeySealer?
    /// Opens the keys of chat servers' gateways; `nil` for a server without gateways.
    package var gatewayKeys: ServerKeySealer?
    /// The notification hubs that chat servers' gateways send by; `nil` for a server without hubs.
    package var chatHubs: (any ChatPushHub)?
    /// The server's version, which one gateway tells.
    package var version = ""
    /// Adds unknown devices; `nil` where they are refused.
    package var onDemand: OnDemandTokens?
    /// The senders' clock, by which their assertions are valid.
    package var senderClock: @Sendable () -> Timestamp
    /// The services for browsers' subscriptions and installations; `nil` for a server without them.
    package var web: WebPushServices?

    /// Creates an instance from its properties.
    package init(
        accounts: ServiceAccountDirectory, apps: AppDirectory, tokens: TokenDirectory, groups: any DeviceGroupRegister,
        sealer: AccessTokenSealer, acceptor: any NotificationAcceptor, names: @escaping @Sendable () -> ServerNames,
        audiences: (any AudienceSender)? = nil, messagesPerMinute: Int = SendQuota.standard
    ) {
        self.accounts = accounts
        self.apps = apps
        self.tokens = tokens
        self.groups = groups
        self.sealer = sealer
        self.acceptor = acceptor
        self.names = names
        self.audiences = audiences
        self.messagesPerMinute = messagesPerMinute
        senderClock = { acceptor.now }
    }

    /// The check of requests' access tokens, also for other modules with routes of FCM's.
    package var access: FCMAccess {
        FCMAccess(accounts: accounts, sealer: sealer) { [acceptor] in acceptor.now }
    }
}

/// Sends a message to a target that is no token: a topic, a condition, an installation.
package protocol AudienceSender: Sendable {
    /// Sends a message whose target is no token.
    ///
    /// - Parameters:
    ///   - app: The only app that may receive it; `nil` for every app of the team.
    ///   - isDryRun: Whether the message is only checked.
    /// - Returns: The message's id, when it is durable; `nil` for one that was only checked.
    /// - Throws: An ``FCMRejection``; any other error is reported as the server's own fault, to be tried again.
    func send(_ message: FCMMessage, of app: AppID?, team: TeamID, isDryRun: Bool) async throws -> NotificationID?
}

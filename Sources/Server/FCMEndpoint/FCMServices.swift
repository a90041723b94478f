import FCMWire
import HTTPWire
import MemberCentre
import PushModel
import RegisterCore
import ServerCore

/// What FCM's interface needs of the server.
package struct FCMServices: Sendable {
    /// The service accounts of the register.
    package var accounts: ServiceAccountDirectory
    /// The apps of the register.
    package var apps: AppDirectory
    /// What registration tokens stand for.
    package var tokens: TokenDirectory
    /// The device groups.
    package var groups: any DeviceGroupRegister
    /// Makes access tokens and opens them.
    package var sealer: AccessTokenSealer
    /// Takes what was let in.
    package var acceptor: any NotificationAcceptor
    /// The names by which senders reach the server: what their credentials must say that they are meant for.
    package var names: @Sendable () -> ServerNames
    /// Sends to topics, conditions and installations; `nil` where nobody does.
    package var audiences: (any AudienceSender)?
    /// How many messages a project may send in a minute.
    package var messagesPerMinute: Int
    /// How many of them one device may be sent in a minute; 0 for as many as there are.
    package var messagesPerDevice = 0
    /// What browsers' subscriptions and installations need; `nil` where nobody sends to them.
    package var web: WebPushServices?

    /// Brings the parts together.
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
    }

    /// Judges the access tokens of requests; for other rooms with routes of FCM's too.
    package var access: FCMAccess {
        FCMAccess(accounts: accounts, sealer: sealer) { [acceptor] in acceptor.now }
    }
}

/// Sends a message to more than a token names: to a topic, a condition, an installation.
package protocol AudienceSender: Sendable {
    /// Sends a message whose target is not a token.
    ///
    /// - Parameters:
    ///   - app: The only app that may have it; `nil` for every app of the team.
    ///   - isDryRun: Check only.
    /// - Returns: The id by which the message is known, when it is durable; `nil` for one that was only checked.
    /// - Throws: an ``FCMRefusal``; anything else is answered as the server's own fault, to be tried again.
    func send(_ message: FCMMessage, of app: AppID?, team: TeamID, isDryRun: Bool) async throws -> NotificationID?
}

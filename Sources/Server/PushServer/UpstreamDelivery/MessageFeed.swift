import APNsProtocol
import PushCore

/// The queries and acknowledgements of providers for their queued messages.
package struct MessageFeed: Sendable {
    private let store: any AppMessageStore
    private let apps: AppDirectory
    private let sealer: DeviceTokenSealer
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp
    /// Signals that messages were stored.
    package let arrivalSignal: MessageArrivalSignal

    /// The number of messages that are read or ended at a time.
    static let pageLimit = 100
    private static let takeLimit = 1000

    /// Creates an instance from its properties.
    ///
    /// - Parameter cell: The cell number in device tokens.
    package init(
        store: any AppMessageStore, apps: AppDirectory, sealer: DeviceTokenSealer, cell: UInt16,
        arrivalSignal: MessageArrivalSignal,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        self.store = store
        self.apps = apps
        self.sealer = sealer
        self.cell = cell
        self.arrivalSignal = arrivalSignal
        self.clock = clock
    }

    /// The reason why there is no scope for a provider's request.
    package enum ScopeError: Error {
        /// The team has no such app.
        case unknownTopic
        /// The app's messages are sent to its webhook.
        case hasWebhook
    }

    /// The messages of a team, or of one of its apps.
    ///
    /// - Throws: ``ScopeError``, or the store's error.
    package func scope(team: TeamID?, topic: String?) async throws -> MessageScope {
        guard let topic else { return MessageScope(team: team) }
        guard let app = try await apps.find(Topic(rawValue: topic)), team == nil || app.team == team else {
            throw ScopeError.unknownTopic
        }
        guard try await !store.webhooks().contains(where: { $0.app == app.id }) else { throw ScopeError.hasWebhook }
        return MessageScope(team: team, app: app.id)
    }

    /// The next messages after a number; empty when none is queued.
    package func page(_ scope: MessageScope, after number: Int64) async throws -> [(number: Int64, body: [UInt8])] {
        try await store.waitingMessages(scope, after: number, limit: Self.pageLimit, at: clock()).map {
            ($0.number, try MessageBody($0, sealer: sealer, cell: cell).json())
        }
    }

    /// Ends all messages of the scope up to a number, slice by slice: the provider has them.
    ///
    /// - Returns: The number of messages.
    package func take(_ scope: MessageScope, through number: Int64) async throws -> Int {
        var count = 0
        while true {
            let taken = try await store.takeMessages(scope, through: number, limit: Self.takeLimit, at: clock())
            count += taken
            if taken < Self.takeLimit { return count }
        }
    }

    /// The ends of the messages with an id.
    package func ends(team: TeamID?, topic: String, messageID: String) async throws -> [DeviceID: MessageEnd?] {
        guard let app = try await apps.find(Topic(rawValue: topic)), team == nil || app.team == team else {
            throw ScopeError.unknownTopic
        }
        return try await store.messageEnds(app: app.id, messageID: messageID)
    }
}

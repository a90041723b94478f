import APNsProtocol
import HubProtocol
import PushCore
import PushServer

/// Submits broadcasts to this server's own gateway.
package struct GatewayBroadcasts: Sendable {
    private let sender: GatewaySender
    private let broadcasts: Broadcasts
    private let apps: AppDirectory
    private let sealer: DeviceTokenSealer
    private let environment: PushEnvironment
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp

    /// Creates a gateway for registrations of one environment.
    ///
    /// - Parameters:
    ///   - sender: The sender that checks single notifications.
    ///   - cell: The cell number in this server's device tokens.
    package init(
        _ broadcasts: Broadcasts, sender: GatewaySender, apps: AppDirectory, sealer: DeviceTokenSealer,
        environment: PushEnvironment, cell: UInt16 = 0, clock: @escaping @Sendable () -> Timestamp
    ) {
        self.broadcasts = broadcasts
        self.sender = sender
        self.apps = apps
        self.sealer = sealer
        self.environment = environment
        self.cell = cell
        self.clock = clock
    }

    /// Checks notifications as the gateway does before it accepts them; none is accepted.
    ///
    /// - Returns: A verdict for each notification, as for ``PushSender/deliver(_:of:)``.
    package func examine(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        await sender.examine(pushes, of: hub)
    }

    /// Submits a broadcast. A repetition returns the existing broadcast.
    ///
    /// - Returns: `nil` where the gateway refuses it: ``examine(_:of:)`` then gives the reason for each recipient.
    /// - Throws: An error where it is unknown whether it was accepted.
    package func broadcast(_ broadcast: HubBroadcast, of hub: HubRecord) async throws -> AcceptedBroadcast? {
        guard let app = try await apps.find(hub.topic), app.team == hub.team, app.isPushEnabled,
            let options = try? PushOptions(broadcast.headers, now: clock()),
            case let expiry = broadcast.expiresAt.map({ .until($0) }) ?? options.expiry, expiry != .once,
            broadcast.body.count <= APNsPayloadLimit.bytes(for: options.pushType),
            JSONScanner.fault(inObject: broadcast.body) == nil
        else { return nil }
        let place = AppPlace(app: app.id, environment: environment)
        let sent = try await broadcasts.send(
            ListMessage(
                name: broadcast.name, to: RecipientList(number: broadcast.list, place: place),
                audience: broadcast.audience, content: .apns(broadcast.body), pushType: options.pushType,
                priority: options.priority, collapseID: options.collapseID, expiry: expiry), from: hub.team)
        return AcceptedBroadcast(id: sent.id, expiresAt: sent.expiresAt)
    }

    /// The copies of a broadcast after one of them, each with the device tokens of its registration, in lower case.
    package func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [(id: NotificationID, tokens: [String])] {
        try await broadcasts.copies(of: broadcast, after: after, limit: limit).map { copy in
            let subject = TokenSubject(
                cell: cell, device: copy.device, app: copy.place.app, environment: copy.place.environment,
                generation: copy.generation)
            return (copy.id, try sealer.everyToken(of: subject).map(\.description))
        }
    }

    /// Waits until lists that were read before this call make no more copies.
    ///
    /// - Throws: An error where that is unknown.
    package func waitForPendingDecisions() async throws { try await broadcasts.waitForPendingDecisions() }

    /// Withdraws the broadcast; one that has ended is not changed.
    package func withdraw(_ broadcast: NotificationID) async throws {
        _ = try await broadcasts.withdrawBroadcast(broadcast)
    }
}

import APNsProtocol
import HubProtocol
import PushCore
import PushServer

/// Submits broadcasts to this server's own gateway.
package struct GatewayBroadcasts: BroadcastGateway {
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

    /// Checks each as the gateway's sender does.
    package func examine(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        await sender.examine(pushes, of: hub)
    }

    /// Sends the broadcast to the list of the hub's app. A broadcast that is attempted once or never, or too large, is
    /// refused.
    package func broadcast(_ broadcast: HubBroadcast, of hub: HubRecord) async throws -> TakenBroadcast? {
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
        return TakenBroadcast(id: sent.id, expiresAt: sent.expiresAt)
    }

    /// Reads the copies, and seals their tokens.
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

    /// Waits until the mailboxes have processed earlier reads.
    package func settle() async throws { try await broadcasts.settle() }

    /// Withdraws the broadcast; one that has ended is not changed.
    package func withdraw(_ broadcast: NotificationID) async throws {
        _ = try await broadcasts.withdrawBroadcast(broadcast)
    }
}

import APNsWire
import CarriageWire
import Fanout
import Hub
import HubWire
import PushModel
import RegisterCore
import ServerCore
import Topics

/// Hands broadcasts to this server's own gateway.
package struct GatewayBroadcasts: BroadcastGateway {
    private let sender: GatewaySender
    private let broadcasts: Broadcasts
    private let apps: AppDirectory
    private let sealer: DeviceTokenSealer
    private let environment: PushEnvironment
    private let cell: UInt16
    private let clock: @Sendable () -> Timestamp

    /// Broadcasts to registrations of one environment.
    ///
    /// - Parameters:
    ///   - sender: Looks at single notifications.
    ///   - cell: The cell that this server's device tokens name.
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

    /// Looks at each as the gateway's sender does.
    package func examine(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
        await sender.examine(pushes, of: hub)
    }

    /// Sends it to the list of the hub's app. What is attempted once or never, or too large, is not taken.
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

    /// Waits for the mailboxes.
    package func settle() async throws { try await broadcasts.settle() }

    /// Takes it back; one that has ended already stays as it is.
    package func withdraw(_ broadcast: NotificationID) async throws {
        _ = try await broadcasts.withdrawBroadcast(broadcast)
    }
}

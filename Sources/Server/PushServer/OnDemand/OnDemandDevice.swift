import PushCore
import Synchronization

/// A device in the server's own process, which acknowledges what it gets.
final class OnDemandDevice: DeviceConnection {
    private let gateway: any DeviceGateway
    private let token: String
    private let arrived: @Sendable (OutgoingNotification, String) -> Void
    private let session = Mutex<DeviceSessionID?>(nil)

    init(
        gateway: any DeviceGateway, token: String, arrived: @escaping @Sendable (OutgoingNotification, String) -> Void
    ) {
        self.gateway = gateway
        self.token = token
        self.arrived = arrived
    }

    /// Opens the session of a device that was just enrolled, for which nothing is queued; `false` where it is not accepted.
    func connect(_ credentials: DeviceCredentials) async -> Bool {
        let login = DeviceLogin(device: credentials.device, secret: credentials.secret, received: [])
        return await withCheckedContinuation { continuation in
            gateway.open(login, connection: self) { verdict in
                guard case .welcome(let session, _) = verdict else { return continuation.resume(returning: false) }
                self.session.withLock { $0 = session }
                continuation.resume(returning: true)
            }
        }
    }

    func deliver(_ notifications: [OutgoingNotification]) {
        guard let session = session.withLock({ $0 }) else { return }
        let stored = notifications.filter { $0.expiresAt != nil }
        if !stored.isEmpty {
            gateway.sent(session, stored.map(\.id))
            gateway.acknowledged(session, stored.map(\.id)) { [arrived, token] _ in
                for notification in stored { arrived(notification, token) }
            }
        }
        let attempts = notifications.filter { $0.expiresAt == nil }
        guard !attempts.isEmpty else { return }
        gateway.attempts(attempts.map(\.id), became: .sent)
        gateway.attempts(attempts.map(\.id), became: .acknowledged)
        for notification in attempts { arrived(notification, token) }
    }

    /// Does nothing: a device that is always connected is sent no notices of what was deleted.
    func waitingChanged() {}
    func superseded() {}
    func revoked() {}
}

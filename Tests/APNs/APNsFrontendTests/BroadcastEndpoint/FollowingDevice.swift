import AldabaTestSupport
import PushCore
import PushServer

@testable import APNsFrontend

/// The connection of a device that keeps what it is given.
final class FollowingDevice: DeviceConnection {
    private let stream: AsyncStream<OutgoingNotification>
    private let continuation: AsyncStream<OutgoingNotification>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func deliver(_ notifications: [OutgoingNotification]) { for one in notifications { continuation.yield(one) } }
    func waitingChanged() {}
    func superseded() {}
    func revoked() {}

    /// The next notification that the device is given.
    func next() async -> OutgoingNotification? {
        for await one in stream { return one }
        return nil
    }

    /// Logs the world's device in at an endpoint.
    static func connect(to endpoint: RunningEndpoint) async throws -> FollowingDevice {
        let device = FollowingDevice()
        let credentials = DeviceCredentials(device: endpoint.world.device, secret: 0xFEED)
        _ = try await endpoint.world.store.addDevice(
            credentials.device, secretHash: credentials.secretHash, at: ProviderWorld.now)
        let login = DeviceLogin(device: credentials.device, secret: credentials.secret, received: [])
        let verdict = await withCheckedContinuation { continuation in
            endpoint.mailboxes.open(login, connection: device) { continuation.resume(returning: $0) }
        }
        guard case .welcome = verdict else { throw CancellationError() }
        return device
    }
}

import AldabaTestSupport
import PushCore
import PushServer
import StoreContract

@testable import APNsFrontend

extension StreamedConnection {
    /// Logs the world's device in at an endpoint.
    static func connect(to endpoint: RunningEndpoint) async throws -> StreamedConnection {
        let device = StreamedConnection()
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

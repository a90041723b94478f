import Foundation
import RelayProtocol
import Synchronization

/// The connections that other devices have opened to this app. Each is kept until either end closes it, so that its end
/// is reported even where the app keeps only its handlers.
final class OpenedConnections: Sendable {
    private let connections = Mutex<[UUID: AppServiceConnection]>([:])

    /// How many are open.
    var count: Int { connections.withLock { $0.count } }

    /// The app's end of a connection that another device has opened.
    func open(_ id: UUID, _ info: AppServiceInfo, client: RelayClient) -> AppServiceConnection {
        let connection = AppServiceConnection(opened: id, info, client: client) { [weak self] in _ = self?.remove(id) }
        connections.withLock { $0[id] = connection }
        connection.listen()
        return connection
    }

    /// The other end has closed one.
    func close(_ id: UUID, by reason: RelayCloseReason) { remove(id)?.close(by: reason) }

    /// Closes all connections, since the route to them is lost.
    func closeAll(by reason: RelayCloseReason) {
        let open = connections.withLock { connections in
            defer { connections = [:] }
            return connections
        }
        for connection in open.values { connection.close(by: reason) }
    }

    /// Removes a connection. The caller ends it outside of the lock, since its handlers belong to the app.
    private func remove(_ id: UUID) -> AppServiceConnection? {
        connections.withLock { $0.removeValue(forKey: id) }
    }
}

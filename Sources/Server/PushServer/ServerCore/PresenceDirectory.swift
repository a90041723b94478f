import PushCore
import Synchronization

/// The connected devices, for the hot path. Thread-safe; follows the committed sessions.
final class PresenceDirectory: Sendable {
    private let connections = Mutex<[DeviceID: any DeviceConnection]>([:])

    func connection(of device: DeviceID) -> (any DeviceConnection)? { connections.withLock { $0[device] } }

    var count: Int { connections.withLock { $0.count } }

    func changed(_ device: DeviceID, _ connection: (any DeviceConnection)?) {
        connections.withLock { $0[device] = connection }
    }
}

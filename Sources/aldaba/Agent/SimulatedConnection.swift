import AldabaConfiguration
import DeviceChannel
import NIOCore
import Networking
import Platform
import PushCore
import Synchronization

/// The connection of a simulated device, which reconnects after each end.
final class SimulatedConnection: MCSClientDelegate {
    private struct State {
        var current: MCSClientConnection?
        /// Acknowledged, but not yet confirmed by the server: named at the next login.
        var unconfirmed: Set<NotificationID> = []
        var backOff = BackOff(base: 100, cap: 30_000)
        var isEnded = false
    }

    let loggedInOnce = Readiness<Void>()
    private let device: SimulatedDevice
    private let client: MCSClient
    /// The hello frame by which the device joins an account of relaying; `nil` for none.
    private let hello: [UInt8]?
    private let state = Mutex(State())

    init(_ device: SimulatedDevice, client: MCSClient, hello: [UInt8]? = nil) {
        self.hello = hello
        self.device = device
        self.client = client
    }

    /// Makes an attempt to connect.
    func connect() {
        let received = state.withLock { $0.isEnded ? nil : $0.unconfirmed.sorted() }
        guard let received else { return }
        let connection = client.connect(
            MCSCredentials(device: device.id, secret: device.secret, received: received), delegate: self)
        state.withLock { $0.current = connection }
    }

    /// Closes the connection permanently.
    func end() {
        let current = state.withLock { state -> MCSClientConnection? in
            state.isEnded = true
            return state.current
        }
        current?.close()
    }

    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp) {
        state.withLock { $0.backOff.reset() }
        if let hello { connection.relay(hello) } else { loggedInOnce.settle(.success(())) }
    }

    /// The answer to the hello, or news of other devices.
    func relayed(_ connection: MCSClientConnection, _ frame: [UInt8]) { loggedInOnce.settle(.success(())) }

    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification]) {
        let ids = notifications.map(\.id)
        state.withLock { $0.unconfirmed.formUnion(ids) }
        connection.acknowledge(ids)
    }

    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID]) {
        state.withLock { $0.unconfirmed.subtract(ids) }
    }

    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String]) {}

    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String) {}

    func didDropStanza(_ connection: MCSClientConnection, persistentID: String, reason: String) {}

    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason) {
        switch reason {
        case .loginRefused(code: 401, _):
            loggedInOnce.settle(
                .failure(
                    CommandError(.notAuthorized, "device \(device.id) was not let in: its secret was refused (401)")))
        case .untrusted(let words):
            loggedInOnce.settle(
                .failure(
                    CommandError(
                        .notAuthorized,
                        "the device channel cannot be asked: \(ConnectionFault.commandWords(words))")))
        case .ended: break
        default:
            let pause = state.withLock { state in
                var random = SystemRandomNumberGenerator()
                return state.backOff.next(using: &random)
            }
            connection.eventLoop.scheduleTask(in: .milliseconds(pause)) { self.connect() }
        }
    }
}

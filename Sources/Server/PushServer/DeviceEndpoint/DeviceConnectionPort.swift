import DeviceChannel
import NIOCore
import PushCore

/// The gateway's reference to a connection: it forwards calls from any thread to the connection's event loop.
final class DeviceConnectionPort: DeviceConnection, EndpointConnection {
    private enum State {
        case open(DeviceConnectionShell)
        /// The session has ended. Notifications that the gateway delivers before it is notified of that are returned to
        /// it.
        case ended
        case none
    }

    let network: String?
    private let calls: DeviceCallQueue
    private let gateway: any DeviceGateway
    private let state: NIOLoopBoundBox<State>

    init(calls: DeviceCallQueue, gateway: any DeviceGateway, network: String? = nil) {
        self.network = network
        self.calls = calls
        self.gateway = gateway
        state = .makeBoxSendingValue(.none, eventLoop: calls.eventLoop)
    }

    // Every call passes through the loop's queue, even from the loop itself, so that calls keep their order.

    func deliver(_ notifications: [OutgoingNotification]) { calls.add(.deliver(self, notifications)) }

    func deliverOnLoop(_ notifications: [OutgoingNotification]) {
        switch state.value {
        case .open(let shell): shell.deliver(notifications)
        case .ended:
            let ids = notifications.filter { $0.expiresAt == nil }.map(\.id)
            if !ids.isEmpty { gateway.attempts(ids, became: .notSent) }
        case .none: break
        }
    }

    func waitingChanged() { onLoop { $0.waitingChanged() } }

    func relay(_ frame: [UInt8], isBulk: Bool, then complete: @escaping @Sendable (RelayWriteResult) -> Void) {
        calls.add(.relay(self, RelayedFrame(bytes: frame, isBulk: isBulk, complete: complete)))
    }

    func relayOnLoop(_ frame: RelayedFrame) -> RelayWriteResult {
        if case .open(let shell) = state.value { shell.relay(frame.bytes, isBulk: frame.isBulk) } else { .ended }
    }

    /// Writes the relayed frames.
    func settleOnLoop() { if case .open(let shell) = state.value { shell.settle() } }

    func superseded() {
        end(.superseded)
    }

    func revoked() {
        end(.revoked)
    }

    func stop() { end(.stopping) }

    func registrationsChanged() { onLoop { $0.registrationsChanged() } }

    func end(_ reason: MCSServerCloseReason) {
        onLoop { $0.end(reason) }
    }

    func loginAnswered(_ verdict: DeviceLoginVerdict) {
        calls.add(
            .other { [self] in
                if case .open(let shell) = state.value {
                    shell.loginAnswered(verdict)
                } else if case .welcome(let session, _) = verdict {
                    state.value = .ended
                    gateway.close(session)
                }
            })
    }

    /// Runs a closure on the loop, unless the connection has ended.
    func onLoop(_ body: @escaping @Sendable (DeviceConnectionShell) -> Void) {
        calls.add(
            .other { [state] in
                if case .open(let shell) = state.value { body(shell) }
            })
    }

    // MARK: On the event loop

    func attach(_ shell: DeviceConnectionShell) { state.value = .open(shell) }

    func detach(_ session: DeviceSessionID?) { state.value = session == nil ? .none : .ended }
}

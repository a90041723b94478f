import NIOCore
import PushCore

/// The gateway's reference to a browser's connection: it forwards calls from any thread to the connection's event loop.
final class AutopushPort: DeviceConnection, EndpointConnection {
    private enum State {
        case open(AutopushConnection)
        /// The session has ended. Messages that the gateway delivers before it is notified of that are returned to it.
        case ended
        case none
    }

    let network: String?
    private let eventLoop: any EventLoop
    private let gateway: any DeviceGateway
    private let state: NIOLoopBoundBox<State>

    init(eventLoop: any EventLoop, gateway: any DeviceGateway, network: String?) {
        self.eventLoop = eventLoop
        self.gateway = gateway
        self.network = network
        state = .makeBoxSendingValue(.none, eventLoop: eventLoop)
    }

    func deliver(_ notifications: [OutgoingNotification]) {
        eventLoop.execute { [self] in
            switch state.value {
            case .open(let connection): connection.deliver(notifications)
            case .ended:
                let ids = notifications.filter { $0.expiresAt == nil }.map(\.id)
                if !ids.isEmpty { gateway.attempts(ids, became: .notSent) }
            case .none: break
            }
        }
    }

    func waitingChanged() { onLoop { $0.waitingChanged() } }
    func superseded() { onLoop { $0.end(.superseded) } }
    func revoked() { onLoop { $0.end(.revoked) } }
    func stop() { onLoop { $0.end(.stopping) } }

    /// Calls a closure with the connection on its event loop, unless it has ended.
    func onLoop(_ body: @escaping @Sendable (AutopushConnection) -> Void) {
        eventLoop.execute { [state] in
            if case .open(let connection) = state.value { body(connection) }
        }
    }

    /// Gives the verdict on a login to the connection; a session that was opened for one that has ended is closed.
    func loginAnswered(
        _ verdict: DeviceLoginVerdict, then continuation: @escaping @Sendable (AutopushConnection) -> Void
    ) {
        eventLoop.execute { [self] in
            if case .open(let connection) = state.value {
                continuation(connection)
            } else if case .welcome(let session, _) = verdict {
                state.value = .ended
                gateway.close(session)
            }
        }
    }

    // MARK: On the event loop

    func attach(_ connection: AutopushConnection) { state.value = .open(connection) }

    func detach(hasSession: Bool) { state.value = hasSession ? .ended : .none }
}

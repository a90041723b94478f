import AgentEngine
import AgentProtocol
import PushCore
import RelayAgent

/// Calls between the agent and ``DeviceRelay``, which relays between the devices of one person. It runs on the agent's
/// event loop.
extension Agent: DeviceRelayDelegate {
    /// Calls the relay, which runs on the agent's event loop.
    @discardableResult func onRelay<Value: Sendable>(_ body: (isolated DeviceRelay) -> Value) -> Value {
        relay.assumeIsolated(body)
    }

    /// Takes a relay frame from an app, from an app's relay service, or from a terminal.
    ///
    /// - Returns: Whether the connection may go on.
    func takeRelay(_ frame: [UInt8], _ role: AppRole?, _ connection: AppConnection) -> Bool {
        // A terminal is checked with its first frame.
        if role == nil, !onRelay({ $0.serves(connection) }), !mayManage(connection) { return false }
        let app = role?.app
        let name = app.flatMap { apps[$0]?.manifest.name } ?? (app ?? AppManifest.terminalID).rawValue
        return onRelay { $0.take(frame, from: connection, app: app, name: name) }
    }

    /// Keeps direct connections with other devices until its task is cancelled.
    func runRelay() async {
        guard relay.isDirect else { return }
        let network = KernelNetwork()
        await relay.run()
        network.start { [weak self] in self?.enter { agent in agent.onRelay { $0.networkChanged() } } }
        while !Task.isCancelled { try? await parts.sleep(.seconds(3600)) }
        network.stop()
        await relay.end()
    }

    /// Passes on a relay frame from another device, or from the server.
    package nonisolated func relayed(_ frame: [UInt8]) {
        assumeIsolated { agent in agent.onRelay { $0.receive(frame) } }
    }

    /// Notifies the relay that the session is over.
    package nonisolated func relayingEnded() { assumeIsolated { agent in agent.onRelay { $0.sessionClosed() } } }

    // MARK: Calls of the relay

    /// This device's id; `nil` until it is enrolled.
    package nonisolated var relayingDevice: DeviceID? {
        assumeIsolated { agent in agent.onLink { $0.device } ?? nil }
    }

    /// Sends a frame over the session with the server.
    package nonisolated func sendToRelay(_ frame: [UInt8]) {
        assumeIsolated { agent in _ = agent.onLink { $0.relay(frame) } }
    }

    /// Starts an app that another device asks for, unless it runs.
    package nonisolated func startForRelay(_ app: BundleID) { assumeIsolated { $0.launchForRelay(app) } }

    /// Questions of other devices have ids of the same row as those of apps.
    package nonisolated func nextRelayQuestion() -> NotificationID { assumeIsolated { $0.questions.nextID() } }
}

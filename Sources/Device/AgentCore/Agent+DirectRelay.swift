import DeviceLink
import DirectRelay
import RelayWire

/// Connections with this person's other devices beside the way by the server; there are some where the settings say so.
extension Agent: DirectRelayDelegate {
    /// Calls what has the connections, which runs on the agent's event loop; `nil` without it.
    @discardableResult func onDirect<Value: Sendable>(_ body: (isolated DirectRelay) -> Value) -> Value? {
        direct?.assumeIsolated(body)
    }

    /// Keeps connections until its task is cancelled.
    func runDirect() async {
        guard let direct else { return }
        let network = KernelNetwork()
        await direct.begin(self)
        network.start { [weak self] in self?.enter { agent in agent.onDirect { $0.networkChanged() } } }
        while !Task.isCancelled { try? await parts.sleep(.seconds(3600)) }
        network.stop()
        await direct.end()
    }

    /// Seals what goes by the server.
    package nonisolated func sendByServer(_ route: RelayRoute) { assumeIsolated { $0.seal(.route(route)) } }

    /// Has the host take what came directly.
    package nonisolated func cameDirectly(_ route: RelayRoute) {
        assumeIsolated { $0.followRelay($0.relay.received(.route(route), at: $0.parts.now().rawValue)) }
    }

    /// After what is being followed now, since that may have asked for it itself.
    package nonisolated func notSent(_ answer: RelayFrame) {
        enter { $0.followRelay($0.relay.received(answer, at: $0.parts.now().rawValue)) }
    }

    /// Tells who watches.
    package nonisolated func reached(_ peer: String, isDirect: Bool) {
        enter { $0.followRelay($0.relay.reached(peer, isDirect: isDirect, at: $0.parts.now().rawValue)) }
    }
}

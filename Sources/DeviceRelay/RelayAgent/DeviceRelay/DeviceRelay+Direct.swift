import RelayProtocol

/// Direct connections with this user's other devices, beside the path through the server; used where the settings allow
/// them.
extension DeviceRelay {
    /// Keeps such connections until ``end()``.
    package func run() async { await direct?.begin(self, keys: seals.direct) }

    /// Ends them.
    package func end() async { await direct?.end() }

    /// The machine may have other addresses.
    package func networkChanged() { onDirect { $0.networkChanged() } }

    /// Calls ``DirectRelay``, which runs on the same event loop; `nil` where direct connections are off.
    @discardableResult func onDirect<Value: Sendable>(_ body: (isolated DirectRelay) -> Value) -> Value? {
        direct?.assumeIsolated(body)
    }

    /// Another device reports, through the server, the state of a direct connection.
    func directPath(_ content: RelayContent, _ device: String) {
        switch content {
        case .pathBegins(let connection): onDirect { $0.announced(connection, by: device) }
        case .pathEnded(let connection, let received, let isAnswer):
            onDirect { $0.counted(connection, received: received, isAnswer: isAnswer, by: device) }
        default: break
        }
    }

    /// Something goes to another device by the server.
    package nonisolated func sendByServer(_ route: RelayRoute) { assumeIsolated { $0.seal(.route(route)) } }

    /// Another device's message came directly.
    package nonisolated func cameDirectly(_ route: RelayRoute) {
        assumeIsolated { $0.perform($0.host.received(.route(route), at: $0.parts.now())) }
    }

    /// Runs after the directives that are being followed now, since one of them may be the cause.
    package nonisolated func notSent(_ answer: RelayFrame) {
        enter { $0.perform($0.host.received(answer, at: $0.parts.now())) }
    }

    /// A device is unreachable. The outcome of everything in transit to it is unknown.
    package nonisolated func lost(_ peer: String) {
        enter { $0.perform($0.host.lost(peer, at: $0.parts.now())) }
    }

    /// Notifies watchers of the changed path and, when it is direct, describes this device to the other.
    package nonisolated func reached(_ peer: String, isDirect: Bool) {
        enter { $0.perform($0.host.reached(peer, isDirect: isDirect, at: $0.parts.now())) }
    }
}

import DeviceSession

/// How a device endpoint listens and what it allows.
public struct DeviceEndpointConfiguration: Hashable, Sendable {
    /// The address to listen on.
    public var host: String
    /// 0 takes a free port; ``DeviceEndpoint/start()`` returns the real one.
    public var port: Int
    /// How many connections may be open, logged in or not; further ones are closed at once.
    public var maximumConnections = 200_000
    /// Times and limits of each session.
    public var session = MCSServerConfiguration()
    /// How long ``DeviceEndpoint/stop()`` waits for connections to end, in milliseconds.
    public var stopGrace: Int64 = 2000

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

import ConnectionAdmission
import DeviceSession

/// How a device endpoint listens and what it allows.
public struct DeviceEndpointConfiguration: Sendable {
    /// The address to listen on.
    public var host: String
    /// 0 takes a free port; ``DeviceEndpoint/start()`` returns the real one.
    public var port: Int
    /// Which connections are kept. By default only 16,384 may be open without a login, which bounds the memory that
    /// devices hold before they are known.
    public var admission = ConnectionLimiter.Configuration(
        limits: .init(total: 200_000, perAddress: 200_000, unproven: 16_384), proofTimeout: .seconds(15))
    /// How many devices may log in within a second; the others are told when to come again. A login with its TLS handshake takes
    /// about 0.7 ms of a processor (`Benchmarks/channel`): so many leave two processors time for what else there is to do,
    /// which a limit beyond what they can do at all would not.
    public var loginsPerSecond = 1_000
    /// How many may log in at once after a time without logins.
    public var loginBurst = 10_000
    /// Times and limits of each session.
    public var session = MCSServerConfiguration()
    /// How long ``DeviceEndpoint/stop()`` waits for connections to end, in milliseconds.
    public var stopGrace: Int64 = 2000

    /// Takes the address; the other values are those at their properties.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

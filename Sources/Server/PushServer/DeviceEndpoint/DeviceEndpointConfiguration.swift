import DeviceChannel
import NIOCore
import Networking

/// The addresses and limits of a device endpoint.
package struct DeviceEndpointConfiguration: Sendable {
    /// The address to listen on.
    package var host: String
    /// The port; 0 takes a free port, and ``DeviceEndpoint/start()`` returns the real one.
    package var port: Int
    /// The limits on connections. By default only 16,384 may be open without a login, which bounds the memory that
    /// devices use before they are authenticated.
    package var admission = ConnectionLimiter.Configuration(
        limits: .init(total: 200_000, perAddress: 200_000, unproven: 16_384), proofTimeout: .seconds(15))
    /// The maximum number of logins per second; other devices are told when to reconnect. A login with its TLS
    /// handshake takes about 0.7 ms of a processor (`Benchmarks/channel`). The default leaves two processors time for
    /// other work, which a limit above their capacity would not.
    package var loginsPerSecond = 1_000
    /// The maximum number of logins at once after a time without logins.
    package var loginBurst = 10_000
    /// Times and limits of each session.
    package var session = MCSServerConfiguration()
    /// The pace at which ``DeviceEndpoint/stop()`` closes connections.
    package var stopPace = StopPace.alone
    /// The time for which ``DeviceEndpoint/stop()`` waits for connections to end after the last one was asked to, in milliseconds.
    package var stopGrace: Int64 = 2000

    /// The pace at which connections are closed, a slice every 5 ms.
    package struct StopPace: Hashable, Sendable {
        /// The minimum number of connections of a slice.
        package var slice: Int
        /// The approximate maximum number of slices, however many connections there are.
        package var slices: Int

        /// Half a second at most: devices have no other server.
        package static let alone = StopPace(slice: 256, slices: 100)
        /// Two thousand devices a second, which other servers can take at the same time, and five seconds at most.
        package static let amongOthers = StopPace(slice: 10, slices: 1_000)
    }

    /// The longest time that stopping takes, in milliseconds.
    var longestStop: Int64 {
        max(0, stopGrace) + Int64(stopPace.slices) * DeviceConnectionRegistry.sliceInterval
    }

    /// Whether a peer may speak without TLS: one on this machine, or a proxy that is exempt from the limits by address.
    func isTrusted(_ peer: SocketAddress?) -> Bool {
        guard let peer, let address = peer.ipAddress else { return false }
        return address.hasPrefix("127.") || address == "::1" || address.hasPrefix("::ffff:127.")
            || admission.exempt.contains { $0.contains(peer) }
    }

    /// Creates a configuration with an address; the other values are the properties' defaults.
    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }
}

import Logging
import NIOCore
import NIOPosix
import Networking

/// The limits and times of a client.
public struct APNsOptions: Sendable {
    /// The number of connections that take requests.
    public var maximumConnections = 8
    /// The number of requests that are open: queued or in flight. Beyond it `send` suspends before it queues.
    public var maximumOpenRequests = 4096
    /// The time in which a request must end, the time in the queue included.
    public var deadline = Duration.seconds(30)
    /// How many times a request that was not processed is sent again.
    public var maximumResends = 4
    /// Whether a request that got no answer is sent again under the same `apns-id`. It may show twice.
    public var resendsUnanswered = false
    /// Whether requests wait, up to their deadline, until a connection can be made. If not, they fail with the attempt.
    public var waitsForConnectivity = true
    /// The age at which a connection is replaced, give or take a tenth.
    public var maximumConnectionAge = Duration.seconds(12 * 3600)
    /// The time after which an idle connection is checked by PING.
    public var idleTime = Duration.seconds(300)
    /// The time without any answer after which a connection with open requests is checked by PING.
    public var silenceTime = Duration.seconds(15)
    /// The time within which PING must be acknowledged.
    public var pingTime = Duration.seconds(10)
    /// The event loops of the connections.
    public var eventLoopGroup: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    /// The logger; nothing secret is logged.
    public var logger = Logger(label: "aldaba.apns")

    /// The check of the addresses that the client connects to; `nil` for none.
    package var addressGuard: AddressGuard?

    /// Creates the defaults.
    public init() {}

    func rules(startsWithOneStream: Bool) -> ConnectionPool.Rules {
        var rules = ConnectionPool.Rules()
        rules.connections = max(1, maximumConnections)
        rules.resends = max(0, maximumResends)
        rules.resendsUnanswered = resendsUnanswered
        rules.waitsForConnectivity = waitsForConnectivity
        rules.startsWithOneStream = startsWithOneStream
        rules.age = maximumConnectionAge
        rules.idleTime = idleTime
        rules.silenceTime = silenceTime
        rules.pingTime = pingTime
        return rules
    }
}

import Foundation
import NIOCore
import NIOPosix
import Networking
import PushCore
import Synchronization

/// A sender for tests: a whole client, whose connections lead to a server in memory. Thread-safe.
///
/// Every request is accepted unless a fault was added. Faults are those of the command `aldaba fault`.
public final class APNsDouble: APNsSending {
    /// A request that arrived at the server in memory.
    public struct Request: Hashable, Sendable {
        /// The device token, or the id of the broadcast channel.
        public let target: String
        /// The number of the connection, from 1.
        public let connection: Int
        /// The header fields by name.
        public let fields: [String: String]
        /// The payload.
        public let payload: [UInt8]
    }

    /// A fault that the server in memory has.
    public enum Fault: Hashable, Sendable {
        /// The request is refused with a status and a reason.
        case answer(status: Int, reason: String)
        /// The request is refused because its device token is dead since a time.
        case tokenDead(since: Date)
        /// The connection ends with GOAWAY, and the request was not processed.
        case goAway
        /// The stream is reset with REFUSED_STREAM, and the request was not processed.
        case refuseStream
        /// The request is accepted, and SETTINGS allow one stream at a time from then on.
        case oneStream
        /// The connection is closed, and the request may have been processed.
        case cut
        /// The request gets no answer.
        case silence
        /// The request is accepted after a time.
        case delay(Duration)
    }

    private let server = ServerInMemory()
    private let client: APNsClient

    /// Creates a double without faults. Its options are those of a client.
    public init(options: APNsOptions = APNsOptions()) {
        let pool = PoolClient(
            transport: server, rules: options.rules(startsWithOneStream: false), limit: options.maximumOpenRequests,
            tokens: nil, clocks: .system, eventLoop: options.eventLoopGroup.next(), logger: options.logger)
        client = APNsClient(pool: pool, authority: "apns.test", deadline: options.deadline)
    }

    /// Adds a fault for the next requests.
    ///
    /// - Parameters:
    ///   - target: The device token or channel of the requests; `nil` for any.
    ///   - times: The number of requests.
    public func add(_ fault: Fault, for target: String? = nil, times: Int = 1) {
        server.add(fault, for: target, times: times)
    }

    /// The requests that arrived, in order.
    public var requests: [Request] { server.requests }

    /// Sends a notification to the server in memory; see ``APNsSending/send(_:to:)``.
    public func send(_ notification: APNsNotification, to token: String) async throws(APNsSendError) -> APNsResult {
        try await client.send(notification, to: token)
    }

    /// Publishes a notification on the server in memory; see ``APNsSending/publish(_:on:)``.
    public func publish(_ notification: APNsNotification, on channel: String) async throws(APNsSendError) -> APNsResult
    {
        try await client.publish(notification, on: channel)
    }

    /// Ends the double's client.
    public func shutDown(grace: Duration = .seconds(30)) async { await client.shutDown(grace: grace) }
}

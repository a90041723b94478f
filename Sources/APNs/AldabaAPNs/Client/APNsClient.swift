import APNsProtocol
import Foundation
import Networking
import PushCore

/// A sender of notifications: an ``APNsClient``, or an ``APNsDouble`` in tests.
public protocol APNsSending: Sendable {
    /// Sends a notification to a device and waits for the result.
    ///
    /// A refusal is a value. The call suspends while too many requests are open.
    ///
    /// - Parameter token: The device token in hexadecimal.
    /// - Throws: ``APNsSendError`` where it is not known whether the notification was accepted, or it was not sent.
    func send(_ notification: APNsNotification, to token: String) async throws(APNsSendError) -> APNsResult

    /// Publishes a notification of a Live Activity on a broadcast channel and waits for the result.
    ///
    /// - Parameter channel: The id of the channel.
    /// - Throws: ``APNsSendError`` where it is not known whether the notification was accepted, or it was not sent.
    func publish(_ notification: APNsNotification, on channel: String) async throws(APNsSendError) -> APNsResult
}

/// A client of APNs with one credential: its connections, its queue and its provider token. Thread-safe.
public final class APNsClient: APNsSending {
    private let pool: PoolClient
    private let authority: String
    private let deadline: Duration
    /// Bodies of responses hold a reason and a time.
    private static let responseBytes = 16 << 10

    /// Creates a client. The first request makes the first connection.
    ///
    /// - Throws: ``APNsCredential/Fault`` for a credential, or authorities of the server, that cannot be used.
    public init(
        credential: APNsCredential, server: APNsServer = .production, options: APNsOptions = APNsOptions()
    ) throws(APNsCredential.Fault) {
        pool = try PoolClient(
            credential: credential, server: server, options: options, responseBytes: Self.responseBytes)
        authority = server.authority
        deadline = options.deadline
    }

    init(pool: PoolClient, authority: String, deadline: Duration) {
        self.pool = pool
        self.authority = authority
        self.deadline = deadline
    }

    /// The number of calls that wait until fewer requests are open.
    public var waitingCalls: Int { pool.waitingCount }

    /// Sends a notification to a device and waits for the result; see ``APNsSending/send(_:to:)``.
    public func send(_ notification: APNsNotification, to token: String) async throws(APNsSendError) -> APNsResult {
        if let reason = notification.localRefusal(token: token) { return counted(Refusal.result(of: reason)) }
        let id = notification.id ?? .random()
        return try await result(of: notification, id: id) { [authority] in
            notification.message(to: token, id: id, authority: authority)
        }
    }

    /// Publishes a notification on a broadcast channel; see ``APNsSending/publish(_:on:)``.
    public func publish(_ notification: APNsNotification, on channel: String) async throws(APNsSendError) -> APNsResult
    {
        if let reason = notification.localRefusal(channel: channel) { return counted(Refusal.result(of: reason)) }
        let id = notification.id ?? .random()
        return try await result(of: notification, id: id) { [authority] in
            notification.message(on: channel, id: id, authority: authority)
        }
    }

    /// Sends a request whose path and fields the caller has made, and returns the response as it came.
    ///
    /// - Parameters:
    ///   - path: The path, `/3/device/TOKEN`.
    ///   - fields: The fields apart from `authorization` and the pseudo-header fields.
    /// - Throws: ``APNsSendError`` where there is no response.
    package func response(
        to path: String, fields: [(name: String, value: String)], body: [UInt8]
    ) async throws(APNsSendError) -> HTTP2Response {
        let outcome = await pool.request(within: deadline) { [authority] in
            var message = PoolMessage(method: "POST", authority: authority, path: path, body: body)
            for (name, value) in fields { message.headers.append(name, value) }
            return message
        }
        switch outcome {
        case .response(let response):
            pool.metrics.count(Refusal(response)?.result.outcome ?? .accepted)
            return response
        case .failure(let cause, let mayHaveBeenProcessed, let detail):
            pool.metrics.count(.unknown)
            throw APNsSendError(
                cause: cause.publicCause, mayHaveBeenProcessed: mayHaveBeenProcessed, detail: detail)
        }
    }

    /// Takes no more notifications, and fails those that are not in flight, as not processed.
    package func stop() { pool.stop() }

    /// Takes no more notifications, waits for the results of the open ones, and closes the connections.
    ///
    /// - Parameter grace: The time after which open notifications fail.
    public func shutDown(grace: Duration = .seconds(30)) async { await pool.shutDown(grace: grace) }

    private func result(
        of notification: APNsNotification, id: UUID, _ message: @Sendable () -> PoolMessage
    ) async throws(APNsSendError) -> APNsResult {
        switch await pool.request(within: deadline, message) {
        case .response(let response):
            guard let refusal = Refusal(response) else {
                return counted(.accepted(apnsID: id, uniqueID: response.header("apns-unique-id")))
            }
            return counted(refusal.result)
        case .failure(let cause, let mayHaveBeenProcessed, let detail):
            pool.metrics.count(.unknown)
            throw APNsSendError(
                cause: cause.publicCause, mayHaveBeenProcessed: mayHaveBeenProcessed, apnsID: id, detail: detail)
        }
    }

    private func counted(_ result: APNsResult) -> APNsResult {
        pool.metrics.count(result.outcome)
        return result
    }
}

extension APNsResult {
    fileprivate var outcome: ClientMetrics.Outcome {
        switch self {
        case .accepted: .accepted
        case .tokenDead: .tokenDead
        case .fixConfiguration: .fixConfiguration
        case .retryAfter: .retryAfter
        case .dropped: .dropped
        }
    }
}

extension ConnectionPool.Cause {
    /// The cause for callers.
    var publicCause: APNsSendError.Cause {
        switch self {
        case .deadline: .deadline
        case .cancelled: .cancelled
        case .connectionLost: .connectionLost
        case .refused: .refused
        case .unreachable: .unreachable
        case .shutDown: .shutDown
        }
    }
}

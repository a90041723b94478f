import Foundation
import Networking
import PushCore

/// The broadcast channels of an app: creation, reading, deletion and list. Thread-safe.
///
/// Apple's servers of channels are ``APNsServer/productionChannels`` and ``APNsServer/developmentChannels``.
public final class APNsChannels: Sendable {
    /// The storage of what is published on a channel.
    public enum StoragePolicy: Int, Hashable, Sendable {
        /// Nothing is stored; the budget of publishing is larger.
        case none = 0
        /// The latest message is stored for a time.
        case latestMessage = 1
    }

    /// The reply to a request.
    public enum Reply<Value: Sendable>: Sendable {
        /// The value that was asked for.
        case done(Value)
        /// A refusal, and what to do.
        case refused(APNsResult)
    }

    private let pool: PoolClient
    private let authority: String
    private let deadline: Duration
    private let bundleID: String
    /// An app has at most 10,000 channels, whose ids have no fixed size.
    private static let responseBytes = 1 << 20

    /// Creates a client of the channels of an app.
    ///
    /// - Throws: ``APNsCredential/Fault`` for a credential, authorities or a bundle id that cannot be used.
    public init(
        credential: APNsCredential, bundleID: String, server: APNsServer = .productionChannels,
        options: APNsOptions = APNsOptions()
    ) throws(APNsCredential.Fault) {
        guard APNsNotification.isPathText(bundleID) else {
            throw APNsCredential.Fault(description: "the bundle id has other characters than A-Z a-z 0-9 - .")
        }
        pool = try PoolClient(
            credential: credential, server: server, options: options, responseBytes: Self.responseBytes)
        authority = server.authority
        deadline = options.deadline
        self.bundleID = bundleID
    }

    /// Creates a channel.
    ///
    /// - Returns: The id of the channel.
    /// - Throws: ``APNsSendError`` where it is not known whether the channel was created.
    public func create(_ policy: StoragePolicy) async throws(APNsSendError) -> Reply<String> {
        let body = #"{"message-storage-policy":\#(policy.rawValue),"push-type":"LiveActivity"}"#
        let response = try await response("POST", "channels", body: Array(body.utf8))
        return Self.reply(response) { response.header("apns-channel-id") }
    }

    /// Reads the storage policy of a channel.
    ///
    /// - Throws: ``APNsSendError`` where there is no response.
    public func policy(of channel: String) async throws(APNsSendError) -> Reply<StoragePolicy> {
        let response = try await response("GET", "channels", channel: channel)
        return Self.reply(response) {
            // A body that is no JSON object has no policy.
            let number = (try? JSONValue(object: response.body))?["message-storage-policy"]?.integer
            return number.flatMap { StoragePolicy(rawValue: Int($0)) }
        }
    }

    /// Deletes a channel.
    ///
    /// - Throws: ``APNsSendError`` where it is not known whether the channel was deleted.
    public func delete(_ channel: String) async throws(APNsSendError) -> Reply<Void> {
        let response = try await response("DELETE", "channels", channel: channel)
        return Self.reply(response) {}
    }

    /// Reads the ids of all channels of the app.
    ///
    /// - Throws: ``APNsSendError`` where there is no response.
    public func list() async throws(APNsSendError) -> Reply<[String]> {
        let response = try await response("GET", "all-channels")
        return Self.reply(response) {
            // A body that is no JSON object has no list.
            (try? JSONValue(object: response.body))?["channels"]?.items?.compactMap(\.text)
        }
    }

    /// Closes the connection when the open requests have ended, or after a time.
    public func shutDown(grace: Duration = .seconds(30)) async { await pool.shutDown(grace: grace) }

    private func response(
        _ method: String, _ path: String, channel: String? = nil, body: [UInt8] = []
    ) async throws(APNsSendError) -> HTTP2Response {
        let id = UUID()
        let outcome = await pool.request(within: deadline) { [authority, bundleID] in
            var message = PoolMessage(
                method: method, authority: authority, path: "/1/apps/\(bundleID)/\(path)", body: body)
            message.headers.append("apns-request-id", id.uuidString.lowercased())
            if let channel { message.headers.append("apns-channel-id", channel) }
            return message
        }
        switch outcome {
        case .response(let response): return response
        case .failure(let cause, let mayHaveBeenProcessed, let detail):
            throw APNsSendError(
                cause: cause.publicCause, mayHaveBeenProcessed: mayHaveBeenProcessed, apnsID: id, detail: detail)
        }
    }

    private static func reply<Value>(_ response: HTTP2Response, _ value: () -> Value?) -> Reply<Value> {
        if let refusal = Refusal(response) { return .refused(refusal.result) }
        guard let value = value() else {
            // A success without what was asked for is no answer of this protocol.
            return .refused(.dropped(APNsRefusalReason(rawValue: "HTTP \(response.status)")))
        }
        return .done(value)
    }
}

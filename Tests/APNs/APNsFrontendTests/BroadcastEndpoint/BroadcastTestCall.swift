import APNsProtocol
import Networking
import PushCore
import Testing

@testable import APNsFrontend

/// A request of the interface of broadcast channels.
struct BroadcastTestCall: Sendable, CustomTestStringConvertible {
    static let channels = "/1/apps/com.example.todo/channels"
    static let allChannels = "/1/apps/com.example.todo/all-channels"
    static let broadcasts = "/4/broadcasts/apps/com.example.todo"
    /// The id of a channel that there is not.
    static let unknownChannel = "AAECAwQFBgcICQoLDA0ODw=="
    private static let payload = #"{"aps":{"event":"update","timestamp":1,"content-state":{"stop":2}}}"#

    var method: String
    var path: String
    var fields: [(String, String)] = []
    var body = ""

    var testDescription: String { "\(method) \(path)" }

    static func create(_ policy: Int) -> BroadcastTestCall {
        BroadcastTestCall(
            method: "POST", path: channels, body: #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
    }

    static func read(_ channel: String) -> BroadcastTestCall {
        BroadcastTestCall(method: "GET", path: channels, fields: [("apns-channel-id", channel)])
    }

    static func delete(_ channel: String) -> BroadcastTestCall {
        BroadcastTestCall(method: "DELETE", path: channels, fields: [("apns-channel-id", channel)])
    }

    static let list = BroadcastTestCall(method: "GET", path: allChannels)

    static func publish(_ channel: String, _ fields: [(String, String)] = []) -> BroadcastTestCall {
        BroadcastTestCall(
            method: "POST", path: broadcasts,
            fields: [("apns-channel-id", channel), ("apns-push-type", "liveactivity")] + fields, body: payload)
    }

    /// One of each kind, about a channel.
    static func all(_ channel: String) -> [BroadcastTestCall] {
        [create(1), read(channel), list, publish(channel), delete(channel)]
    }
}

extension RunningEndpoint {
    /// Sends a request about channels, changed by `change`.
    func send(
        _ call: BroadcastTestCall, on client: HTTP2Client? = nil,
        _ change: (inout ProviderWorld) throws -> Void = { _ in }
    ) async throws -> HTTP2Response {
        try await send(on: client) { request in
            request.set(":method", call.method)
            request.set(":path", call.path)
            request.set("apns-topic", nil)
            for (name, value) in call.fields { request.set(name, value) }
            request.body = Array(call.body.utf8)
            try change(&request)
        }
    }

    /// Creates a channel.
    func createChannel(_ policy: Int = 1) async throws -> String {
        let created = try await send(.create(policy))
        #expect(created.status == 201)
        return try #require(created.header("apns-channel-id"))
    }
}

/// Expects a refusal with this reason.
func expect(_ response: HTTP2Response, _ reason: APNsReason, _ comment: Comment? = nil) {
    #expect(response.status == reason.status, comment)
    #expect(response.text == #"{"reason":"\#(reason.rawValue)"}"#, comment)
}

extension HTTP2Response {
    /// The body as text.
    var text: String { String(decoding: body, as: UTF8.self) }
}

import Logging
import Synchronization
import Testing

@testable import AldabaAPNs

@Suite(.timeLimit(.minutes(1))) struct APNsChannelsTests {
    private func withChannels(
        reply: @escaping @Sendable (SeenRequest) -> Reply, _ body: (APNsChannels, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try await LoopbackServer.start(reply: reply)
        let channels = try APNsChannels(
            credential: TestKey.credential(), bundleID: "com.example.app", server: server.address)
        let outcome: Result<Void, any Error>
        do {
            try await body(channels, server)
            outcome = .success(())
        } catch { outcome = .failure(error) }
        await channels.shutDown()
        await server.stop()
        try outcome.get()
    }

    @Test func `channels are created, read, listed and deleted as Apple documents`() async throws {
        try await withChannels(reply: { request in
            switch (request.fields[":method"], request.path) {
            case ("POST", "/1/apps/com.example.app/channels"): .answer(201, [("apns-channel-id", "Y2g=")], "")
            case ("GET", "/1/apps/com.example.app/channels"):
                .answer(200, [], #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#)
            case ("GET", "/1/apps/com.example.app/all-channels"): .answer(200, [], #"{"channels":["Y2g=","eA=="]}"#)
            case ("DELETE", "/1/apps/com.example.app/channels"): .answer(204, [], "")
            default: .refuse(404, "BadPath")
            }
        }) { channels, server in
            guard case .done("Y2g=") = try await channels.create(.latestMessage),
                case .done(.latestMessage) = try await channels.policy(of: "Y2g="),
                case .done(["Y2g=", "eA=="]) = try await channels.list(),
                case .done = try await channels.delete("Y2g=")
            else {
                Issue.record("a reply is not what was asked for")
                return
            }
            let requests = server.requests
            #expect(requests[0].body == Array(#"{"message-storage-policy":1,"push-type":"LiveActivity"}"#.utf8))
            #expect(requests.map { $0.fields["apns-channel-id"] } == [nil, "Y2g=", nil, "Y2g="])
            #expect(requests.allSatisfy { $0.fields["authorization"]?.hasPrefix("bearer ") == true })
            #expect(requests.allSatisfy { $0.fields["apns-topic"] == nil })
        }
    }

    @Test func `as many channels as an app may have are listed`() async throws {
        let ids = (0..<10_000).map { "channel\($0)bm90aGluZ2VsdmVzZQ==" }
        let body = #"{"channels":[\#(ids.map { "\"\($0)\"" }.joined(separator: ","))]}"#
        try await withChannels(reply: { _ in .answer(200, [], body) }) { channels, _ in
            guard case .done(let found) = try await channels.list() else {
                Issue.record("no list")
                return
            }
            #expect(found == ids)
        }
    }

    @Test func `a refusal is a value`() async throws {
        try await withChannels(reply: { _ in .refuse(400, "ChannelNotRegistered") }) { channels, _ in
            guard case .refused(.dropped(.channelNotRegistered)) = try await channels.delete("Y2g=") else {
                Issue.record("not refused")
                return
            }
        }
    }

    @Test func `a bundle id that is no part of a path is refused`() {
        #expect(throws: APNsCredential.Fault.self) {
            try APNsChannels(credential: TestKey.credential(), bundleID: "a/../b")
        }
    }
}

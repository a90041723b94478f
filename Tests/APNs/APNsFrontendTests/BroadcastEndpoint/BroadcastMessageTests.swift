import APNsProtocol
import AldabaTestSupport
import Foundation
import NIOPosix
import Networking
import PushCore
import PushServer
import StoreContract
import StoreMemory
import Testing

@testable import APNsFrontend

/// Messages to broadcast channels over real connections.
@Suite(.timeLimit(.minutes(5))) struct BroadcastMessageTests {
    @Test func `a message comes to the devices that follow its channel`() async throws {
        try await withEndpoint { endpoint in
            let (id, other) = (try await endpoint.createChannel(), try await endpoint.createChannel())
            let device = try await StreamedConnection.connect(to: endpoint)
            func follow(isLeaving: Bool) async throws -> DeviceTopicOutcome {
                try await endpoint.channels.setSubscription(
                    id, ofToken: try endpoint.world.token().description, device: endpoint.world.device,
                    isLeaving: isLeaving)
            }
            func publish(_ text: String, to channel: String) async throws {
                let answer = try await endpoint.send(.publish(channel)) { request in
                    request.body = Array(#"{"aps":"\#(text)"}"#.utf8)
                }
                #expect(answer.status == 200)
            }
            try await publish("before it follows", to: id)
            #expect(try await follow(isLeaving: false) == .done)
            #expect(try await follow(isLeaving: false) == .done, "a repetition changes nothing")
            try await publish("of another channel", to: other)
            try await publish("first", to: id)
            let delivered = try #require(await device.next())
            #expect(String(decoding: delivered.payload, as: UTF8.self) == #"{"aps":"first"}"#)
            #expect(delivered.pushType == .liveactivity && delivered.topic == endpoint.world.app.topic)
            #expect(delivered.collapseID == LiveActivityTarget.channel(id).collapseID)
            #expect(delivered.environment == .sandbox)
            #expect(try await follow(isLeaving: true) == .done)
            try await publish("after it has left", to: id)
            #expect(try await follow(isLeaving: false) == .done)
            try await publish("second", to: id)
            let next = try #require(await device.next())
            #expect(String(decoding: next.payload, as: UTF8.self) == #"{"aps":"second"}"#)
        }
    }

    @Test func `a message has a timeline under the id of its answer`() async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            let answer = try await endpoint.send(.publish(id))
            #expect(answer.status == 200 && answer.body.isEmpty)
            let unique = try #require(answer.header("apns-unique-id"))
            #expect(answer.header("apns-request-id") == unique, "no id was sent, so the message's own is answered")
            let found = try await Timelines(store: endpoint.store, mailboxes: endpoint.mailboxes).timelines(
                of: unique, team: ProviderWorld.team)
            let timeline = try #require(found.first)
            #expect(timeline.entries.map(\.state) == [.accepted])
            #expect(timeline.broadcast?.audience == "channel \(id)")
        }
    }

    @Test func `a device follows only channels that there are, with its own token`() async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            let (world, channels) = (endpoint.world, endpoint.channels)
            let token = try world.token().description
            let stranger = try #require(DeviceID(8))
            func follow(
                _ channel: String, token: String, device: DeviceID, isLeaving: Bool = false
            ) async throws -> DeviceTopicOutcome {
                try await channels.setSubscription(channel, ofToken: token, device: device, isLeaving: isLeaving)
            }
            #expect(
                try await follow(BroadcastTestCall.unknownChannel, token: token, device: world.device) == .invalidTopic)
            #expect(try await follow("news", token: token, device: world.device) == .invalidTopic)
            #expect(try await follow(id, token: token, device: stranger) == .foreignToken)
            #expect(try await follow(id, token: "abc", device: world.device) == .foreignToken)
            let production = try world.token(.production).description
            #expect(
                try await follow(id, token: production, device: world.device) == .invalidTopic,
                "the channel is of the sandbox")
            // A device leaves a channel that was deleted.
            #expect(try await follow(id, token: token, device: world.device) == .done)
            #expect(try await endpoint.send(.delete(id)).status == 204)
            #expect(try await follow(id, token: token, device: world.device) == .invalidTopic)
            #expect(try await follow(id, token: token, device: world.device, isLeaving: true) == .done)
        }
    }

    @Test(
        arguments: [(0, nil, true), (0, "0", true), (0, "1780300000", false), (1, nil, true), (1, "0", true)]
            + [(1, "1780300000", true)] as [(Int, String?, Bool)])
    func `a channel that stores nothing takes no expiration`(
        policy: Int, expiration: String?, isTaken: Bool
    ) async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel(policy)
            let fields = expiration.map { [("apns-expiration", $0)] } ?? []
            let answer = try await endpoint.send(.publish(id, fields))
            if isTaken { #expect(answer.status == 200) } else { expect(answer, .badExpirationDate) }
        }
    }

    @Test func `a message to a channel that there is not is refused`() async throws {
        try await withEndpoint { endpoint in
            let answer = try await endpoint.send(.publish(BroadcastTestCall.unknownChannel))
            expect(answer, .channelNotRegistered)
            #expect(answer.header("apns-unique-id") == nil)
        }
    }

    @Test func `a message in production has its id as well`() async throws {
        try await withEndpoint(environment: .production) { endpoint in
            let id = try await endpoint.createChannel()
            let answer = try await endpoint.send(.publish(id))
            #expect(answer.status == 200)
            #expect(answer.header("apns-unique-id").flatMap(ServerAPNsID.id) != nil)
        }
    }
}

import APNsProtocol
import AldabaTestSupport
import Foundation
import NIOPosix
import Networking
import PushCore
import PushServer
import StoreMemory
import Testing

@testable import APNsFrontend

/// The interface of broadcast channels over real connections.
@Suite(.timeLimit(.minutes(5))) struct BroadcastEndpointTests {
    // MARK: Channels

    @Test(arguments: [0, 1])
    func `a channel is created, read, listed and deleted`(policy: Int) async throws {
        try await withEndpoint { endpoint in
            let created = try await endpoint.send(.create(policy))
            #expect(created.status == 201 && created.body.isEmpty)
            let id = try #require(created.header("apns-channel-id"))
            #expect(ChannelID(text: id) != nil)

            let read = try await endpoint.send(.read(id))
            #expect(read.status == 200 && read.header("content-type") == "application/json")
            #expect(read.text == #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#)
            #expect(read.header("apns-channel-id") == nil)

            let list = try await endpoint.send(.list)
            #expect(list.status == 200)
            #expect(list.text == #"{"channels":["\#(id)"]}"#)

            let deleted = try await endpoint.send(.delete(id))
            #expect(deleted.status == 204 && deleted.body.isEmpty)
            expect(try await endpoint.send(.delete(id)), .channelNotRegistered)
            expect(try await endpoint.send(.read(id)), .channelNotRegistered)
            #expect(try await endpoint.send(.list).text == #"{"channels":[]}"#)
        }
    }

    @Test func `a channel is of one app and one environment`() async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            var other = BroadcastTestCall.read(id)
            other.path = "/1/apps/com.example.other/channels"
            expect(try await endpoint.send(other), .channelNotRegistered)
            other = .publish(id)
            other.path = "/4/broadcasts/apps/com.example.other"
            expect(try await endpoint.send(other), .channelNotRegistered)
            let places = PushEnvironment.allCases.map { AppPlace(app: endpoint.world.app.id, environment: $0) }
            var found: [PushEnvironment] = []
            for place in places where try await !endpoint.channels.channels(of: place).isEmpty {
                found.append(place.environment)
            }
            #expect(found == [.sandbox])
        }
    }

    @Test func `an app has as many channels as it may`() async throws {
        try await withEndpoint { endpoint in
            var generator = SeededGenerator(seed: 9)
            let first = ChannelID.random(using: &generator)
            for number in 0..<BroadcastChannels.limit {
                let id = number == 0 ? first : ChannelID.random(using: &generator)
                #expect(
                    try await endpoint.register.addChannel(
                        BroadcastChannel(
                            id: id, app: endpoint.world.app.id, environment: .sandbox, policy: .noMessageStored,
                            createdAt: ProviderWorld.now), limit: BroadcastChannels.limit))
            }
            expect(try await endpoint.send(.create(1)), .cannotCreateChannelConfig)
            #expect(try await endpoint.send(.delete(first.description)).status == 204)
            _ = try await endpoint.createChannel()
            expect(try await endpoint.send(.create(1)), .cannotCreateChannelConfig)
        }
    }

    // MARK: Answers

    @Test func `every answer carries the request's id, as sent or as made`() async throws {
        let sent = "C0FFEE00-0000-4000-8000-00000000000A"
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            let calls =
                BroadcastTestCall.all(id) + [
                    .read(BroadcastTestCall.unknownChannel), .publish(BroadcastTestCall.unknownChannel),
                ]
            for call in calls {
                for name in ["apns-request-id", "apns-id"] {
                    let own = try await endpoint.send(call) { $0.set(name, sent) }
                    #expect(own.header("apns-request-id") == sent, "\(call.testDescription)")
                    #expect(own.header("apns-id") == nil, "\(call.testDescription)")
                }
                let made = try await endpoint.send(call)
                let own = try #require(made.header("apns-request-id"), "\(call.testDescription)")
                #expect(UUID(uuidString: own) != nil, "\(call.testDescription)")
            }
            let malformed = try await endpoint.send(.list) { $0.set("apns-request-id", "not-a-uuid") }
            expect(malformed, .badMessageId)
            #expect(malformed.header("apns-request-id").flatMap(UUID.init(uuidString:)) != nil)
        }
    }

    @Test(arguments: [
        (BroadcastTestCall.channels, "PUT", "DELETE, GET, POST"),
        (BroadcastTestCall.channels, "PATCH", "DELETE, GET, POST"), (BroadcastTestCall.allChannels, "POST", "GET"),
        (BroadcastTestCall.allChannels, "DELETE", "GET"), (BroadcastTestCall.broadcasts, "GET", "POST"),
        (BroadcastTestCall.broadcasts, "DELETE", "POST"),
    ])
    func `a method that a path does not have is answered with those that it has`(
        path: String, method: String, allowed: String
    ) async throws {
        try await withEndpoint { endpoint in
            let answer = try await endpoint.send(BroadcastTestCall(method: method, path: path))
            expect(answer, .methodNotAllowed)
            #expect(answer.header("allow") == allowed)
            let head = try await endpoint.send(BroadcastTestCall(method: "HEAD", path: path))
            #expect(head.status == 405 && head.body.isEmpty && head.header("allow") == allowed)
        }
    }

    @Test func `a register that fails is 503, and the same request is taken later`() async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            endpoint.register.isFailing.store(true)
            for call in BroadcastTestCall.all(id) {
                let refused = try await endpoint.send(call)
                expect(refused, .serviceUnavailable, "\(call.testDescription)")
                #expect(refused.header("retry-after") == "5", "\(call.testDescription)")
            }
            endpoint.register.isFailing.store(false)
            for call in BroadcastTestCall.all(id) {
                let answer = try await endpoint.send(call)
                #expect((200...204).contains(answer.status), "\(call.testDescription)")
            }
        }
    }

    @Test(
        arguments: [
            (.headersTooLarge, .badRequestParams), (.wrongLength, .badRequestPayload),
            (.bodyTooLarge, .payloadTooLarge),
        ] as [(HTTP2Request.Fault, APNsReason)])
    func `a request beyond the limits is refused`(fault: HTTP2Request.Fault, reason: APNsReason) async throws {
        try await withEndpoint { endpoint in
            let id = try await endpoint.createChannel()
            expect(try await endpoint.send(.publish(id)) { $0.fault = fault }, reason)
        }
    }

    @Test func `an app without the capability of push has no channels`() async throws {
        try await withEndpoint { endpoint in
            _ = try await endpoint.world.store.updateApp(
                topic: endpoint.world.app.topic, name: nil, isPushEnabled: false)
            for call in BroadcastTestCall.all(BroadcastTestCall.unknownChannel) {
                expect(try await endpoint.send(call), .featureNotEnabled, "\(call.testDescription)")
            }
        }
    }

    @Test func `a server without channels says that they are not enabled`() async throws {
        try await withEndpoint { running in
            let gate = running.world.gate
            let endpoint = try await ProviderEndpoint.bind(
                HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil), environment: .sandbox,
                credentials: gate.credentials, certificates: gate.certificates, apps: gate.apps, tokens: gate.tokens,
                acceptor: running.mailboxes, on: MultiThreadedEventLoopGroup.singleton)
            let client = try await RunningEndpoint.connect(endpoint.port)
            expect(try await running.send(.create(1), on: client), .featureNotEnabled)
            await client.close()
            await endpoint.shutDown()
        }
    }

    @Test func `device pushes are served beside channels`() async throws {
        try await withEndpoint { endpoint in
            _ = try await endpoint.createChannel()
            #expect(try await endpoint.send().status == 200)
            #expect(try await endpoint.send(.list).status == 200)
        }
    }
}

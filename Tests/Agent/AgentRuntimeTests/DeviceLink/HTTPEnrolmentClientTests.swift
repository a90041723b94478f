import AgentEngine
import AldabaTestSupport
import DeviceChannel
import Foundation
import NIOCore
import NIOPosix
import PushCore
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5)))
struct HTTPEnrolmentClientTests {
    fileprivate let known = DeviceIdentity(device: DeviceID(7)!, secret: 9)
    fileprivate let topic = Topic(rawValue: "com.example.todo")
    private let team = TeamID(rawValue: "TEAM000001")

    /// Runs a body against a server that gives one answer, and returns the request that it got.
    fileprivate func request(
        answer: CannedServer.Answer, key: String? = nil, _ body: (HTTPEnrolmentClient) async throws -> Void
    ) async throws -> String {
        let server = try await CannedServer(answer)
        let client = try HTTPEnrolmentClient(
            controlURL: "http://127.0.0.1:\(server.port)", certificateAuthorityFile: nil, enrolmentKey: key)
        try await body(client)
        await client.close()
        await server.close()
        return await server.requests.next() ?? ""
    }

    private func checkinAnswer(id: UInt64, secret: UInt64) throws -> [UInt8] {
        var answer = MCSCheckinResponse()
        answer.androidID = id
        answer.securityToken = secret
        return try answer.serializedBytes()
    }

    @Test func `a new device shows its enrolment key and gets an id`() async throws {
        let body = try checkinAnswer(id: 70, secret: .max)
        let request = try await request(answer: .init(status: 200, body: body), key: "k1") { client in
            let identity = try await client.checkIn(known: nil)
            #expect(identity == DeviceIdentity(device: DeviceID(70)!, secret: .max))
        }
        #expect(request.hasPrefix("POST /checkin HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("authorization: enrol k1\r\n"))
    }

    @Test(arguments: [(401, true), (400, true), (500, false), (302, false)])
    func `a known device that is not known there is told so`(status: Int, isUnknown: Bool) async throws {
        _ = try await request(answer: .init(status: status, body: [])) { client in
            let failure = await #expect(throws: EnrolmentError.self) { try await client.checkIn(known: known) }
            #expect((failure == .notAuthenticated) == isUnknown)
        }
    }

    @Test(arguments: [[], [1, 2, 3], Array(repeating: 0xFF, count: 70_000)] as [[UInt8]])
    func `an answer without an id is worth another try`(body: [UInt8]) async throws {
        _ = try await request(answer: .init(status: 200, body: body)) { client in
            let failure = await #expect(throws: EnrolmentError.self) { try await client.checkIn(known: nil) }
            guard case .unavailable? = failure else {
                Issue.record("\(String(describing: failure))")
                return
            }
        }
    }

    @Test func `an app is registered with the form that the protocol has`() async throws {
        let token = String(repeating: "ab", count: 32)
        let request = try await request(answer: .init(status: 200, body: Array("token=\(token)\n".utf8))) { client in
            let given = try await client.register(
                known, topic: topic, team: team, environment: .production, encryptionKey: nil)
            #expect(given == token)
        }
        #expect(request.hasPrefix("POST /c2dm/register3 HTTP/1.1\r\n"))
        #expect(request.lowercased().contains("authorization: aidlogin 7:9\r\n"))
        #expect(request.hasSuffix("app=com.example.todo&sender=TEAM000001&device=7&X-environment=production"))
    }

    @Test func `a registration's form publishes the app's public key`() async throws {
        let key = RecipientPrivateKey().publicKey
        let token = String(repeating: "ab", count: 32)
        let request = try await request(answer: .init(status: 200, body: Array("token=\(token)\n".utf8))) { client in
            _ = try await client.register(
                known, topic: topic, team: team, environment: .sandbox, encryptionKey: key)
        }
        #expect(request.hasSuffix("&X-environment=sandbox&X-p256dh=\(key.p256dh)&X-auth=\(key.auth)"))
    }

    @Test(arguments: [
        (200, "Error=AUTHENTICATION_FAILED", EnrolmentError.notAuthenticated), (401, "", .notAuthenticated),
        (401, "Error=AUTHENTICATION_FAILED", .notAuthenticated),
        (400, "Error=INVALID_SENDER", .refused("INVALID_SENDER")),
        (200, "Error=PHONE_REGISTRATION_ERROR", .unavailable("the server answered PHONE_REGISTRATION_ERROR")),
        (500, "", .unavailable("the server answered 500 to the registration")),
        (200, "token=short", .unavailable("the server's answer holds no device token")),
        (200, "", .unavailable("the server's answer holds no device token")),
    ])
    func `what is not a token has its meaning`(status: Int, body: String, expected: EnrolmentError) async throws {
        _ = try await request(answer: .init(status: status, body: Array(body.utf8))) { client in
            let failure = await #expect(throws: EnrolmentError.self) {
                try await client.register(known, topic: topic, team: team, environment: .sandbox, encryptionKey: nil)
            }
            #expect(failure == expected)
        }
    }

    @Test func `an app's registration ends with delete`() async throws {
        let request = try await request(answer: .init(status: 200, body: Array("deleted=com.example.todo".utf8))) {
            try await $0.unregister(known, topic: topic, team: team, environment: .sandbox)
        }
        #expect(request.hasSuffix("&X-environment=sandbox&delete=true"))
    }

    @Test func `a server that is not there is worth another try`() async throws {
        let server = try await CannedServer(.init(status: 200, body: []))
        await server.close()
        let client = try HTTPEnrolmentClient(
            controlURL: "http://127.0.0.1:\(server.port)", certificateAuthorityFile: nil, enrolmentKey: nil)
        let failure = await #expect(throws: EnrolmentError.self) { try await client.checkIn(known: nil) }
        guard case .unavailable? = failure else {
            Issue.record("\(String(describing: failure))")
            return
        }
        await client.close()
    }

    @Test func `the enrolment key is not shown with the client`() async throws {
        let client = try HTTPEnrolmentClient(
            controlURL: "https://localhost:1", certificateAuthorityFile: nil, enrolmentKey: "key-of-enrolment")
        #expect(!shown(client).contains("key-of-enrolment"))
        await client.close()
    }
}

/// An HTTP/1.1 server that answers everything alike and closes.
final class CannedServer: Sendable {
    struct Answer: Sendable {
        var status: Int
        var body: [UInt8]
    }

    let requests = Inbox<String>()
    let port: Int
    private let channel: any Channel

    init(_ answer: Answer) async throws {
        let requests = requests
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Responder(answer: answer, requests: requests))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func close() async {
        try? await channel.close()
        requests.finish()
    }

    private final class Responder: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer
        private let answer: Answer
        private let requests: Inbox<String>
        private var text = ""

        init(answer: Answer, requests: Inbox<String>) {
            self.answer = answer
            self.requests = requests
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            text += String(buffer: unwrapInboundIn(data))
            let parts = text.components(separatedBy: "\r\n\r\n")
            let length = parts[0].lowercased().components(separatedBy: "content-length: ").dropFirst().first
                .flatMap { Int($0.prefix { $0.isNumber }) }
            guard parts.count > 1, let length, parts[1].utf8.count >= length else { return }
            requests.put(text)
            var head = "HTTP/1.1 \(answer.status) Said\r\ncontent-length: \(answer.body.count)\r\nconnection: close\r\n"
            head += answer.status == 302 ? "location: /elsewhere\r\n\r\n" : "\r\n"
            var buffer = ByteBuffer(string: head)
            buffer.writeBytes(answer.body)
            context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
        }
    }
}

extension HTTPEnrolmentClientTests {
    @Test(arguments: [(true, ""), (false, "&delete=true")])
    func `a topic is joined and left by the registration's form`(joins: Bool, further: String) async throws {
        let token = String(repeating: "ab", count: 32)
        let request = try await request(answer: .init(status: 200, body: Array("token=\(token)\n".utf8))) { client in
            try await client.setTopicSubscription(known, topic: topic, token: token, name: "a%b~c", joins: joins)
        }
        let path = "%2Ftopics%2Fa%25b~c"
        #expect(
            request.hasSuffix(
                "app=com.example.todo&sender=\(token)&device=7&X-gcm.topic=\(path)&X-scope=\(path)\(further)"))
    }
}

import AldabaTestSupport
import Foundation
import PushCore
import Synchronization
import Testing

@testable import AldabaAPNs
@testable import Networking

/// A client against a server of HTTP/2 over TLS on loopback.
@Suite(.timeLimit(.minutes(2))) struct APNsClientTests {
    private let notification = APNsNotification(
        pushType: .alert, bundleID: "com.example.app", payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))
    private let token = "0123456789abcdef"

    @Test func `a notification is accepted under the id that it was sent with`() async throws {
        try await withClient(reply: { _ in .answer(200, [("apns-unique-id", "u1")], "") }) { client, server in
            let id = UUID()
            var notification = notification
            notification.id = id
            notification.collapseID = "news"
            notification.expiration = .once
            let got = try await client.send(notification, to: token)
            #expect(got == .accepted(apnsID: id, uniqueID: "u1"))
            let request = try #require(server.requests.first)
            #expect(request.path == "/3/device/0123456789abcdef")
            #expect(request.fields[":method"] == "POST")
            #expect(request.fields["apns-id"] == id.uuidString.lowercased())
            #expect(request.fields["apns-topic"] == "com.example.app")
            #expect(request.fields["apns-push-type"] == "alert")
            #expect(request.fields["apns-priority"] == "10")
            #expect(request.fields["apns-expiration"] == "0")
            #expect(request.fields["apns-collapse-id"] == "news")
            #expect(request.fields["authorization"]?.hasPrefix("bearer ") == true)
            #expect(request.body == notification.payload)
        }
    }

    @Test(arguments: [
        (400, #"{"reason":"BadDeviceToken"}"#, APNsResult.dropped(.badDeviceToken)),
        (403, #"{"reason":"InvalidProviderToken"}"#, .fixConfiguration(.invalidProviderToken)),
        (
            410, #"{"reason":"Unregistered","timestamp":1700000000123}"#,
            .tokenDead(since: Date(timeIntervalSince1970: 1_700_000_000.123))
        ),
        (410, "", .tokenDead(since: nil)),
        (429, #"{"reason":"TooManyRequests"}"#, .retryAfter(.seconds(60), .tooManyRequests)),
        (500, #"{"reason":"InternalServerError"}"#, .retryAfter(.seconds(900), .init(rawValue: "InternalServerError"))),
        (503, "overloaded", .retryAfter(.seconds(900), .init(rawValue: "HTTP 503"))),
        (400, #"{"reason":"BrandNew"}"#, .dropped(.init(rawValue: "BrandNew"))),
        (403, #"{"reason":"BrandNew"}"#, .fixConfiguration(.init(rawValue: "BrandNew"))),
    ])
    func `a refusal is a value that says what to do`(status: Int, body: String, result: APNsResult) async throws {
        try await withClient(reply: { _ in .answer(status, [], body) }) { client, _ in
            let got = try await client.send(notification, to: token)
            #expect(got == result)
        }
    }

    @Test func `the server's own delay is preferred`() async throws {
        try await withClient(
            reply: { _ in .answer(429, [("retry-after", "7")], #"{"reason":"TooManyRequests"}"#) }
        ) { client, _ in
            let got = try await client.send(notification, to: token)
            #expect(got == .retryAfter(.seconds(7), .tooManyRequests))
        }
    }

    @Test(arguments: [
        ("", APNsResult.fixConfiguration(.init(rawValue: "MissingDeviceToken"))), ("../x", .dropped(.badDeviceToken)),
    ])
    func `a text that is no device token is refused without a request`(
        token: String, result: APNsResult
    ) async throws {
        try await withClient(reply: { _ in .accept }) { client, server in
            let got = try await client.send(notification, to: token)
            #expect(got == result)
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a request beyond GOAWAY is sent again under the same id on another connection`() async throws {
        try await withClient(reply: { $0.number == 1 ? .goAwayBefore : .accept }) { client, server in
            guard case .accepted(let id, _) = try await client.send(notification, to: token) else {
                Issue.record("not accepted")
                return
            }
            #expect(server.requests.map(\.connection) == [1, 2])
            #expect(server.requests.map(\.id) == [id, id].map { $0.uuidString.lowercased() })
        }
    }

    @Test func `a connection that says GOAWAY finishes what it has and is replaced`() async throws {
        try await withClient(reply: { $0.number == 1 ? .goAwayAndAccept : .accept }) { client, server in
            for _ in 0..<3 {
                guard case .accepted = try await client.send(notification, to: token) else {
                    Issue.record("not accepted")
                    return
                }
            }
            #expect(server.requests.map(\.connection) == [1, 2, 2])
        }
    }

    @Test func `a silent server that acknowledges PING is waited for until the deadline`() async throws {
        var options = APNsOptions()
        options.silenceTime = .milliseconds(20)
        options.pingTime = .milliseconds(200)
        options.deadline = .milliseconds(700)
        try await withClient(options: options, reply: { _ in .silence }) { client, _ in
            let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
            #expect(error?.cause == .deadline)
        }
    }

    @Test func `a refused stream is sent again under the same id`() async throws {
        try await withClient(reply: { $0.number < 3 ? .refuseStream : .accept }) { client, server in
            _ = try await client.send(notification, to: token)
            #expect(Set(server.requests.map(\.id)).count == 1)
            #expect(server.requests.count == 3)
        }
    }

    @Test func `a request that is refused without end fails, and was not processed`() async throws {
        try await withClient(reply: { _ in .refuseStream }) { client, server in
            let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
            #expect(error?.cause == .refused && error?.mayHaveBeenProcessed == false)
            #expect(server.requests.count == 5)
        }
    }

    @Test func `a request that loses its connection is not sent again`() async throws {
        try await withClient(reply: { $0.number == 1 ? .cut : .accept }) { client, server in
            let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
            #expect(error?.cause == .connectionLost && error?.mayHaveBeenProcessed == true)
            #expect(server.requests.count == 1)
            _ = try await client.send(notification, to: token)
            #expect(server.requests.map(\.connection) == [1, 2])
        }
    }

    @Test func `a request that loses its connection is sent again where the caller says so`() async throws {
        var options = APNsOptions()
        options.resendsUnanswered = true
        try await withClient(options: options, reply: { $0.number == 1 ? .cut : .accept }) { client, server in
            _ = try await client.send(notification, to: token)
            #expect(Set(server.requests.map(\.id)).count == 1)
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a request without an answer ends at its deadline`() async throws {
        var options = APNsOptions()
        options.deadline = .milliseconds(300)
        try await withClient(options: options, reply: { _ in .silence }) { client, server in
            let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
            #expect(error?.cause == .deadline && error?.mayHaveBeenProcessed == true)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `one request at a time is open until the token was accepted`() async throws {
        let latch = Latch()
        let first = Latch()
        try await withClient(
            reply: {
                guard $0.number == 1 else { return .accept }
                first.open()
                return .acceptLater(latch)
            }
        ) { client, server in
            try await withThrowingTaskGroup(of: APNsResult.self) { group in
                for _ in 0..<50 { group.addTask { try await client.send(notification, to: token) } }
                await first.wait()
                #expect(server.requests.count == 1)
                latch.open()
                for try await result in group {
                    guard case .accepted = result else {
                        Issue.record("\(result)")
                        return
                    }
                }
            }
            #expect(server.requests.count == 50)
        }
    }

    @Test func `an expired token is replaced, once, on another connection`() async throws {
        try await withClient(
            reply: { $0.number == 1 ? .refuse(403, "ExpiredProviderToken") : .accept }
        ) { client, server in
            guard case .accepted = try await client.send(notification, to: token) else {
                Issue.record("not accepted")
                return
            }
            let requests = server.requests
            #expect(requests.map(\.connection) == [1, 2])
            #expect(requests[0].id == requests[1].id)
            #expect(requests[0].fields["authorization"] != requests[1].fields["authorization"])
        }
    }

    @Test func `a token that is refused as expired again is a fault of the configuration`() async throws {
        try await withClient(reply: { _ in .refuse(403, "ExpiredProviderToken") }) { client, server in
            let result = try await client.send(notification, to: token)
            #expect(result == .fixConfiguration(.expiredProviderToken))
            #expect(server.requests.count == 2)
        }
    }

    @Test func `a token that was renewed early is kept, on another connection`() async throws {
        try await withClient(
            reply: { $0.number == 1 ? .refuse(429, "TooManyProviderTokenUpdates") : .accept }
        ) { client, server in
            _ = try await client.send(notification, to: token)
            let requests = server.requests
            #expect(requests.map(\.connection) == [1, 2])
            #expect(requests[0].fields["authorization"] == requests[1].fields["authorization"])
        }
    }

    @Test func `a cancelled call ends at once`() async throws {
        let arrived = Latch()
        try await withClient(
            reply: { _ in
                arrived.open()
                return .silence
            }
        ) { client, _ in
            let task = Task { try await client.send(notification, to: token) }
            await arrived.wait()
            task.cancel()
            let error = await #expect(throws: APNsSendError.self) { try await task.value }
            #expect(error?.cause == .cancelled && error?.mayHaveBeenProcessed == true)
        }
    }

    @Test func `a call that waits for admission is cancelled without a request`() async throws {
        var options = APNsOptions()
        options.maximumOpenRequests = 1
        let arrived = Latch()
        try await withClient(
            options: options,
            reply: { _ in
                arrived.open()
                return .silence
            }
        ) { client, server in
            let first = Task { try await client.send(notification, to: token) }
            await arrived.wait()
            let second = Task { try await client.send(notification, to: token) }
            second.cancel()
            let error = await #expect(throws: APNsSendError.self) { try await second.value }
            #expect(error?.cause == .cancelled && error?.mayHaveBeenProcessed == false)
            first.cancel()
            _ = await first.result
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a client that was shut down sends nothing`() async throws {
        try await withClient(reply: { _ in .accept }) { client, server in
            _ = try await client.send(notification, to: token)
            await client.shutDown()
            let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
            #expect(error?.cause == .shutDown && error?.mayHaveBeenProcessed == false)
            #expect(server.requests.count == 1)
        }
    }

    @Test func `a server that cannot be reached fails at the deadline, and nothing was processed`() async throws {
        var options = APNsOptions()
        options.deadline = .milliseconds(200)
        // Port 1 is never given out as a free one, and nobody listens on it.
        let client = try APNsClient(
            credential: TestKey.credential(), server: APNsServer(host: "127.0.0.1", port: 1), options: options)
        let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
        #expect(error?.cause == .deadline && error?.mayHaveBeenProcessed == false)
        #expect(error?.detail?.isEmpty == false)
        await client.shutDown()
    }

    @Test func `a certificate that the client does not trust is never sent anything`() async throws {
        var options = APNsOptions()
        options.deadline = .milliseconds(500)
        let server = try await LoopbackServer.start { _ in .accept }
        var address = server.address
        address.authorities = try LoopbackIdentity().certificate
        let client = try APNsClient(credential: TestKey.credential(), server: address, options: options)
        let error = await #expect(throws: APNsSendError.self) { try await client.send(notification, to: token) }
        #expect(error?.mayHaveBeenProcessed == false)
        #expect(server.requests.isEmpty)
        await client.shutDown()
        await server.stop()
    }

    @Test func `a thousand notifications each get their own result`() async throws {
        var limits = HTTP2Limits()
        limits.concurrentStreams = 20
        try await withClient(limits: limits, reply: { _ in .accept }) { client, server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<1000 {
                    group.addTask {
                        let id = UUID()
                        var notification = notification
                        notification.id = id
                        let got = try await client.send(notification, to: token)
                        #expect(got == .accepted(apnsID: id, uniqueID: nil))
                    }
                }
                try await group.waitForAll()
            }
            #expect(Set(server.requests.map(\.id)).count == 1000)
        }
    }

    @Test func `a client certificate needs no token`() async throws {
        let server = try await LoopbackServer.start(requiresCertificate: true) { _ in .accept }
        let identity = try LoopbackIdentity()
        let client = try APNsClient(
            credential: .certificate(pem: identity.certificate + "\n" + identity.key), server: server.address)
        guard case .accepted = try await client.send(notification, to: token) else {
            Issue.record("not accepted")
            return
        }
        #expect(server.requests.first?.fields["authorization"] == nil)
        await client.shutDown()
        await server.stop()
    }
}

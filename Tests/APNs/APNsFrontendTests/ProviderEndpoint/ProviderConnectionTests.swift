import APNsProtocol
import AldabaTestSupport
import Foundation
import NIOPosix
import Networking
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The provider API over real connections.
@Suite(.timeLimit(.minutes(5))) struct ProviderConnectionTests {
    private func reason(_ response: HTTP2Response) throws -> String? {
        struct Body: Decodable { var reason: String }
        return response.body.isEmpty ? nil : try JSONDecoder().decode(Body.self, from: Data(response.body)).reason
    }

    @Test func `200 is said after the commit and not before`() async throws {
        try await withEndpoint { endpoint in
            let commit = endpoint.store.holdNextCommit()
            let isAnswered = Flag()
            async let answer = {
                let answer = try await endpoint.send()
                isAnswered.store(true)
                return answer
            }()
            await commit.reached.wait()
            // The connection lives and answers what needs no commit, many times over.
            for _ in 0..<10 {
                let other = try await endpoint.send { $0.set(":method", "GET") }
                #expect(other.status == 405)
            }
            #expect(!isAnswered.load())
            #expect(try await endpoint.waiting() == 0)
            commit.release()
            let accepted = try await answer
            #expect(accepted.status == 200 && accepted.body.isEmpty)
            let id = try #require(accepted.header("apns-id").flatMap(ServerAPNsID.id))
            let timeline = try await endpoint.store.timelines(id: id, apnsID: nil, team: nil)
            #expect(timeline.first?.entries.map(\.state) == [.accepted, .stored])
            #expect(try await endpoint.waiting() == 1)
        }
    }

    @Test func `a commit that fails is 503, and the same request is taken later`() async throws {
        try await withEndpoint { endpoint in
            let id = "C0FFEE00-0000-4000-8000-000000000001"
            endpoint.store.isFailing.store(true)
            let refused = try await endpoint.send { $0.set("apns-id", id) }
            #expect(refused.status == 503)
            #expect(try reason(refused) == "ServiceUnavailable")
            #expect(refused.header("apns-id") == id && refused.header("retry-after") == "5")
            endpoint.store.isFailing.store(false)
            #expect(try await endpoint.waiting() == 0)
            let accepted = try await endpoint.send { $0.set("apns-id", id) }
            #expect(accepted.status == 200)
            #expect(accepted.header("apns-id") == id)
            #expect(try await endpoint.waiting() == 1)
        }
    }

    @Test func `a queue that is full is 503 at once`() async throws {
        try await withEndpoint { endpoint in
            let commit = endpoint.store.holdNextCommit()
            let sink = NoSink()
            #expect(endpoint.accept(sink))
            await commit.reached.wait()
            var queued = 0
            while endpoint.accept(sink) { queued += 1 }
            #expect(queued > 0)
            // The commit is held all the while: this answer waits for nothing.
            let refused = try await endpoint.send()
            #expect(refused.status == 503)
            #expect(try reason(refused) == "ServiceUnavailable")
            #expect(refused.header("apns-id") != nil)
            endpoint.store.isFailing.store(true)
            commit.release()
        }
    }

    /// What is asked, and the answer's status and reason.
    struct Exchange: Sendable, CustomTestStringConvertible {
        var status: Int
        var reason: String?
        var change: @Sendable (inout ProviderWorld) throws -> Void

        var testDescription: String { "\(status) \(reason ?? "")" }

        init(_ status: Int, _ reason: String? = nil, _ change: @escaping @Sendable (inout ProviderWorld) throws -> Void)
        {
            self.status = status
            self.reason = reason
            self.change = change
        }

        static let all =
            [Exchange(200) { _ in }, Exchange(200) { $0.set("apns-expiration", "0") }]
            + Fault.all.filter { $0.place != "apns-id" }
            .map { Exchange($0.reason.status, $0.reason.rawValue, $0.apply) }
    }

    @Test func `every answer carries apns-id, as sent or as made`() async throws {
        try await withEndpoint { endpoint in
            let sent = "C0FFEE00-0000-4000-8000-00000000000A"
            for exchange in Exchange.all {
                let own = try await endpoint.send { request in
                    try exchange.change(&request)
                    request.set("apns-id", sent)
                }
                let made = try await endpoint.send(exchange.change)
                for answer in [own, made] {
                    #expect(answer.status == exchange.status, "\(exchange)")
                    #expect(try reason(answer) == exchange.reason, "\(exchange)")
                }
                #expect(own.header("apns-id") == sent, "\(exchange)")
                let id = try #require(made.header("apns-id"), "\(exchange)")
                #expect(UUID(uuidString: id) != nil, "\(exchange)")
            }
            let malformed = try await endpoint.send { $0.set("apns-id", "not-a-uuid") }
            #expect(try reason(malformed) == "BadMessageId")
            #expect(malformed.header("apns-id") == "not-a-uuid")
            let long = try await endpoint.send { $0.set("apns-id", String(repeating: "a", count: 65)) }
            #expect(try reason(long) == "BadMessageId")
            #expect(long.header("apns-id").flatMap(UUID.init(uuidString:)) != nil)
        }
    }

    @Test func `HEAD is answered by header fields alone`() async throws {
        try await withEndpoint { endpoint in
            let head = try await endpoint.send { $0.set(":method", "HEAD") }
            #expect(head.status == 405 && head.body.isEmpty)
            #expect(head.header("allow") == "POST")
            #expect(head.header("content-type") == "application/json")
            let get = try await endpoint.send { $0.set(":method", "GET") }
            #expect(get.status == 405 && !get.body.isEmpty)
            #expect(get.header("allow") == "POST")
        }
    }

    @Test func `people who open the address are told what it is for`() async throws {
        try await withEndpoint { endpoint in
            let told = try await endpoint.send { request in
                request.set(":method", "GET")
                request.set(":path", "/")
            }
            #expect(told.status == 200 && told.header("content-type") == "text/plain; charset=utf-8")
            #expect(String(decoding: told.body, as: UTF8.self).contains("provider API"))
            let other = try await endpoint.send { request in
                request.set(":method", "GET")
                request.set(":path", "/3")
            }
            #expect(other.status == 405)
        }
    }

    @Test(arguments: ["", " ", " \t ", "bearer ", " bearer"])
    func `a credential of blanks is none, and gets an answer`(authorization: String) async throws {
        try await withEndpoint { endpoint in
            let answer = try await endpoint.send { $0.set("authorization", authorization) }
            #expect(answer.status == 403)
            #expect(try reason(answer) == "MissingProviderToken")
        }
    }

    @Test func `a credential with blanks around it is taken without them`() async throws {
        try await withEndpoint { endpoint in
            for blanks in [("", " "), (" ", ""), ("\t", "  ")] {
                let answer = try await endpoint.send { request in
                    let bearer = request.fields.first { $0.0 == "authorization" }?.1 ?? ""
                    request.set("authorization", blanks.0 + bearer + blanks.1)
                }
                #expect(answer.status == 200)
            }
        }
    }

    @Test func `in the sandbox apns-unique-id names what was accepted`() async throws {
        try await withEndpoint { endpoint in
            let sent = "C0FFEE00-0000-4000-8000-00000000000B"
            let own = try await endpoint.send { $0.set("apns-id", sent) }
            let unique = try #require(own.header("apns-unique-id"))
            #expect(own.header("apns-id") == sent && UUID(uuidString: unique) != nil)
            let found = try await Timelines(store: endpoint.store, mailboxes: endpoint.mailboxes).timelines(
                of: unique, team: nil)
            #expect(found.map(\.apnsID.rawValue) == [sent])
            let made = try await endpoint.send { $0.set("apns-expiration", "0") }
            #expect(made.header("apns-unique-id") == made.header("apns-id"))
            let refused = try await endpoint.send { $0.set("apns-priority", "7") }
            #expect(refused.status == 400 && refused.header("apns-unique-id") == nil)
        }
        try await withEndpoint(environment: .production) { endpoint in
            let answer = try await endpoint.send { $0.set(":path", "/3/device/\(try $0.token(.production))") }
            #expect(answer.status == 200 && answer.header("apns-unique-id") == nil)
        }
    }

    @Test func `a token of the other environment and one that has ended are told apart`() async throws {
        try await withEndpoint { endpoint in
            let other = try await endpoint.send { $0.set(":path", "/3/device/\(try $0.token(.production))") }
            #expect(other.status == 400)
            #expect(try reason(other) == "BadDeviceToken")
            let end = ProviderWorld.now.adding(milliseconds: 5)
            _ = try await endpoint.world.store.endRegistration(
                device: endpoint.world.device, app: endpoint.world.app.id, environment: .sandbox, at: end)
            let ended = try await endpoint.send()
            #expect(ended.status == 410)
            #expect(
                String(decoding: ended.body, as: UTF8.self)
                    == #"{"reason":"Unregistered","timestamp":\#(end.rawValue)}"#)
            #expect(ended.header("apns-id") != nil)
        }
    }

    @Test func `the verdict for a closed connection is dropped, and what it was about is kept`() async throws {
        let closed = Latch()
        try await withEndpoint(closed: closed) { endpoint in
            let client = try await RunningEndpoint.connect(endpoint.port)
            let commit = endpoint.store.holdNextCommit()
            let answer = Task { try await endpoint.send(on: client) }
            await commit.reached.wait()
            await client.close()
            await closed.wait()
            commit.release()
            await #expect(throws: HTTP2RequestError.self) { _ = try await answer.value }
            let next = try await endpoint.send()
            #expect(next.status == 200)
            #expect(try await endpoint.waiting() == 2)
        }
    }

    @Test func `the endpoint binds a free port, and shuts down with nothing left open`() async throws {
        try await withEndpoint { running in
            let gate = running.world.gate
            let endpoint = try await ProviderEndpoint.bind(
                HTTP2Listener.Configuration(host: "127.0.0.1", port: 0, tls: nil), environment: .sandbox,
                credentials: gate.credentials, certificates: gate.certificates, apps: gate.apps, tokens: gate.tokens,
                acceptor: running.mailboxes,
                on: MultiThreadedEventLoopGroup.singleton)
            #expect(endpoint.port > 0 && endpoint.port != running.port)
            let client = try await RunningEndpoint.connect(endpoint.port)
            let accepted = try await running.send(on: client)
            #expect(accepted.status == 200)
            await endpoint.shutDown()
            await #expect(throws: HTTP2RequestError.self) { _ = try await running.send(on: client) }
        }
    }
}

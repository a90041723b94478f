import APNsProtocol
import HTTPTypes
import Hummingbird
import PushCore
import StoreMemory
import Testing

@testable import ControlAPI
@testable import PushServer

/// The public keys of registrations, as devices publish them and senders ask for them.
@Suite struct EncryptionKeyTests {
    private let server = FakeServer()

    @Test func `a key is told as a library for Web Push takes it`() async throws {
        let key = FakeServer.key
        try await withListener(.development(server.services(.open))) { listener in
            let answer = try await listener.send("GET", "/v1/registrations/\(FakeServer.token)/encryption-key")
            #expect(answer.status == 200)
            #expect(
                answer.body == """
                    {"keyId":"\(key.id)","keys":{"auth":"\(key.auth)","p256dh":"\(key.p256dh)"},\
                    "topic":"com.example.todo"}
                    """)
        }
    }

    @Test(arguments: [("keyless", 404, "noEncryptionKey"), ("ended", 410, "unregistered"), ("other", 404, "notFound")])
    func `where there is no key the answer says why`(token: String, status: Int, code: String) async throws {
        try await withListener(.development(server.services(.open))) { listener in
            let answer = try await listener.send("GET", "/v1/registrations/\(token)/encryption-key")
            #expect(answer.status == status)
            #expect(answer.body.hasPrefix(#"{"code":"\#(code)","detail":"#))
        }
    }

    @Test(
        arguments: [
            ("bearer good", nil), ("bearer foreign", .notFound), ("bearer old", .unauthorized), (nil, .unauthorized),
        ] as [(String?, HTTPResponse.Status?)])
    func `over TLS it needs the provider token of the app's team`(
        authorization: String?, refusal: HTTPResponse.Status?
    ) async throws {
        let route = EncryptionKeyRoute(keys: server, access: ProviderAccess(authentication: server))
        let fields = authorization.map { HTTPFields(dictionaryLiteral: (.authorization, $0)) } ?? HTTPFields()
        let request = Request(
            head: .init(method: .get, scheme: "https", authority: "localhost", path: "/", headerFields: fields),
            body: .init(buffer: .init()))
        do {
            let answer = try await route.respond(request, token: FakeServer.token)
            #expect(answer.status == .ok && refusal == nil)
        } catch let error as ControlError {
            #expect(error.status == refusal)
        }
    }

    private func register(_ further: String) async throws -> RunningListener.Answer? {
        var answer: RunningListener.Answer?
        try await withListener(.development(server.services(.open))) { listener in
            let form = "app=com.example.todo&sender=TEAM000001&X-environment=sandbox" + further
            answer = try await listener.send(
                "POST", "/c2dm/register3", headers: ["Authorization": "AidLogin 77:4711"], body: Array(form.utf8))
        }
        return answer
    }

    @Test func `a registration publishes the key of its form, or none`() async throws {
        let key = FakeServer.key
        #expect(try await register("&X-p256dh=\(key.p256dh)&X-auth=\(key.auth)")?.status == 200)
        #expect(await server.published.next() == .some(key))
        #expect(try await register("")?.status == 200)
        #expect(await server.published.next() == .some(nil))
    }

    @Test func `half a key, and one that is none, are refused`() async throws {
        let key = FakeServer.key
        for further in [
            "&X-p256dh=\(key.p256dh)", "&X-auth=\(key.auth)", "&X-p256dh=AAAA&X-auth=\(key.auth)",
            "&X-p256dh=\(key.p256dh)&X-auth=AAAA",
        ] {
            let answer = try await register(further)
            #expect(answer?.status == 400)
            #expect(answer?.body == "Error=INVALID_PARAMETERS")
        }
    }

    @Test func `the key of a token is told to its team alone, and while the token lives`() async throws {
        let (store, now) = (MemoryStore(), Timestamp(seconds: 1_780_272_000))
        let (team, foreign) = (TeamID(rawValue: "TEAM123456"), TeamID(rawValue: "OTHER12345"))
        let app = try await store.addApp(
            topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy(), at: now)
        let device = FakeServer.device.device
        let registration = try await store.register(device: device, app: app.id, environment: .sandbox, at: now)
        let sealer = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 1, count: 32)]))
        let tokens = TokenDirectory(store: store, sealer: sealer)
        let keys = EncryptionKeys(store: store, apps: AppDirectory(store: store, clock: { now }), tokens: tokens)
        let subject = TokenSubject(
            cell: 0, device: device, app: app.id, environment: .sandbox, generation: registration.generation)
        let token = try sealer.seal(subject).description

        #expect(try await keys.encryptionKey(of: token, team: team) == .none)
        try await store.setEncryptionKey(
            FakeServer.key, device: device, app: app.id, environment: .sandbox, at: now)
        for asker in [nil, team] {
            #expect(try await keys.encryptionKey(of: token, team: asker) == .key(FakeServer.key, app.topic))
        }
        #expect(try await keys.encryptionKey(of: token, team: foreign) == .unknownToken)
        #expect(try await keys.encryptionKey(of: "ab", team: nil) == .unknownToken)
        #expect(try await keys.encryptionKey(of: String(repeating: "ab", count: 32), team: nil) == .unknownToken)

        let ended = try await store.endRegistration(device: device, app: app.id, environment: .sandbox, at: now)
        try tokens.registrationIs(try #require(ended), of: subject)
        #expect(try await keys.encryptionKey(of: token, team: nil) == .unregistered)
        #expect(try await keys.encryptionKey(of: token, team: foreign) == .unknownToken)
    }
}

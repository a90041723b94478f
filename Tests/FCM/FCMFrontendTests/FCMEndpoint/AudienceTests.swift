import Crypto
import CryptoExtras
import FCMProtocol
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import PushCore
import PushServer
import Testing
import WebPushProtocol

@testable import FCMFrontend

/// Credentials that say which server they are meant for, on requests whose `Host` anybody can write.
@Suite struct AudienceTests {
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

    @Test(arguments: [
        ("https://oauth2.googleapis.com/token", true), ("https://push.example:8443/token", true),
        ("http://PUSH.example:8443/token", true), ("https://push.example:8443/fcm/token", true),
        ("https://push.example/token", true), ("https://push.example:84433/token", false),
        ("https://push.example:8443/other", false), ("push.example:8443/token", false),
        ("https://elsewhere.example/token", false), ("https://elsewhere.example/push.example:8443/token", false),
        ("https://push.example:8443token", false), ("", false),
    ])
    func `an assertion is for this server by a name of its own`(audience: String, isOurs: Bool) {
        #expect(TokenRoute.isForUs(audience, ServerNames(["push.example"], ports: [8443])) == isOurs)
    }

    @Test(arguments: ["push.example:8443", "elsewhere.example"])
    func `the host of a request makes no assertion good`(host: String) async throws {
        let world = try await FCMWorld()
        let route = TokenRoute(
            access: world.access, senderClock: world.services.senderClock, names: world.services.names)
        func status(_ audience: String) async throws -> Int {
            let seconds = world.acceptor.now.rawValue / 1000
            let parts = [
                #"{"alg":"RS256","kid":"key"}"#,
                #"{"iss":"me@team","aud":"\#(audience)","iat":\#(seconds),"exp":\#(seconds + 60),"#
                    + #""scope":"https://www.googleapis.com/auth/firebase.messaging"}"#,
            ].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
            let signature = try FCMWorld.key.get().signature(for: Data(parts.utf8), padding: .insecurePKCS1v1_5)
            let form =
                "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(parts)."
                + Base64URL.encode(Array(signature.rawRepresentation))
            return await route.respond(request("/token", host: host, body: form), logger: logger).status.code
        }
        #expect(try await status("https://push.example:8443/token") == 200)
        #expect(try await status("https://elsewhere.example/token") == 400)
    }

    @Test(arguments: ["push.example:8443", "elsewhere.example"])
    func `the host of a request makes no sender's credential good`(host: String) async throws {
        let world = try await FCMWorld()
        let key = P256.Signing.PrivateKey()
        let point = Base64URL.encode(Array(key.publicKey.x963Representation))
        let (token, device) = try await world.register(world.app)
        try await world.store.keepWebRegistration(
            WebRegistration(category: "c", subtype: "wp:com.example.todo#1", sender: point), device: device,
            app: world.app.id, environment: .production, at: world.acceptor.now)
        let route = WebPushRoute(
            services: WebPushServices(
                register: world.store, sealer: SubscriptionSealer(keys: [[1]]), withdrawal: NoWithdrawal(),
                timelines: NoTimelines()),
            apps: world.services.apps,
            tokens: world.services.tokens, quotas: SendQuotas(perMinute: 100), acceptor: world.acceptor,
            senderClock: world.services.senderClock, names: world.services.names, metrics: FCMMetrics())
        func status(_ audience: String) async throws -> Int {
            let signed = [
                #"{"alg":"ES256"}"#,
                #"{"aud":"\#(audience)","exp":\#(world.acceptor.now.rawValue / 1000 + 60)}"#,
            ].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
            let signature = try key.signature(for: Data(signed.utf8)).rawRepresentation
            let ttl = try #require(HTTPField.Name("ttl"))
            let fields: HTTPFields = [
                .authorization: "vapid t=\(signed).\(Base64URL.encode(Array(signature))), k=\(point)", ttl: "60",
            ]
            return await route.send(request("/wp/\(token)", host: host, fields), token: token, logger: logger).status
                .code
        }
        #expect(try await status("https://push.example:8443") == 201)
        #expect(try await status("https://push.example/") == 201)
        #expect(try await status("https://fcm.googleapis.com") == 201)
        #expect(try await status("https://elsewhere.example") == 403)
    }

    private func request(_ path: String, host: String, _ fields: HTTPFields = [:], body: String = "") -> Request {
        Request(
            head: .init(method: .post, scheme: "https", authority: host, path: path, headerFields: fields),
            body: .init(buffer: ByteBuffer(string: body)))
    }

    private struct NoTimelines: TimelineService {
        func timelines(of reference: String, team: TeamID?) async throws -> [NotificationTimeline] { [] }
    }

    private struct NoWithdrawal: NotificationWithdrawal {
        func withdraw(
            _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
        ) { complete(.unknown) }
    }
}

import Crypto
import Foundation
import PushCore
import Testing
import WebPushProtocol

/// Requests of senders to browsers' subscriptions (RFC 8030), and by what they prove who they are (RFC 8292).
@Suite struct WebPushRequestTests {
    private func read(_ fields: [String: String], body: [UInt8] = [1]) throws -> WebPushRequest {
        let all = ["ttl": "60", "content-encoding": "aes128gcm"].merging(fields) { $1 }
        return try WebPushRequest(body: body) { all[$0] }
    }

    @Test func `a request is read`() throws {
        let request = try read(["urgency": "High", "topic": "score-1"])
        #expect(request.timeToLive == 60 && request.urgency == .high && request.topic == "score-1")
        #expect(request.envelope == WebPushEnvelope(contentEncoding: "aes128gcm", body: [1]))
        let old = try read(["content-encoding": "aesgcm", "encryption": "salt=a", "crypto-key": "dh=b;p256ecdsa=c"])
        #expect(old.envelope.cryptoKey == "dh=b;p256ecdsa=c" && old.urgency == .normal && old.topic == nil)
        // Browsers take neither padding nor quotes.
        let padded = try read([
            "content-encoding": "aesgcm", "encryption": #"keyid=p;salt="YWJj==""#,
            "crypto-key": "dh=YWJj=, p256ecdsa=c",
        ])
        #expect(padded.envelope.encryption == "keyid=p;salt=YWJj")
        #expect(padded.envelope.cryptoKey == "dh=YWJj,p256ecdsa=c")
        #expect(try read(["content-encoding": "gzip"], body: []).envelope.body.isEmpty, "nothing to read it by")
    }

    @Test(arguments: [("0", 0), ("2419200", 2_419_200), ("2419201", 2_419_200), ("99999999999999999999", 2_419_200)])
    func `the longest time is four weeks`(text: String, seconds: Int64) throws {
        #expect(try read(["ttl": text]).timeToLive == seconds)
    }

    @Test(arguments: [
        ["ttl": ""], ["ttl": "-1"], ["ttl": "+1"], ["ttl": "1.5"], ["urgency": ""], ["urgency": "now"],
        ["topic": ""], ["topic": "a/b"], ["topic": String(repeating: "x", count: 33)], ["content-encoding": ""],
        ["content-encoding": "aesgcm"], ["content-encoding": "aesgcm", "encryption": "salt=a"],
        ["content-encoding": "aesgcm", "encryption": "rs=1", "crypto-key": "dh=a"],
        ["content-encoding": "aesgcm", "encryption": "notsalt=a", "crypto-key": "dh=a"],
        ["content-encoding": "aesgcm", "encryption": "salt=%%%", "crypto-key": "dh=a"],
        ["content-encoding": "aesgcm", "encryption": "salt=a", "crypto-key": "dh="],
    ])
    func `what is wrong is named`(fields: [String: String]) {
        #expect(throws: WebPushRequest.Fault.self) { try read(fields) }
    }

    // MARK: Who sends

    private static let key = P256.Signing.PrivateKey()
    private static let point = Base64URL.encode(Array(key.publicKey.x963Representation))

    private func token(_ claims: String, alg: String = "ES256", key: P256.Signing.PrivateKey = key) throws -> String {
        let text = [#"{"typ":"JWT","alg":"\#(alg)"}"#, claims].map { Base64URL.encode(Array($0.utf8)) }
            .joined(separator: ".")
        let signature = try key.signature(for: Data(text.utf8))
        return text + "." + Base64URL.encode(Array(signature.rawRepresentation))
    }

    private let now = Timestamp(seconds: 1_780_000_000)

    @Test func `both forms of the credential are read`() throws {
        let text = try token(#"{"aud":"https://push.example","exp":1780003600,"sub":"mailto:a@b.example"}"#)
        let present = try VAPIDToken(authorization: "vapid t=\(text), k=\(Self.point)", cryptoKey: nil)
        let draft = try VAPIDToken(authorization: "WebPush \(text)", cryptoKey: "dh=x;p256ecdsa=\(Self.point)")
        for token in [present, draft] {
            #expect(token.key == Self.point && token.audience == "https://push.example")
            #expect(token.timeFault(at: now) == nil)
            #expect(token.isFor { $0 == "https://push.example" } && !token.isFor { _ in false })
        }
        #expect(VAPIDToken.key(ofSender: Self.point + "=") == Self.point)
        #expect(VAPIDToken.key(ofSender: "1234567") == nil && VAPIDToken.key(ofSender: "") == nil)
    }

    @Test(arguments: [("1779999930", true), ("1779999950", false), ("1780086400", false), ("1780086470", true)])
    func `a credential is good for a day at most`(expiry: String, isFault: Bool) throws {
        let text = try token(#"{"aud":"https://fcm.googleapis.com","exp":\#(expiry)}"#)
        let token = try VAPIDToken(authorization: "vapid k=\(Self.point),t=\(text)", cryptoKey: nil)
        #expect((token.timeFault(at: now) != nil) == isFault)
        #expect(token.isFor { _ in false }, "the service that browsers believe they use")
    }

    @Test func `what does not prove the key is refused`() throws {
        let claims = #"{"aud":"https://push.example","exp":1780003600}"#
        let good = try token(claims)
        let wrong = [
            "", "vapid", "vapid ", "basic x", "vapid t=\(good)", "vapid k=\(Self.point)", "vapid t=\(good), k=AAAA",
            "vapid t=\(good)x, k=\(Self.point)", "vapid t=\(try token(claims, alg: "none")), k=\(Self.point)",
            "vapid t=\(try token(claims, key: P256.Signing.PrivateKey())), k=\(Self.point)",
            "vapid t=\(try token(#"{"aud":"https://push.example"}"#)), k=\(Self.point)",
            "vapid t=\(try token(#"{"aud":"https://push.example","exp":1e300}"#)), k=\(Self.point)",
            "vapid t=\(try token(#"{"aud":"https://push.example","exp":-1}"#)), k=\(Self.point)",
            "vapid t=\(try token("[]")), k=\(Self.point)", "WebPush \(good)",
            "vapid " + String(repeating: "x", count: 9000),
        ]
        for authorization in wrong {
            #expect(throws: VAPIDToken.Fault.self, "\(authorization.prefix(40))") {
                try VAPIDToken(authorization: authorization, cryptoKey: nil)
            }
        }
    }
}

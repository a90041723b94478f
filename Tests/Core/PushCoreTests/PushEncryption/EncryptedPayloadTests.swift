import AldabaTestSupport
import Foundation
import Testing

@testable import PushCore

@Suite struct EncryptedPayloadTests {
    private let key = RecipientPrivateKey()
    private let placeholder = EncryptedPayload.Placeholder(body: "A message")
    private let secret = Array(#"{"aps":{"alert":"The eagle lands at 5"}}"#.utf8)

    /// Opens a payload as a device does.
    private func opened(_ payload: [UInt8], _ keys: [RecipientPrivateKey]) throws(DecryptionError) -> [UInt8]? {
        try EncryptedPayload(payload: payload)?.open(with: keys)
    }

    private func envelope(_ body: [UInt8], key: String? = nil) -> [UInt8] {
        let name = key.map { #","key":"\#($0)""# } ?? ""
        return Array(#"{"aps":{},"aldaba":{"encrypted":"\#(Base64URL.encode(body))"\#(name)}}"#.utf8)
    }

    @Test func `what was sealed is opened, and nothing of it can be read on the way`() throws {
        let payload = try EncryptedPayload.make(secret, to: key.publicKey, placeholder: placeholder)
        let text = String(decoding: payload, as: UTF8.self)
        #expect(!text.contains("eagle"))
        #expect(text.contains(#""aps":{"alert":{"body":"A message"},"mutable-content":1}"#))
        #expect(try opened(payload, [key]) == secret)
    }

    @Test(arguments: ["{}", #"{"aldaba":1}"#, #"{"aldaba":{"other":"encrypted"}}"#, #"{"encrypted":"AA"}"#, "[]", "\0"])
    func `a payload that carries no encrypted one is none`(payload: String) throws {
        #expect(try EncryptedPayload(payload: Array(payload.utf8)) == nil)
    }

    @Test func `an older key opens it, named or not`() throws {
        let keys = [RecipientPrivateKey(), RecipientPrivateKey(), key]
        let payload = try EncryptedPayload.make(secret, to: key.publicKey, placeholder: placeholder)
        #expect(try opened(payload, keys) == secret)
        #expect(try opened(envelope(PushMessage.encrypt(secret, to: key.publicKey)), keys) == secret)
    }

    @Test func `without the right key the reason says which one is missing`() throws {
        let payload = try EncryptedPayload.make(secret, to: key.publicKey, placeholder: placeholder)
        let bare = envelope(try PushMessage.encrypt(secret, to: key.publicKey))
        #expect(throws: DecryptionError.noKey) { try opened(payload, []) }
        #expect(throws: DecryptionError.unknownKey(key.publicKey.id)) {
            try opened(payload, [RecipientPrivateKey()])
        }
        #expect(throws: DecryptionError.wrongKey) { try opened(bare, [RecipientPrivateKey()]) }
    }

    @Test func `another authentication secret does not open it`() throws {
        let other = try #require(
            RecipientPrivateKey(
                rawRepresentation: key.rawRepresentation.wrappedValue,
                authenticationSecret: [UInt8](repeating: 7, count: 16)))
        let payload = try EncryptedPayload.make(secret, to: key.publicKey, placeholder: placeholder)
        #expect(throws: DecryptionError.wrongKey) { try opened(payload, [other]) }
    }

    @Test func `a message that was cut or changed anywhere stays shut`() throws {
        let body = try PushMessage.encrypt(secret, to: key.publicKey)
        for count in 0..<body.count {
            #expect(throws: DecryptionError.self) { try opened(envelope(Array(body.prefix(count))), [key]) }
        }
        #expect(throws: DecryptionError.truncated) { try opened(envelope(Array(body.prefix(20))), [key]) }
        #expect(throws: DecryptionError.truncated) { try opened(envelope(Array(body.prefix(102))), [key]) }
        for place in 0..<body.count where !(16..<20).contains(place) {
            var changed = body
            changed[place] ^= 1
            #expect(throws: DecryptionError.self) { try opened(envelope(changed), [key]) }
        }
    }

    @Test(arguments: [0, 17, 18, 56] as [UInt8])
    func `a record size that lies is said`(size: UInt8) throws {
        var body = try PushMessage.encrypt(secret, to: key.publicKey)
        body.replaceSubrange(16..<20, with: [0, 0, 0, size])
        #expect(throws: DecryptionError.recordSize(declared: Int(size), carried: secret.count + 17)) {
            try opened(envelope(body), [key])
        }
    }

    @Test func `a sender's key that is no point of the curve is said`() throws {
        var body = try PushMessage.encrypt(secret, to: key.publicKey)
        body.replaceSubrange(22..<86, with: [UInt8](repeating: 1, count: 64))
        #expect(throws: DecryptionError.senderKey) { try opened(envelope(body), [key]) }
        body = Array(body[..<20]) + [0] + Array(body[86...])
        #expect(throws: DecryptionError.senderKey) { try opened(envelope(body), [key]) }
    }

    @Test(arguments: [
        #"{"aldaba":{"encrypted":7}}"#, #"{"aldaba":{"encrypted":"a b"}}"#, #"{"aldaba":{"encrypted":null}}"#,
        #"{"aldaba":{"encrypted":"AAAA","key":7}}"#,
    ])
    func `an envelope of the wrong form is said`(payload: String) {
        #expect(throws: DecryptionError.malformed) { try EncryptedPayload(payload: Array(payload.utf8)) }
    }

    @Test func `what was sealed must be a payload`() throws {
        for content in ["[]", "", "7", "{"] {
            let body = try PushMessage.encrypt(Array(content.utf8), to: key.publicKey)
            #expect(throws: DecryptionError.notAnObject) { try opened(envelope(body), [key]) }
        }
    }

    @Test func `padding hides the length and is taken off`() throws {
        let padded = try PushMessage.encrypt(secret, to: key.publicKey, padding: 100)
        #expect(padded.count == secret.count + 100 + PushMessage.overhead)
        #expect(try PushMessage(padded).open(with: key) == secret)
    }

    @Test func `a message is known by its fingerprint, whatever carries it`() throws {
        let (one, other) = try (
            PushMessage.encrypt(secret, to: key.publicKey), PushMessage.encrypt(secret, to: key.publicKey)
        )
        #expect(try PushMessage(one).fingerprint == PushMessage(one).fingerprint)
        #expect(try PushMessage(one).fingerprint != PushMessage(other).fingerprint)
    }

    @Test(arguments: [4096, 4095, 4094, 5120])
    func `the largest payload that fits is told to the byte`(limit: Int) throws {
        let largest = try EncryptedPayload.largestPayload(
            within: limit, to: key.publicKey, placeholder: placeholder)
        func size(_ count: Int) throws -> Int {
            try EncryptedPayload.make(
                [UInt8](repeating: 32, count: count), to: key.publicKey, placeholder: placeholder
            ).count
        }
        #expect(try size(largest) <= limit)
        #expect(try size(largest + 1) > limit)
    }
}

@Suite struct RecipientKeyTests {
    @Test func `a public key is read back from its two texts`() throws {
        let key = RecipientPrivateKey().publicKey
        #expect(try RecipientPublicKey(p256dh: key.p256dh, auth: key.auth) == key)
        #expect(key.p256dh.count == 87 && key.auth.count == 22 && key.id.count == 11)
    }

    @Test func `a key of the wrong form is refused by the field's name`() throws {
        let key = RecipientPrivateKey().publicKey
        for p256dh in ["", "a b", String(key.p256dh.dropLast(4)), "B" + String(repeating: "A", count: 86)] {
            #expect(throws: RecipientKeyError.point) { try RecipientPublicKey(p256dh: p256dh, auth: key.auth) }
        }
        for auth in ["", "+", String(key.auth.dropLast(4)), key.auth + "AAAA"] {
            #expect(throws: RecipientKeyError.authenticationSecret) {
                try RecipientPublicKey(p256dh: key.p256dh, auth: auth)
            }
        }
    }

    @Test func `a private key comes back from its bytes, and no text shows it`() throws {
        let key = RecipientPrivateKey()
        let again = try #require(
            RecipientPrivateKey(
                rawRepresentation: key.rawRepresentation.wrappedValue,
                authenticationSecret: key.publicKey.authenticationSecret))
        #expect(again.publicKey == key.publicKey)
        #expect(RecipientPrivateKey(rawRepresentation: [], authenticationSecret: []) == nil)
        #expect(
            RecipientPrivateKey(rawRepresentation: [1], authenticationSecret: [UInt8](repeating: 0, count: 16)) == nil)
        #expect(shown(key.rawRepresentation).contains("redacted"))
        #expect(!shown(key.publicKey).contains(key.publicKey.auth))
    }
}

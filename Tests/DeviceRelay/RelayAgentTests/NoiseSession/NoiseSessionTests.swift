import Crypto
import Foundation
import RelayAgent
import Testing

@Suite struct NoiseSessionTests {
    /// The published vector of `Noise_IK_25519_ChaChaPoly_SHA256`: payloads and messages, by turns from the initiator.
    static let prologue = "4a6f686e2047616c74"
    static let initiatorKey = "e61ef9919cde45dd5f82166404bd08e38bceb5dfdfded0a34c8df7ed542214d1"
    static let initiatorEphemeral = "893e28b9dc6ca8d611ab664754b8ceb7bac5117349a4439a6b0569da977c464a"
    static let responderPublic = "31e0303fd6418d2f8c0e78b91f22e8caed0fbe48656dcf4767e4834f701b8f62"
    static let responderKey = "4a3acbfdb163dec651dfa3194dece676d437029c62a408b4c5ea9114246e4893"
    static let responderEphemeral = "bbdb4cdbd309f1a1f2e1456967fe288cadd6f712d65dc7b7793d5e63da6b375b"
    /// As another implementation has it.
    static let handshakeHash = "0b0f68fb0c27e03ce9b97565995ed4838cc0581b762ef72b062f6a546419fad7"
    static let messages = [
        (
            "4c756477696720766f6e204d69736573",
            "ca35def5ae56cec33dc2036731ab14896bc4c75dbb07a61f879f8e3afa4c7944718da798efbcd91528520204f904b9bd6c7413dccdc2"
                + "14d951e15253e39987f18146e8cd0873654207148333479d4d16c289f0294b29960a72f48e0b7bba2e89083169825e59642148d4"
                + "92020664ccf7"
        ),
        (
            "4d757272617920526f746862617264",
            "95ebc60d2b1fa672c1f46a8aa265ef51bfe38e7ccb39ec5be34069f1448088435361e70b2ed446e6c9ec387d1d6b3b840f194e373979"
                + "d241b203c4acafccf5"
        ),
        ("462e20412e20486179656b", "050e9f3c8fac16b68dbce8f8c4bfbf6617c897f9ada4aa29aa19c8"),
        ("4361726c204d656e676572", "344233a6cabb7141d80f3da2fedc311d9646bbb0f505afe403a667"),
        (
            "4a65616e2d426170746973746520536179",
            "62cdeeb172ad7ade7aa7d9e069da5790f12331bfa00177787a1d0810c67dc3b2b4"
        ),
        (
            "457567656e2042f6686d20766f6e2042617765726b",
            "029bead1b40992327044d409d9a1f3ad8f36c3c452775d557e18bbeb2e8dfcead32d514024"
        ),
    ]

    static func bytes(_ text: String) -> [UInt8] {
        stride(from: 0, to: text.count, by: 2).map { UInt8(text.dropFirst($0).prefix(2), radix: 16) ?? 0 }
    }

    static func key(_ text: String) throws -> Curve25519.KeyAgreement.PrivateKey {
        try Curve25519.KeyAgreement.PrivateKey(rawRepresentation: bytes(text))
    }

    static func initiator() throws -> NoiseInitiator {
        try NoiseInitiator(
            own: key(initiatorKey), remote: bytes(responderPublic), prologue: bytes(prologue),
            ephemeral: key(initiatorEphemeral))
    }

    @Test("A new key follows from the old one on both sides, and the counter goes on")
    func rekeying() throws {
        var initiator = try Self.initiator()
        let begun = try initiator.first([])
        var responder = try NoiseResponder(
            own: Self.key(Self.responderKey), first: begun, prologue: Self.bytes(Self.prologue))
        var answer = try responder.answer([])
        var session = try initiator.finish(answer.message).session
        let limit = NoiseLimit(messages: 2, bytes: 100)
        let one = try session.sending.seal([1])
        #expect(!session.sending.isUsedUp(limit))
        let two = try session.sending.seal([2])
        #expect(session.sending.isUsedUp(limit))
        #expect(try [answer.session.receiving.open(one[...]), answer.session.receiving.open(two[...])] == [[1], [2]])
        #expect(answer.session.receiving.isUsedUp(limit))
        try session.sending.rekey()
        let three = try session.sending.seal([UInt8](repeating: 3, count: 100))
        #expect(session.sending.isUsedUp(limit) && session.sending.count == 3)
        var behind = answer.session.receiving
        #expect(throws: NoiseError.notAuthentic) { try behind.open(three[...]) }
        try answer.session.receiving.rekey()
        #expect(try answer.session.receiving.open(three[...]).count == 100)
    }

    @Test("Both sides write and read the published messages")
    func vector() throws {
        var initiator = try Self.initiator()
        let parts = Self.messages.map { (payload: Self.bytes($0.0), message: Self.bytes($0.1)) }
        let begun = try initiator.first(parts[0].payload)
        #expect(begun == parts[0].message)
        var responder = try NoiseResponder(
            own: Self.key(Self.responderKey), first: parts[0].message, prologue: Self.bytes(Self.prologue))
        #expect(responder.payload == parts[0].payload)
        #expect(responder.remote == Array(try Self.key(Self.initiatorKey).publicKey.rawRepresentation))
        let answer = try responder.answer(parts[1].payload, ephemeral: Self.key(Self.responderEphemeral))
        #expect(answer.message == parts[1].message)
        let end = try initiator.finish(answer.message)
        #expect(end.payload == parts[1].payload)
        #expect(end.session.handshakeHash == Self.bytes(Self.handshakeHash))
        #expect(answer.session.handshakeHash == Self.bytes(Self.handshakeHash))
        var (mine, theirs) = (end.session, answer.session)
        for (index, part) in parts.enumerated().dropFirst(2) {
            if index % 2 == 0 {
                let (sealed, opened) = (
                    try mine.sending.seal(part.payload), try theirs.receiving.open(part.message[...])
                )
                #expect(sealed == part.message && opened == part.payload)
            } else {
                let (sealed, opened) = (
                    try theirs.sending.seal(part.payload), try mine.receiving.open(part.message[...])
                )
                #expect(sealed == part.message && opened == part.payload)
            }
        }
    }

    @Test("No message is read that was changed in any of its bytes, or cut")
    func changed() throws {
        var initiator = try Self.initiator()
        let message = try initiator.first([1, 2, 3])
        let own = try Self.key(Self.responderKey)
        for index in message.indices {
            var other = message
            other[index] ^= 0x40
            #expect(throws: NoiseError.self) {
                try NoiseResponder(own: own, first: other, prologue: Self.bytes(Self.prologue))
            }
            #expect(throws: NoiseError.self) {
                try NoiseResponder(own: own, first: Array(message[..<index]), prologue: Self.bytes(Self.prologue))
            }
        }
    }

    @Test("Neither another key, nor another prologue, nor a key of zeros makes a session")
    func others() throws {
        var initiator = try Self.initiator()
        let message = try initiator.first([])
        #expect(throws: NoiseError.notAuthentic) {
            try NoiseResponder(own: .init(), first: message, prologue: Self.bytes(Self.prologue))
        }
        let own = try Self.key(Self.responderKey)
        #expect(throws: NoiseError.notAuthentic) { try NoiseResponder(own: own, first: message, prologue: [1]) }
        #expect(throws: NoiseError.unusableKey) {
            var zeros = try NoiseInitiator(own: .init(), remote: [UInt8](repeating: 0, count: 32))
            _ = try zeros.first([])
        }
    }

    @Test("A message that comes twice or out of order is refused, and what comes next is read all the same")
    func order() throws {
        let own = Curve25519.KeyAgreement.PrivateKey()
        var initiator = try NoiseInitiator(own: .init(), remote: Array(own.publicKey.rawRepresentation))
        var responder = try NoiseResponder(own: own, first: try initiator.first([]))
        var theirs = try responder.answer([])
        var mine = try initiator.finish(theirs.message).session
        let sealed = try (0..<3).map { try mine.sending.seal([UInt8($0)], context: [9]) }
        var skipping = theirs.session.receiving
        let skipped = try skipping.open(sealed[1][...], context: [9], at: 1)
        #expect(skipped == [1])
        #expect(throws: NoiseError.notAuthentic) { try skipping.open(sealed[0][...], context: [9], at: 0) }
        #expect(throws: NoiseError.notAuthentic) { try theirs.session.receiving.open(sealed[1][...], context: [9]) }
        let first = try theirs.session.receiving.open(sealed[0][...], context: [9])
        #expect(first == [0])
        #expect(throws: NoiseError.notAuthentic) { try theirs.session.receiving.open(sealed[0][...], context: [9]) }
        #expect(throws: NoiseError.notAuthentic) { try theirs.session.receiving.open(sealed[1][...], context: [8]) }
        let second = try theirs.session.receiving.open(sealed[1][...], context: [9])
        #expect(second == [1])
        #expect(throws: NoiseError.truncated) { try theirs.session.receiving.open([1, 2]) }
    }
}

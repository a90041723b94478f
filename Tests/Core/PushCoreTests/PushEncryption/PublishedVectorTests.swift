import Crypto
import Testing

@testable import PushCore

/// The examples that the standards print.
@Suite struct PublishedVectorTests {
    private func bytes(_ text: String) throws -> [UInt8] { try #require(Base64URL.decode(text.utf8)) }

    /// RFC 8188, section 3.1.
    @Test func `the standard's example of one record is opened and made`() throws {
        let key = SymmetricKey(data: try bytes("yqdlZ-tYemfogSmv7Ws5PQ"))
        let body = try bytes("I1BsxtFttlv3u_Oo94xnmwAAEAAA-NAVub2qFgBEuQKRapoZu-IxkIva3MEB1PD-ly8Thjg")
        let message = try AES128GCMMessage(body)
        #expect(message.recordSize == 4096)
        #expect(message.keyID.isEmpty)
        #expect(try message.open(key) == Array("I am the walrus".utf8))
        let made = try AES128GCMMessage.seal(
            Array("I am the walrus".utf8), with: key, salt: message.salt, recordSize: 4096, keyID: [])
        #expect(made == body)
    }

    /// RFC 8188, section 3.2: two records, of which the first one is padded.
    @Test func `the standard's example of two records is opened`() throws {
        let message = try AES128GCMMessage(
            bytes("uNCkWiNYzKTnBN9ji3-qWAAAABkCYTHOG8chz_gnvgOqdGYovxyjuqRyJFjEDyoF1Fvkj6hQPdPHI51OEUKEpgz3SsLWIqS_uA"))
        #expect(message.recordSize == 25)
        #expect(message.keyID == Array("a1".utf8))
        let key = SymmetricKey(data: try bytes("BO3ZVPxUlnLORbVGMpbT1Q"))
        #expect(try message.open(key) == Array("I am the walrus".utf8))
    }

    /// RFC 8291, section 5 and appendix A.
    @Test func `the standard's push message is opened and made`() throws {
        let content = try bytes("V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24")
        let recipient = try #require(
            RecipientPrivateKey(
                rawRepresentation: bytes("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"),
                authenticationSecret: bytes("BTBZMqHH6r4Tts7J_aSIgg")))
        #expect(
            recipient.publicKey.p256dh
                == "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4")
        let body = try bytes(
            "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6P"
                + "Bru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
        #expect(try PushMessage(body).open(with: recipient) == content)
        let sender = try P256.KeyAgreement.PrivateKey(
            rawRepresentation: bytes("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"))
        let made = try PushMessage.encrypt(
            content, to: recipient.publicKey, padding: 0, sender: sender, salt: bytes("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(made == body)
    }
}

import Crypto
import Foundation
import Testing

@testable import PushCore

/// The older coding, against what another implementation makes of the same keys.
@Suite struct AESGCMTests {
    @Test(arguments: [
        (0, "2f722374717b6d29f88beefee46641e8c033b79625ed983089e3c3922086e4d2"),
        (1, "658befeb55e0a4dbceb0fd343458865fa35da8f8c5c57301c6d09940460269ab"),
        (13, "7bc121626c0ecc26e470048ecb247f54aaf49918b06a66c01916f250c828a481"),
        (4093, "4458e3263f77fc61b8c36acf714c72e0a1ead566100446f7fc156dd89c3c6116"),
        (4094, "889cc91d7e80ce8cdc82ca23d822f166a5aad0a2ec64e6ea33464e54bf8ce165"),
        (4095, "c8424b819c009582494e199bf19b2c6a736a7d305002005df6fbb688bcd632f0"),
        (9000, "79bdcef4c75e4ac5847cc8547a54cb6eaf439206ce4c9251672e59749a6ca5c3"),
    ])
    func `a message of every number of records is what another implementation makes`(
        length: Int, hash: String
    ) throws {
        let sender = try P256.KeyAgreement.PrivateKey(rawRepresentation: Array(UInt8(1)...32))
        let recipient = try #require(
            RecipientPrivateKey(
                rawRepresentation: Array(UInt8(33)...64), authenticationSecret: Array(UInt8(16)..<32)))
        let message = try AESGCMMessage.encrypt(
            (0..<length).map { UInt8($0 % 251) }, to: recipient.publicKey, sender: sender, salt: Array(UInt8(0)..<16))
        #expect(SHA256.hash(data: message.body).map { String(format: "%02x", $0) }.joined() == hash)
        #expect(message.senderPoint == Array(sender.publicKey.x963Representation))
        #expect(message.salt == Array(UInt8(0)..<16))
    }

    @Test func `each message has a key and a salt of its own`() throws {
        let recipient = RecipientPrivateKey().publicKey
        let (first, second) = (
            try AESGCMMessage.encrypt([1], to: recipient), try AESGCMMessage.encrypt([1], to: recipient)
        )
        #expect(first.salt != second.salt)
        #expect(first.senderPoint != second.senderPoint)
        #expect(first.body != second.body)
    }
}

import Crypto
import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct DocumentSealTests {
    private let document = RelayDocument(app: "aldaba.relay", name: "place", content: ["page": 7])

    private func account(_ digit: String) throws -> AccountKey {
        try #require(AccountKey(text: "aldaba-account-" + String(repeating: digit, count: 64)))
    }

    private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    @Test("A document is opened under its key, revision and account alone")
    func bound() throws {
        let seals = try account("1").documents
        let sealed = try seals.sealed(document, revision: 3)
        #expect(seals.decrypted(sealed) == document)
        var other = sealed
        other.revision = 4
        #expect(seals.decrypted(other) == nil)
        other = sealed
        other.key = seals.key(app: "aldaba.relay", name: "other")
        #expect(seals.decrypted(other) == nil)
        other = sealed
        other.isRemoved = true
        #expect(seals.decrypted(other) == nil)
        #expect(try account("2").documents.decrypted(sealed) == nil)
        let removed = RelayDocument(app: "aldaba.relay", name: "place", content: nil)
        #expect(try seals.decrypted(seals.sealed(removed, revision: 4)) == removed)
    }

    @Test("App and name are told apart in the key, and the bytes stay what they are")
    func golden() throws {
        let seals = try account("1").documents
        #expect(seals.key(app: "ab", name: "c") != seals.key(app: "a", name: "bc"))
        let nonce = try ChaChaPoly.Nonce(data: Data(repeating: 9, count: 12))
        let sealed = try seals.sealed(document, revision: 3, nonce: nonce)
        #expect(hex(sealed.key) == "022a87f907ed09a9fde1a24a767e074ec9044614eb53fbe31275aaaceb0ee6c8")
        #expect(
            hex(sealed.body)
                == "09090909090909090909090999f7443e34581af50c7a3483d41a3b844b4d0ab0565bcc4fa926775a936381481f02ec4fb63925f0cef241c46b10a77b6dbfc01059dd4f6a3b4f0eb0"
        )
    }
}

import Crypto
import Foundation
import RelayProtocol

/// Seals documents that the devices of an account share, by keys derived from the account's.
///
/// The server sees the revision, the size, and a key that reveals neither app nor name. It can neither exchange
/// documents nor present an older one under a newer revision.
package struct DocumentSeals: Sendable {
    private let nameKey: SymmetricKey
    private let sealKey: SymmetricKey
    private static let mark = Array("aldaba relay document 1".utf8)

    init(account bytes: [UInt8]) {
        let secret = SymmetricKey(data: bytes)
        func derived(_ label: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(inputKeyMaterial: secret, info: Data(label.utf8), outputByteCount: 32)
        }
        nameKey = derived("aldaba relay document name 1")
        sealKey = derived("aldaba relay document seal 1")
    }

    /// The key under which the server stores a document: an HMAC of the app and the name.
    package func key(app: String, name: String) -> [UInt8] {
        var claim: [UInt8] = []
        for part in [app, name] {
            withUnsafeBytes(of: UInt32(truncatingIfNeeded: part.utf8.count).bigEndian) { claim += $0 }
            claim += Array(part.utf8)
        }
        return Array(HMAC<SHA256>.authenticationCode(for: claim, using: nameKey))
    }

    /// Seals a document under a revision.
    package func sealed(_ document: RelayDocument, revision: Int64) throws -> RelaySealedDocument {
        try sealed(document, revision: revision, nonce: ChaChaPoly.Nonce())
    }

    func sealed(_ document: RelayDocument, revision: Int64, nonce: ChaChaPoly.Nonce) throws -> RelaySealedDocument {
        let key = key(app: document.app, name: document.name)
        let box = try ChaChaPoly.seal(
            try document.encoded(), using: sealKey, nonce: nonce,
            authenticating: Self.claim(key, revision: revision, isRemoved: document.content == nil))
        return RelaySealedDocument(
            key: key, revision: revision, body: Array(box.combined), isRemoved: document.content == nil)
    }

    /// Opens a document; `nil` where it is not what a device of the account sealed under this key and revision.
    package func decrypted(_ sealed: RelaySealedDocument) -> RelayDocument? {
        guard let box = try? ChaChaPoly.SealedBox(combined: sealed.body),
            let bytes = try? ChaChaPoly.open(
                box, using: sealKey,
                authenticating: Self.claim(sealed.key, revision: sealed.revision, isRemoved: sealed.isRemoved)),
            let document = try? RelayDocument(Array(bytes)),
            (document.content == nil) == sealed.isRemoved, key(app: document.app, name: document.name) == sealed.key
        else { return nil }
        return document
    }

    private static func claim(_ key: [UInt8], revision: Int64, isRemoved: Bool) -> [UInt8] {
        mark + [isRemoved ? 1 : 0] + key + withUnsafeBytes(of: revision.bigEndian) { Array($0) }
    }
}

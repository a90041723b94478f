import Crypto
import Foundation

/// Seals what nodes send to each other. A value.
package struct MessageCipher: Sendable {
    private let key: SymmetricKey

    /// Creates a cipher with a key that all nodes have.
    package init(key: SymmetricKey) { self.key = key }

    /// The nonce, the content and its tag.
    package func seal(_ content: [UInt8]) throws -> [UInt8] {
        guard let sealed = try AES.GCM.seal(content, using: key).combined else {
            throw CryptoKitError.incorrectParameterSize
        }
        return Array(sealed)
    }

    /// The content; `nil` for bytes that were not sealed with the key.
    package func open(_ bytes: [UInt8]) -> [UInt8]? {
        // The library's errors differ in nothing that matters here.
        guard let box = try? AES.GCM.SealedBox(combined: bytes), let content = try? AES.GCM.open(box, using: key) else {
            return nil
        }
        return Array(content)
    }
}

import Crypto
import Foundation
import Glibc
import PushCore

/// A provider's signing key as Apple hands them out: `AuthKey_KEYID.p8`, PKCS#8 PEM, P-256.
package struct ProviderKeyFile: Sendable {
    /// Ten characters `A-Z0-9`; the `kid` of the tokens it signs.
    package let keyID: KeyID
    /// The private key that signs provider tokens.
    package let key: P256.Signing.PrivateKey

    /// A fault in a key file.
    package struct Unreadable: Error, CustomStringConvertible {
        /// The file that was to be read.
        package var path: String
        /// The fault, in words; never the key.
        package var reason: String

        /// The file, what is wrong with it, and what would be right.
        package var description: String {
            "\(path): \(reason); a provider key is a file AuthKey_KEYID.p8 that `aldaba key create` makes"
        }
    }

    /// Makes a new key with a random id.
    package static func make() -> ProviderKeyFile {
        ProviderKeyFile(keyID: KeyID(rawValue: RegisterID.random()), key: P256.Signing.PrivateKey())
    }

    private init(keyID: KeyID, key: P256.Signing.PrivateKey) {
        self.keyID = keyID
        self.key = key
    }

    /// Reads a key.
    ///
    /// - Parameter keyID: The id; `nil` for that in the file's name.
    package init(path: String, keyID: String? = nil) throws {
        let name = URL(fileURLWithPath: path).lastPathComponent
        let isNamed = name.hasPrefix("AuthKey_") && name.hasSuffix(".p8")
        let id = keyID ?? (isNamed ? String(name.dropFirst(8).dropLast(3)) : "")
        guard KeyID.hasShape(id) else { throw Unreadable(path: path, reason: "its name does not tell the key's id") }
        guard let text = try PrivateFile.secret(path, limit: 65_536)?.wrappedValue else {
            throw Unreadable(path: path, reason: "there is no such file")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw Unreadable(path: path, reason: "it holds no P-256 private key in PEM")
        }
        self.init(keyID: KeyID(rawValue: id), key: key)
    }

    /// The name that the file should have.
    package var fileName: String { "AuthKey_\(keyID).p8" }

    /// Writes the key into a folder, 0600.
    ///
    /// - Returns: The file's path.
    package func write(folder: String) throws -> String {
        let path = "\(folder)/\(fileName)"
        try PrivateFile.write(Array((key.pemRepresentation + "\n").utf8), to: path)
        return path
    }
}

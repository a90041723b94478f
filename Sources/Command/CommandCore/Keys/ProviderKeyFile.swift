import Crypto
import Foundation
import Glibc
import PushModel

/// A provider's signing key as Apple hands them out: `AuthKey_KEYID.p8`, PKCS#8 PEM, P-256.
public struct ProviderKeyFile: Sendable {
    /// Ten characters `A-Z0-9`; the `kid` of the tokens it signs.
    public let keyID: String
    /// The private key that signs provider tokens.
    public let key: P256.Signing.PrivateKey

    /// What was wrong with a key file.
    public struct Unreadable: Error, CustomStringConvertible {
        /// The file that was to be read.
        public var path: String
        /// What is wrong with it, in words; never the key.
        public var reason: String

        /// The file, what is wrong with it, and what would be right.
        public var description: String {
            "\(path): \(reason); a provider key is a file AuthKey_KEYID.p8 that `aldaba key create` makes"
        }
    }

    /// Makes a new key with a random id.
    public static func make() -> ProviderKeyFile {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
        var generator = SystemRandomNumberGenerator()
        let id = String((0..<10).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
        return ProviderKeyFile(keyID: id, key: P256.Signing.PrivateKey())
    }

    private init(keyID: String, key: P256.Signing.PrivateKey) {
        self.keyID = keyID
        self.key = key
    }

    /// Reads a key; its id is in the file's name.
    public init(path: String) throws {
        let name = URL(fileURLWithPath: path).lastPathComponent
        guard name.hasPrefix("AuthKey_"), name.hasSuffix(".p8"), TeamID.hasShape(String(name.dropFirst(8).dropLast(3)))
        else { throw Unreadable(path: path, reason: "its name does not tell the key's id") }
        guard let text = try PrivateFile.secret(path, limit: 65_536)?.wrappedValue else {
            throw Unreadable(path: path, reason: "there is no such file")
        }
        guard let key = try? P256.Signing.PrivateKey(pemRepresentation: text) else {
            throw Unreadable(path: path, reason: "it holds no P-256 private key in PEM")
        }
        self.init(keyID: String(name.dropFirst(8).dropLast(3)), key: key)
    }

    /// The name that the file should have.
    public var fileName: String { "AuthKey_\(keyID).p8" }

    /// Writes the key into a folder, 0600.
    ///
    /// - Returns: The file's path.
    public func write(folder: String) throws -> String {
        let path = "\(folder)/\(fileName)"
        try PrivateFile.write(Array((key.pemRepresentation + "\n").utf8), to: path)
        return path
    }
}

import Crypto
import SwiftASN1

/// A trust store as Java reads it.
///
/// It is in Java's own format JKS: marks and numbers in network order, each certificate in DER, and at the end a digest of
/// everything with the store's password.
package struct JavaTrustStore: Sendable {
    /// The password that Java's programs expect; it keeps nothing secret.
    package static let password = "changeit"

    /// The file's bytes.
    package let bytes: [UInt8]

    /// Makes the store of some authorities.
    ///
    /// - Parameter authorities: The certificates, PEM.
    /// - Throws: An error when one cannot be read.
    package init(authorities: String) throws {
        let certificates = try PEMDocument.parseMultiple(pemString: authorities)
        var store = Self.bytes(UInt32(0xFEED_FEED)) + Self.bytes(UInt32(2)) + Self.bytes(UInt32(certificates.count))
        for (place, certificate) in certificates.enumerated() {
            store += Self.bytes(UInt32(2)) + Self.text("aldaba\(place)") + Self.bytes(UInt64(0)) + Self.text("X.509")
            store += Self.bytes(UInt32(certificate.derBytes.count)) + certificate.derBytes
        }
        let password = Self.password.utf16.flatMap { Self.bytes($0) }
        bytes = store + Insecure.SHA1.hash(data: password + Array("Mighty Aphrodite".utf8) + store)
    }

    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian, Array.init)
    }

    private static func text(_ text: String) -> [UInt8] { bytes(UInt16(text.utf8.count)) + text.utf8 }
}

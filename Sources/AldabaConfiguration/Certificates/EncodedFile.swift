import Foundation
import SwiftASN1

/// A file with certificates or a request in it, as PEM (also amid other text) or as DER.
package enum EncodedFile {
    /// Why a file cannot be used.
    package struct Unusable: Error, CustomStringConvertible {
        /// The file that is at fault.
        package var path: String
        /// The fault and the expected content, in words.
        package var reason: String

        /// Makes an error that names the file and its fault.
        package init(path: String, reason: String) {
            self.path = path
            self.reason = reason
        }

        /// The file, what is wrong with it, and what would be right.
        package var description: String { "\(path): \(reason)" }
    }

    /// The DER bytes of the first document of a kind.
    ///
    /// - Parameter kinds: The labels after `BEGIN` in PEM; the first is named in the error when there is none.
    package static func first(_ kinds: [String], in path: String) throws -> [UInt8] {
        guard let bytes = try PrivateFile.bytes(path) else {
            throw Unusable(path: path, reason: "there is no such file")
        }
        return try first(kinds, of: bytes, path: path)
    }

    /// The DER bytes of the first document of a kind in a text.
    ///
    /// - Parameter path: The name of the text in errors.
    package static func first(_ kinds: [String], of bytes: [UInt8], path: String) throws -> [UInt8] {
        // DER begins with a SEQUENCE, which no text does.
        if bytes.first == 0x30 { return bytes }
        let documents: [PEMDocument]
        do { documents = try PEMDocument.parseMultiple(pemString: String(decoding: bytes, as: UTF8.self)) } catch {
            throw Unusable(path: path, reason: "it is neither DER nor PEM: \(error)")
        }
        guard let document = documents.first(where: { kinds.contains($0.discriminator) }) else {
            let found = documents.map(\.discriminator)
            throw Unusable(
                path: path,
                reason: "it holds no \(kinds[0])" + (found.isEmpty ? "" : ", but \(found.joined(separator: ", "))"))
        }
        return document.derBytes
    }

    /// Certificate bytes as PEM.
    package static func certificatePEM(_ der: [UInt8]) -> String {
        PEMDocument(type: "CERTIFICATE", derBytes: der).pemString + "\n"
    }
}

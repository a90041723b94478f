/// A JSON Web Token in its compact form: header, claims and signature in base64url (RFC 7515, section 7.1).
///
/// Reading checks the form alone. Verifying the signature, the algorithm and the claims is the caller's.
package struct JSONWebToken: Sendable {
    /// A fault of the form.
    package enum Malformation: Error, Hashable, Sendable {
        /// The token has another number of parts than three.
        case parts(Int)
        /// A part is not base64url without padding.
        case encoding
        /// The header is not a JSON object.
        case header
        /// The claims are not a JSON object.
        case claims
    }

    /// The header, a JSON object.
    package let header: JSONValue
    /// The claims, a JSON object.
    package let claims: JSONValue
    /// The bytes that are signed: header and claims with the full stop between them.
    package let signedBytes: [UInt8]
    /// The signature's bytes.
    package let signature: [UInt8]

    /// Reads the compact form. Callers bound its length.
    package init(_ compact: [UInt8]) throws(Malformation) {
        let parts = compact.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .parts(parts.count) }
        guard let head = Base64URL.decode(parts[0]), let body = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .encoding }
        guard let header = try? JSONValue(object: head) else { throw .header }
        guard let claims = try? JSONValue(object: body) else { throw .claims }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array(compact[..<parts[1].endIndex])
    }

    /// Makes a token in its compact form.
    ///
    /// - Parameter sign: Signs the bytes by the algorithm that the header names.
    package static func signed(
        header: [JSONValue.Member], claims: [JSONValue.Member], by sign: ([UInt8]) throws -> [UInt8]
    ) rethrows -> String {
        let text =
            Base64URL.encode(JSONValue.object(header).bytes) + "." + Base64URL.encode(JSONValue.object(claims).bytes)
        return text + "." + Base64URL.encode(try sign(Array(text.utf8)))
    }
}

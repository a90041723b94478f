import Crypto
import Foundation
import PushCore

/// The credential of Azure's data plane: `SharedAccessSignature sr=…&sig=…&se=…&skn=…`, its fields in any order.
///
/// What is signed is the text of `sr` exactly as it was sent, a line feed and `se`; clients encode and fold `sr`
/// differently, so nothing is encoded anew.
package struct SharedAccessSignature: Hashable, Sendable {
    /// The resource as it was sent, percent-encoded.
    package var resource: String
    /// The signature: 32 bytes where it can be genuine.
    package var signature: [UInt8]
    /// When it expires, as it was sent: seconds since 1970.
    package var expiry: String
    /// The name of the key.
    package var keyName: String

    /// Reads a field `Authorization`; `nil` for anything that is no complete signature.
    package init?(authorization: String) {
        let scheme = "SharedAccessSignature "
        guard authorization.count > scheme.count, authorization.count <= 4096,
            authorization.prefix(scheme.count).lowercased() == scheme.lowercased()
        else { return nil }
        var fields: [String: String] = [:]
        for part in authorization.dropFirst(scheme.count).split(separator: "&") {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
            guard fields.updateValue(String(part[part.index(after: equals)...]), forKey: name) == nil else {
                return nil
            }
        }
        guard let resource = fields["sr"], let expiry = fields["se"],
            let signature = fields["sig"]?.removingPercentEncoding.flatMap({ Data(base64Encoded: $0) }),
            let keyName = fields["skn"]?.removingPercentEncoding, !resource.isEmpty, !keyName.isEmpty
        else { return nil }
        self.resource = resource
        self.signature = Array(signature)
        self.expiry = expiry
        self.keyName = keyName
    }

    /// When it expires, in seconds since 1970; `nil` where it does not say so in digits.
    package var expiresAt: Int64? { Int64(expiry) }

    /// Whether a key made this signature. Compares in constant time.
    package func isGenuine(key: String) -> Bool {
        let expected = Self.signature(resource: resource, expiry: expiry, key: key)
        return ConstantTime.equal(signature, expected)
    }

    /// Whether the resource that was signed covers a request: it names the server, and the beginning of the path, up to a
    /// slash. Scheme, port and query do not count, nor does case.
    ///
    /// - Parameters:
    ///   - path: The request's path.
    ///   - isOwn: Whether a host, in lower case and without a port, is one of the server's names.
    package func covers(path: String, where isOwn: (_ host: String) -> Bool) -> Bool {
        guard var signed = resource.removingPercentEncoding?.lowercased() else { return false }
        if let scheme = signed.range(of: "://") { signed.removeSubrange(..<scheme.upperBound) }
        signed = String(signed.prefix { $0 != "?" })
        let slash = signed.firstIndex(of: "/") ?? signed.endIndex
        guard isOwn(Self.host(String(signed[..<slash]))) else { return false }
        let prefix = signed[slash...].split(separator: "/")
        let asked = path.lowercased().split(separator: "/")
        return asked.starts(with: prefix)
    }

    private static func host(_ authority: String) -> String {
        guard let colon = authority.lastIndex(of: ":"),
            authority[authority.index(after: colon)...].allSatisfy({ $0.isASCII && $0.isNumber })
        else { return authority }
        return String(authority[..<colon])
    }

    private static func signature(resource: String, expiry: String, key: String) -> [UInt8] {
        Array(
            HMAC<SHA256>.authenticationCode(
                for: Data("\(resource)\n\(expiry)".utf8), using: SymmetricKey(data: Data(key.utf8))))
    }

    /// Signs for a resource, as a client does.
    ///
    /// - Parameter resource: An address such as `https://127.0.0.1/hub`.
    package static func authorization(resource: String, expiresAt: Int64, keyName: String, key: String) -> String {
        let unreserved = CharacterSet(charactersIn: "-._~").union(.alphanumerics)
        func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? "" }
        let resource = encoded(resource)
        let signature = Data(Self.signature(resource: resource, expiry: String(expiresAt), key: key))
            .base64EncodedString()
        return "SharedAccessSignature sr=\(resource)&sig=\(encoded(signature))&se=\(expiresAt)&skn=\(encoded(keyName))"
    }
}

/// How Azure writes where a hub is and by which key: `Endpoint=sb://…/;SharedAccessKeyName=…;SharedAccessKey=…`.
package struct HubConnectionString: Hashable, Sendable, CustomStringConvertible {
    /// Host and port.
    package var authority: String
    /// The name of the key.
    package var keyName: String
    /// The key's text, which is the secret itself: it is not decoded.
    package var key: String

    /// Creates an instance from its properties.
    package init(authority: String, keyName: String, key: String) {
        self.authority = authority
        self.keyName = keyName
        self.key = key
    }

    /// The three parts, and nothing else: clients count them.
    package var description: String {
        "Endpoint=sb://\(authority)/;SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)"
    }
}

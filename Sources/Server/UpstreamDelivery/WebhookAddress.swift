import Foundation

/// The address of a webhook, read once and in one spelling.
package struct WebhookAddress: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is spoken to over TLS.
    package let isSecured: Bool
    /// The host's name or address, in lower case; of an IPv6 address without brackets.
    package let host: String
    /// The port, 443 or 80 where the text names none.
    package let port: Int
    /// The address as text.
    package let description: String

    /// Why a text is no webhook's address, in words that say what would be right.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        /// What was wrong.
        package let description: String
    }

    /// Reads an address `https://host[:port]/path`, or `http://…` for hosts that the server's configuration allows.
    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault(description: "the address is longer than 2048 bytes, or has blanks or characters beyond ASCII")
        }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.host, !host.isEmpty,
            // Escapes are decoded here.
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw Fault(description: "\"\(text.prefix(80))\" is not https://host/path") }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw Fault(description: "the address has a user, a password or a fragment; leave them out")
        }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw Fault(description: "the port is not 1 to 65535")
        }
        isSecured = scheme == "https"
        self.host = host.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        port = parts.port ?? (scheme == "https" ? 443 : 80)
        description = text
    }
}

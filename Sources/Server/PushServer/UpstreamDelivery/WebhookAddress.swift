import Foundation

/// The address of a webhook, parsed and normalized.
package struct WebhookAddress: Hashable, Sendable, CustomStringConvertible {
    /// Whether the connection uses TLS.
    package let isSecured: Bool
    /// The host's name or address, in lower case; an IPv6 address is without brackets.
    package let host: String
    /// The port, 443 or 80 where the text contains none.
    package let port: Int
    /// The address as text.
    package let description: String

    /// The reason why a text is no webhook's address, with the form that is right.
    package struct Fault: Error, Hashable, CustomStringConvertible {
        /// The description of the fault.
        package let description: String
    }

    /// Parses an address `https://host[:port]/path`, or `http://…` for hosts that the server's configuration allows.
    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw Fault(description: "the address is longer than 2048 bytes, or has blanks or characters beyond ASCII")
        }
        guard let parts = URLComponents(string: text), let scheme = parts.scheme?.lowercased(),
            ["https", "http"].contains(scheme), let host = parts.host, !host.isEmpty,
            // Escapes are decoded at this point.
            host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F })
        else { throw Fault(description: "\"\(text.prefix(80))\" is not https://host/path") }
        let name = host.hasPrefix("[") ? String(host.dropFirst().prefix { $0 != "]" }) : host
        guard host == name || host == "[\(name)]" && Self.isIPv6(name) else {
            throw Fault(description: "the host in brackets is no IPv6 address")
        }
        guard parts.user == nil, parts.password == nil, parts.fragment == nil else {
            throw Fault(description: "the address has a user, a password or a fragment; leave them out")
        }
        if let port = parts.port, !(1...65_535).contains(port) {
            throw Fault(description: "the port is not 1 to 65535")
        }
        isSecured = scheme == "https"
        self.host = name.lowercased()
        port = parts.port ?? (scheme == "https" ? 443 : 80)
        description = text
    }

    private static func isIPv6(_ text: String) -> Bool {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1
    }
}

import Foundation

/// The addresses and credentials of NATS servers, as the setting `nats` has them.
package struct NATSAddress: Sendable {
    /// A server.
    package struct Server: Hashable, Sendable {
        /// The host name or IP address.
        package var host: String
        /// The port; 4222 where the address has none.
        package var port: Int
    }

    /// An error: an address that cannot be used.
    package struct Unusable: Error, Hashable, CustomStringConvertible {
        /// The fault, and what would be right; without secrets.
        package var description: String
    }

    /// The servers of one cluster, which are tried one after the other.
    package private(set) var servers: [Server] = []
    /// Whether connections use TLS even where the server does not require it.
    package private(set) var usesTLS = false
    /// The file of certificates that sign the server's; `nil` for those of the system.
    package private(set) var authorities: String?
    /// The file with a user's token and seed ("credentials file" of `nsc`).
    package private(set) var credentials: String?
    /// The user name, or the token where there is no password; never logged.
    private(set) var user: String?
    private(set) var password: String?

    /// Decodes addresses: `nats://[USER[:PASSWORD]@]HOST[:PORT][?ca=FILE&credentials=FILE]`, separated by commas. The user and the
    /// files are those of the first address that has them.
    ///
    /// - Throws: ``Unusable``.
    package init(_ text: String) throws(Unusable) {
        for part in text.split(separator: ",").map({ $0.trimmingCharacters(in: .whitespaces) }) { try add(part) }
        guard !servers.isEmpty else { throw Unusable(description: "nats names no server; write nats://HOST:4222") }
    }

    private mutating func add(_ text: String) throws(Unusable) {
        guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
            ["nats", "tls"].contains(parts.scheme), ["", "/"].contains(parts.path)
        else {
            throw Unusable(
                description:
                    "nats has an address that is none of a NATS server; write nats://HOST:4222 or tls://HOST:4222")
        }
        if parts.scheme == "tls" { usesTLS = true }
        servers.append(Server(host: host.trimmingCharacters(in: ["[", "]"]), port: parts.port ?? 4222))
        user = user ?? parts.user
        password = password ?? parts.password
        for item in parts.queryItems ?? [] {
            switch item.name {
            case "ca": authorities = item.value
            case "credentials": credentials = item.value
            default:
                throw Unusable(
                    description: "nats has the parameter \(item.name), which is not known; there are ca and credentials"
                )
            }
        }
    }
}

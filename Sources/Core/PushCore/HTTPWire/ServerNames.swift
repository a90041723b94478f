/// The names by which clients reach a server, for credentials that say which server they are meant for.
///
/// A name is a host (`push.example`, `192.0.2.1`, `::1`) or a host with a port (`push.example:9443`, `[::1]:9443`). A name
/// with `*` stands for all hosts that differ in their first label (`*.push.example`, RFC 6125, section 6.4.3). Case does not
/// count.
package struct ServerNames: Sendable, Hashable {
    private struct Name: Sendable, Hashable {
        var host: String
        var port: Int?
    }

    private let names: Set<Name>
    private let ports: Set<Int>

    /// Takes names and ports; texts that are no names are left out.
    ///
    /// - Parameter ports: The ports at which the server is reached by a name that has no port of its own, beside those of
    ///   https and http.
    package init(_ names: some Sequence<String>, ports: some Sequence<Int>) {
        self.names = Set(names.compactMap(Self.name))
        self.ports = Set(ports)
    }

    /// Whether a text can be a name.
    package static func isName(_ text: String) -> Bool { name(text) != nil }

    /// Whether a host is one of the names, at whatever port.
    ///
    /// - Parameter host: A host without a port; an address of version 6 with or without its brackets.
    package func include(host: String) -> Bool {
        let spellings = Self.spellings(Self.plain(host.lowercased()))
        return names.contains { spellings.contains($0.host) }
    }

    /// Whether an origin, such as `https://push.example:8443`, is one of the server's: its host is a name, and its port the
    /// name's own; else one of the server's, or the scheme's.
    package func include(origin: String) -> Bool {
        let text = origin.lowercased()
        let schemes = [(text: "https://", port: 443), (text: "http://", port: 80)]
        guard let scheme = schemes.first(where: { text.hasPrefix($0.text) }),
            let asked = Self.name(String(text.dropFirst(scheme.text.count)))
        else { return false }
        let port = asked.port ?? scheme.port
        return Self.spellings(asked.host).contains { host in
            names.contains(Name(host: host, port: port))
                || names.contains(Name(host: host)) && (port == scheme.port || ports.contains(port))
        }
    }

    /// A host, and the name that stands for all hosts beside it.
    private static func spellings(_ host: String) -> [String] {
        guard let dot = host.firstIndex(of: ".") else { return [host] }
        return [host, "*" + host[dot...]]
    }

    private static func plain(_ host: String) -> String {
        host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    private static func name(_ text: String) -> Name? {
        let text = text.lowercased()
        // More than one colon is an address of version 6 without brackets, which has no port.
        guard let colon = text.lastIndex(of: ":"), text.hasPrefix("[") || text.firstIndex(of: ":") == colon,
            !text.hasSuffix("]")
        else { return isHost(plain(text)) ? Name(host: plain(text)) : nil }
        let digits = text[text.index(after: colon)...]
        let host = plain(String(text[..<colon]))
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65_535).contains(port), isHost(host)
        else { return nil }
        return Name(host: host, port: port)
    }

    /// Whether a text has the signs of a host alone; a star stands for the first label.
    private static func isHost(_ text: String) -> Bool {
        let rest = text.hasPrefix("*.") ? text.dropFirst(2) : text[...]
        return !rest.isEmpty && text.utf8.count <= 255
            && rest.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}

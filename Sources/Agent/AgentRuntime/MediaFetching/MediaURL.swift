import AgentEngine
import AgentProtocol
import NIOCore

/// An address that can be fetched, in one spelling: the checked text is also the one that is connected to.
///
/// The host is in lower case and of the letters of host names, so that no two readers understand it differently.
package struct MediaURL: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is `https`; else it is `http`.
    package let isSecure: Bool
    /// A host name or an IP address, without the brackets of IPv6.
    package let host: String
    /// The port, given or the scheme's own.
    package let port: Int
    /// The part from the first slash on, without the fragment.
    package let target: String

    /// The most bytes that are read.
    package static let lengthLimit = 4096

    /// Reads an address as a payload has it.
    ///
    /// - Throws: ``MediaFailure`` with the reason `refusedURL`.
    package init(_ text: String) throws(MediaFailure) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw Self.refused("an address of \(text.utf8.count) bytes; at most \(Self.lengthLimit) are allowed")
        }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else {
            throw Self.refused("\(Self.shown(text)) is no address that begins with https://")
        }
        let scheme = text[..<colon].lowercased()
        guard scheme == "https" || scheme == "http" else {
            throw Self.refused("\(Self.shown(scheme)) is no scheme to fetch a file by; take https")
        }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        (host, port) = try Self.authority(rest[..<end], isSecure: scheme == "https")
        isSecure = scheme == "https"
        target = Self.target(rest[end...])
    }

    private init(isSecure: Bool, host: String, port: Int, target: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.target = target
    }

    /// The target of a redirect (RFC 3986, section 5.2).
    package func redirected(to location: String) throws(MediaFailure) -> MediaURL {
        if Self.hasScheme(location) { return try MediaURL(location) }
        if location.hasPrefix("//") { return try MediaURL((isSecure ? "https:" : "http:") + location) }
        let path = target.prefix { $0 != "?" }
        let merged: Substring
        switch location.first {
        case "/": merged = location[...]
        case "?": merged = path + location
        case "#", nil: merged = target[...]
        default: merged = path[...(path.lastIndex(of: "/") ?? path.startIndex)] + location
        }
        guard merged.utf8.count <= Self.lengthLimit else {
            throw Self.refused("a redirect to an address of \(merged.utf8.count) bytes")
        }
        return MediaURL(isSecure: isSecure, host: host, port: port, target: Self.target(merged))
    }

    /// The whole address. The scheme's own port is left out.
    package var description: String {
        let scheme = isSecure ? "https" : "http"
        let name = host.contains(":") ? "[\(host)]" : host
        return "\(scheme)://\(name)\(port == (isSecure ? 443 : 80) ? "" : ":\(port)")\(target)"
    }

    /// Scheme, host and port: the part that may be logged, since the rest may be secret.
    package var origin: String {
        MediaURL(isSecure: isSecure, host: host, port: port, target: "").description
    }

    /// The extension of the last part of the path; empty where it has none.
    package var fileExtension: String {
        let path = target.prefix { $0 != "?" }
        let name = path.split(separator: "/").last ?? ""
        guard let dot = name.lastIndex(of: ".") else { return "" }
        return name[name.index(after: dot)...].lowercased()
    }

    private static func authority(
        _ text: Substring, isSecure: Bool
    ) throws(MediaFailure) -> (host: String, port: Int) {
        guard !text.contains("@") else {
            throw refused("an address with a user's name or password, which are not sent")
        }
        var host = text
        var number: Substring?
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else { throw refused("an IPv6 address without its end") }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.first == ":" else { throw refused("text after an IPv6 address") }
            number = rest.isEmpty ? nil : rest.dropFirst()
            // inet_pton(3) reads as far as the first NUL.
            guard host.contains(":"), !host.utf8.contains(0),
                (try? SocketAddress(ipAddress: String(host), port: 0)) != nil
            else {
                throw refused("\(shown(host)) is no IPv6 address")
            }
        } else if let colon = text.firstIndex(of: ":") {
            host = text[..<colon]
            number = text[text.index(after: colon)...]
        }
        let isName = host.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
        }
        guard !host.isEmpty, host.utf8.count <= 253, isName || text.first == "[" else {
            throw refused("\(shown(host)) is no host name; other letters are written as xn--…")
        }
        guard let number, !number.isEmpty else { return (host.lowercased(), isSecure ? 443 : 80) }
        guard number.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(number), (1...65535).contains(port)
        else { throw refused("\(shown(number)) is no port") }
        return (host.lowercased(), port)
    }

    /// Path and query as they are sent: other characters are written with `%` (RFC 3986, section 2.1).
    private static func target(_ text: Substring) -> String {
        var bytes: [UInt8] = text.first == "/" ? [] : [UInt8(ascii: "/")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "#") { break }
            if byte > 0x20, byte < 0x7F, !#""<>\^`{|}"#.utf8.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += "%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func hasScheme(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else { return false }
        return text[..<colon].allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
    }

    private static func shown(_ text: some StringProtocol) -> String {
        "\"\(String(String(text.prefix(64)).filter { $0.isASCII && !$0.isNewline }))\""
    }

    private static func refused(_ message: String) -> MediaFailure { MediaFailure(.refusedURL, message) }
}

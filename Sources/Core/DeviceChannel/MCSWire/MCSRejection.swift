/// The response of a server, in place of a TLS handshake, to a device that is to reconnect later. It saves the cost of
/// a handshake.
///
/// It begins with a fatal alert of TLS, by which every other client is refused. The bytes after it are outside TLS and
/// not authenticated: an attacker who could forge them could as well cut the connection.
package enum MCSRejection {
    /// A record with the alert `internal_error`.
    private static let alert: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]
    private static let mark = alert + Array("ALDABA BUSY ".utf8)
    /// The most digits of a delay in milliseconds; no server sends more.
    private static let mostDigits = 9

    /// The bytes that make a device reconnect after so many milliseconds.
    package static func bytes(retryAfter milliseconds: Int64) -> [UInt8] {
        mark + Array("\(min(max(1, milliseconds), 999_999_999))\n".utf8)
    }

    /// The meaning of a server's first bytes.
    package enum Reading: Hashable, Sendable {
        /// They may become such a response: more has to be read.
        case incomplete
        /// They are something else, TLS for instance.
        case other
        /// The device is to come again after so many milliseconds.
        case retryAfter(Int64)
    }

    /// Reads the first bytes that came. Keeps asking for more for a few dozen bytes at most.
    package static func read(_ bytes: some Collection<UInt8>) -> Reading {
        let head = bytes.prefix(mark.count)
        guard mark.starts(with: head) else { return .other }
        guard head.count == mark.count else { return .incomplete }
        let rest = bytes.dropFirst(mark.count)
        let digits = rest.prefix { (48...57).contains($0) }
        guard digits.count <= mostDigits else { return .other }
        guard let end = rest.dropFirst(digits.count).first else { return .incomplete }
        guard end == UInt8(ascii: "\n"), let pause = Int64(String(decoding: digits, as: UTF8.self)), pause > 0 else {
            return .other
        }
        return .retryAfter(pause)
    }
}

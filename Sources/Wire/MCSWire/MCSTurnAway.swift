/// What a server says instead of TLS to a device that is to come again later, so that sending it away costs no handshake.
///
/// It begins with a fatal alert of TLS, by which every other client learns that it is refused. What follows stands beneath TLS and is
/// proven by nobody: whoever could forge it could as well cut the connection.
public enum MCSTurnAway {
    /// A record with the alert `internal_error`.
    private static let alert: [UInt8] = [0x15, 0x03, 0x03, 0x00, 0x02, 0x02, 0x50]
    private static let mark = alert + Array("ALDABA BUSY ".utf8)
    /// More milliseconds than this many digits can say are nothing that a server says.
    private static let mostDigits = 9

    /// The words that send a device away for so many milliseconds.
    public static func bytes(retryAfter milliseconds: Int64) -> [UInt8] {
        mark + Array("\(min(max(1, milliseconds), 999_999_999))\n".utf8)
    }

    /// What the first bytes of a server are.
    public enum Reading: Hashable, Sendable {
        /// They may become these words: more has to be read.
        case incomplete
        /// They are something else, TLS for instance.
        case other
        /// The device is to come again after so many milliseconds.
        case retryAfter(Int64)
    }

    /// Reads the first bytes that came. Keeps asking for more for a few dozen bytes at most.
    public static func read(_ bytes: some Collection<UInt8>) -> Reading {
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

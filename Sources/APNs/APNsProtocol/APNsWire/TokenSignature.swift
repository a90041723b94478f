import Crypto
import Foundation

/// The two forms in which providers write an ES256 signature.
///
/// JWS has the 64 bytes `r ‖ s` (RFC 7518, section 3.4). Apple's recipe for the command line signs with
/// `openssl dgst -sha256 -sign`, which writes DER: `SEQUENCE { r INTEGER, s INTEGER }` (RFC 3279, section 2.2.3).
enum TokenSignature {
    private static let half = 32

    /// Reads either form, each strictly; `nil` for anything else.
    ///
    /// 64 bytes are `r ‖ s`. A DER form of that length, two numbers that lack six bytes together, is one in 2^45.
    static func read(_ bytes: [UInt8]) -> P256.Signing.ECDSASignature? {
        guard let raw = bytes.count == 2 * half ? bytes : raw(der: bytes) else { return nil }
        return try? P256.Signing.ECDSASignature(rawRepresentation: Data(raw))
    }

    /// `r ‖ s` of a DER form (X.690, section 10): definite, shortest lengths, shortest numbers, nothing behind.
    private static func raw(der bytes: [UInt8]) -> [UInt8]? {
        var rest = bytes[...]
        guard rest.popFirst() == 0x30, let length = rest.popFirst(), rest.count == Int(length), length < 0x80,
            let r = number(&rest), let s = number(&rest), rest.isEmpty
        else { return nil }
        return r + s
    }

    /// A number that is not negative, at its full width.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let length = rest.popFirst(), length > 0, length <= half + 1,
            rest.count >= Int(length)
        else { return nil }
        var digits = rest.prefix(Int(length))
        rest = rest.dropFirst(Int(length))
        guard let first = digits.first, first < 0x80 else { return nil }
        // A zero in front is there only to keep the next bit from being the sign.
        if first == 0, digits.count > 1 {
            digits = digits.dropFirst()
            guard let second = digits.first, second >= 0x80 else { return nil }
        }
        guard digits.count <= half else { return nil }
        return [UInt8](repeating: 0, count: half - digits.count) + digits
    }
}

import Foundation

/// The text form of device tokens, in which the agent gives them.
package enum DeviceTokenText {
    /// The bytes of a text of hex digits; `nil` for any other text, and for none.
    package static func bytes(hex: String) -> Data? {
        let digits = hex.utf8.map { Character(UnicodeScalar($0)).hexDigitValue }
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data(capacity: digits.count / 2)
        for place in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[place], let low = digits[place + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}

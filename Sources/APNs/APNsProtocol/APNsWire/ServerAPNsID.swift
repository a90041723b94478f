import PushCore

/// The `apns-id` that the server makes when the provider sends none: a UUID that carries the internal id.
///
/// Version 8 (RFC 9562, section 5.8): 48, 12 and 4 bits of the id around the version and variant bits, then a
/// fixed mark. It needs no index to be looked up, and an id of a foreign form decodes to `nil`.
package enum ServerAPNsID {
    private static let mark: [UInt8] = Array("aldaba".utf8)

    /// The UUID's text, lower case.
    package static func text(of id: NotificationID) -> String {
        String(decoding: bytes(of: id), as: UTF8.self)
    }

    /// The UUID.
    package static func apnsID(of id: NotificationID) -> APNsID { APNsID(rawValue: text(of: id)) }

    /// The 36 bytes of the UUID's text, lower case.
    package static func bytes(of id: NotificationID) -> [UInt8] {
        let value = UInt64(bitPattern: id.rawValue)
        let high = (value >> 16) << 16 | 0x8000 | (value >> 4) & 0xFFF
        var low: UInt64 = 0x80 | value & 0xF
        low = low << 8
        for byte in mark { low = low << 8 | UInt64(byte) }
        var text = [UInt8](repeating: UInt8(ascii: "-"), count: 36)
        var position = 0
        func append(_ word: UInt64, from: Int, to: Int, into text: inout [UInt8]) {
            var shift = from
            while shift >= to {
                let digit = UInt8(truncatingIfNeeded: (word >> UInt64(shift)) & 15)
                text[position] = digit < 10 ? 0x30 + digit : 0x57 + digit
                position += 1
                shift -= 4
            }
        }
        append(high, from: 60, to: 32, into: &text)
        position += 1
        append(high, from: 28, to: 16, into: &text)
        position += 1
        append(high, from: 12, to: 0, into: &text)
        position += 1
        append(low, from: 60, to: 48, into: &text)
        position += 1
        append(low, from: 44, to: 0, into: &text)
        return text
    }

    /// The internal id inside a UUID that the server made; `nil` for any other text.
    package static func id(of text: String) -> NotificationID? {
        guard text.utf8.count == 36 else { return nil }
        var digits: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") {
            guard let digit = Hexadecimal.value(byte) else { return nil }
            digits.append(digit)
        }
        guard digits.count == 32 else { return nil }
        func number(_ range: Range<Int>) -> UInt64 { digits[range].reduce(0) { $0 << 4 | UInt64($1) } }
        let value = (number(0..<12) << 16) | (number(13..<16) << 4) | number(17..<18)
        let id = NotificationID(rawValue: Int64(bitPattern: value))
        return id.rawValue > 0 && self.text(of: id) == text.lowercased() ? id : nil
    }
}

/// A position in JSON text that ``JSONScanner`` has accepted, from which white space, punctuation, strings and bare
/// words are read.
///
/// An unexpected byte ends the reading; nothing traps.
package struct JSONCursor {
    private let bytes: [UInt8]
    /// The offset of the next byte.
    package private(set) var offset = 0

    /// Begins at the first byte.
    package init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next byte; `nil` at the end.
    package var peek: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// Goes on behind white space.
    package mutating func skipWhiteSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    /// Goes on behind white space, and behind that byte where it comes next; whether it did.
    package mutating func take(_ byte: UInt8) -> Bool {
        skipWhiteSpace()
        guard peek == byte else { return false }
        offset += 1
        return true
    }

    /// Reads `true`, `false`, `null` or a number, as it is written.
    package mutating func readBareWord() -> String {
        let start = offset
        while let byte = peek, !",]} \n\r\t".utf8.contains(byte) { offset += 1 }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Reads members from an opening brace to the closing one; `add` gets the offset of each name's quote.
    package mutating func readMembers(_ add: (inout JSONCursor, _ name: String, _ offset: Int) -> Void) {
        _ = take(UInt8(ascii: "{"))
        while !take(UInt8(ascii: "}")), peek == UInt8(ascii: "\"") {
            let start = offset
            let name = readString()
            guard take(UInt8(ascii: ":")) else { break }
            add(&self, name, start)
            _ = take(UInt8(ascii: ","))
            skipWhiteSpace()
        }
    }

    /// Reads elements from an opening bracket to the closing one.
    package mutating func readElements(_ add: (inout JSONCursor) -> Void) {
        _ = take(UInt8(ascii: "["))
        while !take(UInt8(ascii: "]")), peek != nil {
            add(&self)
            _ = take(UInt8(ascii: ","))
        }
    }

    /// Reads a string from its opening quote on; without its escapes.
    package mutating func readString() -> String {
        offset += 1
        // Most strings have no escape: their bytes are decoded as they are.
        let end =
            bytes.withUnsafeBufferPointer { bytes in
                bytes[offset...].firstIndex { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
            } ?? bytes.count
        var units = bytes[offset..<end]
        offset = end
        if peek == UInt8(ascii: "\"") {
            offset += 1
            return String(decoding: units, as: UTF8.self)
        }
        while let byte = peek, byte != UInt8(ascii: "\"") {
            offset += 1
            guard byte == UInt8(ascii: "\\"), let escaped = peek else {
                units.append(byte)
                continue
            }
            offset += 1
            switch escaped {
            case UInt8(ascii: "u"): units += Array(String(readEscapedScalar()).utf8)
            case UInt8(ascii: "b"): units.append(0x08)
            case UInt8(ascii: "f"): units.append(0x0C)
            case UInt8(ascii: "n"): units.append(0x0A)
            case UInt8(ascii: "r"): units.append(0x0D)
            case UInt8(ascii: "t"): units.append(0x09)
            default: units.append(escaped)
            }
        }
        offset = min(offset + 1, bytes.count)
        return String(decoding: units, as: UTF8.self)
    }

    /// The character of `\u`, whose second half is an escape of its own where it has one. Half of a pair alone becomes
    /// U+FFFD.
    private mutating func readEscapedScalar() -> Character {
        let first = readUnit()
        guard UTF16.isLeadSurrogate(first), offset + 2 <= bytes.count, bytes[offset] == UInt8(ascii: "\\"),
            bytes[offset + 1] == UInt8(ascii: "u")
        else { return Unicode.Scalar(first).map { Character($0) } ?? "\u{FFFD}" }
        let place = offset
        offset += 2
        let second = readUnit()
        guard UTF16.isTrailSurrogate(second) else {
            offset = place
            return "\u{FFFD}"
        }
        return String(decoding: [first, second], as: UTF16.self).first ?? "\u{FFFD}"
    }

    private mutating func readUnit() -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = peek, let digit = Hexadecimal.value(byte) else { return unit }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}

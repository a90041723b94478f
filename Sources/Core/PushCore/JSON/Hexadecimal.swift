/// Hexadecimal digits as bytes.
package enum Hexadecimal {
    /// The value of a digit, either case.
    @inline(__always)
    package static func value(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x61...0x66: byte - 0x57
        case 0x41...0x46: byte - 0x37
        default: nil
        }
    }

    /// The value of every byte as a digit; 16 for a byte that is none.
    package static let table: [UInt8] = (0...255).map { value(UInt8($0)) ?? 16 }

    /// The lower-case digits of bytes.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

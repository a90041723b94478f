import Foundation

extension UUID {
    /// A random UUID of version 4 (RFC 9562, section 5.4). `UUID()` opens, reads and closes a file for each one on Linux.
    static func random() -> UUID {
        var random = SystemRandomNumberGenerator()
        let high: UInt64 = random.next() & ~0xF000 | 0x4000
        let low: UInt64 = random.next() & ~(0xC0 << 56) | 0x80 << 56
        var bytes: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &bytes) {
            $0.storeBytes(of: high.bigEndian, as: UInt64.self)
            $0.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
        }
        return UUID(uuid: bytes)
    }

    /// The text in lower case, which is one allocation in place of two.
    var lowercaseText: String {
        let digits: StaticString = "0123456789abcdef"
        return withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var end = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[end] = UInt8(ascii: "-")
                        end += 1
                    }
                    text[end] = digits.utf8Start[Int(byte >> 4)]
                    text[end + 1] = digits.utf8Start[Int(byte & 15)]
                    end += 2
                }
                return end
            }
        }
    }
}

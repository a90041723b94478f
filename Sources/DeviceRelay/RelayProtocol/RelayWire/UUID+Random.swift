import Foundation

extension UUID {
    /// A random one: version 4 of RFC 9562, by `getrandom(2)`.
    ///
    /// Foundation's `UUID()` opens, reads and closes `/dev/urandom` each time.
    package static func random() -> UUID {
        var generator = SystemRandomNumberGenerator()
        let high = generator.next() & ~0xF000 | 0x4000
        let low = generator.next() & ~(0b11 << 62) | 0b10 << 62
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}

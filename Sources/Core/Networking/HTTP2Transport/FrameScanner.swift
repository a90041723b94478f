/// Finds the heads of frames (RFC 9113, section 4.1) in what a client sends, however it is cut: a value.
///
/// It passes over the client's preface and over the frames' payloads without looking at them.
struct FrameScanner: Sendable {
    /// The kinds that are told apart.
    enum Kind: UInt8, Sendable {
        case data = 0
        case headers = 1
        case priority = 2
        case resetStream = 3
        case settings = 4
        case ping = 6
        case windowUpdate = 8
        case continuation = 9
        case other = 255
    }

    /// The head of a frame.
    struct Frame: Sendable {
        /// The payload's length in bytes, padding included.
        let length: Int
        let kind: Kind
        let flags: UInt8
        let stream: Int32

        /// Reads the nine bytes of a head.
        fileprivate init(_ bytes: UnsafeRawBufferPointer) {
            let first = UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self))
            length = Int(first >> 8)
            kind = Kind(rawValue: UInt8(first & 0xFF)) ?? .other
            flags = bytes[4]
            let last = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 5, as: UInt32.self))
            stream = Int32(last & 0x7FFF_FFFF)
        }

        var endsStream: Bool { flags & 0x1 != 0 }
        var isPadded: Bool { flags & 0x8 != 0 }
    }

    private static let headBytes = 9
    private static let prefaceBytes = 24

    /// The bytes that come before the next head.
    private var passed = Self.prefaceBytes
    /// The beginning of a head whose rest has not come.
    private var partial: [UInt8] = []

    /// Calls a closure with each head that ends in these bytes.
    mutating func scan(_ bytes: UnsafeRawBufferPointer, _ found: (Frame) -> Void) {
        var rest = bytes[...]
        while true {
            let skipped = min(passed, rest.count)
            rest = rest.dropFirst(skipped)
            passed -= skipped
            guard !rest.isEmpty else { return }
            let frame: Frame
            if partial.isEmpty, rest.count >= Self.headBytes {
                frame = Frame(UnsafeRawBufferPointer(rebasing: rest.prefix(Self.headBytes)))
                rest = rest.dropFirst(Self.headBytes)
            } else {
                let missing = Self.headBytes - partial.count
                partial += rest.prefix(missing)
                rest = rest.dropFirst(missing)
                guard partial.count == Self.headBytes else { return }
                frame = partial.withUnsafeBytes(Frame.init)
                partial.removeAll(keepingCapacity: true)
            }
            passed = frame.length
            found(frame)
        }
    }
}

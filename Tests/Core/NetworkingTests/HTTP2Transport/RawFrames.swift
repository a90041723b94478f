import NIOCore

/// HTTP/2 frames written and read by hand (RFC 9113, section 4.1), for what no library would send.
struct RawFrame: Equatable {
    enum Kind: UInt8 {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
    }

    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4

    var kind: Kind
    var flags: UInt8 = 0
    var stream: Int32 = 0
    var payload: [UInt8] = []

    var bytes: [UInt8] {
        let length = payload.count
        var bytes = [UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF), kind.rawValue, flags]
        withUnsafeBytes(of: stream.bigEndian) { bytes.append(contentsOf: $0) }
        return bytes + payload
    }

    /// Reads whole frames from the front of what was received; a frame of an unknown kind is passed over.
    static func take(from buffer: inout ByteBuffer) -> [RawFrame] {
        var frames: [RawFrame] = []
        while let length = buffer.getInteger(at: buffer.readerIndex, as: UInt32.self).map({ Int($0 >> 8) }),
            let bytes = buffer.readBytes(length: 9 + length)
        {
            guard let kind = Kind(rawValue: bytes[3]) else { continue }
            let stream = bytes[5..<9].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            frames.append(
                RawFrame(kind: kind, flags: bytes[4], stream: Int32(stream & 0x7FFF_FFFF), payload: Array(bytes[9...])))
        }
        return frames
    }

    /// What a client says first: the preface and empty SETTINGS (RFC 9113, section 3.4).
    static let clientPreface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + RawFrame(kind: .settings).bytes

    /// The head of `POST /` in HPACK (RFC 7541): three indexed fields and a literal `:authority`.
    static let requestHead = [0x83, 0x86, 0x84] + literal(name: [0x01], value: "localhost")

    /// A literal field without indexing.
    static func literal(_ name: String, _ value: String) -> [UInt8] {
        literal(name: [0x00, UInt8(name.utf8.count)] + Array(name.utf8), value: value)
    }

    static func literal(name: [UInt8], value: String) -> [UInt8] {
        name + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    /// Whether the stream is reset with this code.
    static func resetStream(_ stream: Int32, code: UInt8) -> RawFrame {
        RawFrame(kind: .resetStream, stream: stream, payload: [0, 0, 0, code])
    }
}

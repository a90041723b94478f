import Foundation

/// Bytes about relaying, which this protocol only carries: a frame of its own kind.
public struct RelayPacket: Codable, Hashable, Sendable {
    /// The frame in the encoding of `RelayWire`.
    public var frame: Data

    /// Carries these bytes.
    public init(_ frame: [UInt8]) { self.frame = Data(frame) }
}

// Neither a log nor a dump of what holds one shows what it carries: an account's key may be among it.
extension RelayPacket: CustomReflectable {
    /// How many bytes there are, and none of them.
    public var customMirror: Mirror { Mirror(self, children: ["byteCount": frame.count], displayStyle: .struct) }
}

/// The packet as the body of a frame: a zero byte, which begins no JSON text, and the bytes as they are.
extension RelayPacket {
    private static let mark: UInt8 = 0

    /// The body of the frame that carries the packet.
    var body: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 1 + frame.count) { buffer, count in
            buffer[0] = Self.mark
            count = 1 + frame.copyBytes(to: UnsafeMutableBufferPointer(rebasing: buffer[1...]))
        }
    }

    /// Reads the body of a frame.
    ///
    /// - Returns: `nil` for a text, which may be the same message in JSON.
    init?(body: [UInt8]) {
        guard body.first == Self.mark else { return nil }
        frame = Data(body[1...])
    }
}

/// A frame on the socket between the two halves of an app: a message on a channel, or the reply to one.
///
/// A frame consists of:
///
/// - its length without these four bytes (32 bits, little-endian),
/// - a kind (one byte: 0 message, 1 reply),
/// - a number (32 bits),
/// - for a message its channel's name (16 bits for the count, UTF-8),
/// - the rest as content.
///
/// A reply repeats the number of its message; each side counts its own messages.
public enum ChannelFrame: Hashable, Sendable {
    /// A message on a channel; every message is replied to.
    case message(number: UInt32, channel: String, content: [UInt8])
    /// The reply to the message of that number; empty where no handler takes messages on its channel.
    case reply(number: UInt32, content: [UInt8])

    /// The largest length of a frame, in bytes.
    public static let longest = 4 << 20

    /// The frame as bytes.
    ///
    /// - Throws: ``ChannelFrameError/tooLong(_:)`` when it would be longer than ``longest``, or its channel's name
    ///   longer than 65,535 bytes.
    public func bytes() throws(ChannelFrameError) -> [UInt8] {
        var rest: [UInt8] = []
        switch self {
        case .message(let number, let channel, let content):
            rest.append(0)
            Self.append(number, to: &rest)
            guard let count = UInt16(exactly: channel.utf8.count) else { throw .tooLong(channel.utf8.count) }
            Self.append(count, to: &rest)
            rest += channel.utf8
            rest += content
        case .reply(let number, let content):
            rest.append(1)
            Self.append(number, to: &rest)
            rest += content
        }
        guard rest.count <= Self.longest else { throw .tooLong(rest.count) }
        var frame: [UInt8] = []
        frame.reserveCapacity(rest.count + 4)
        Self.append(UInt32(rest.count), to: &frame)
        return frame + rest
    }

    private static func append(_ number: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}

/// Why bytes are no frame.
public enum ChannelFrameError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A frame of so many bytes is longer than a frame may be.
    case tooLong(Int)
    /// The frame's content ends too early, or its kind or its channel's name cannot be read.
    case malformed

    public var description: String {
        switch self {
        case .tooLong(let count):
            "a frame of \(count) bytes; \(ChannelFrame.longest) is the most, and 65,535 for a channel's name"
        case .malformed: "a frame is a kind (0 or 1), a number, for a message its channel's name in UTF-8, and content"
        }
    }
}

/// Cuts a stream into frames. What it holds is at most one frame and what was appended last.
public struct ChannelFrameDecoder: Sendable {
    private var bytes: [UInt8] = []
    private var offset = 0

    /// Begins at the start of a stream.
    public init() {}

    /// Takes what was read.
    public mutating func append(_ more: some Sequence<UInt8>) {
        bytes.removeFirst(offset)
        offset = 0
        bytes += more
    }

    /// The next whole frame; `nil` where it has not come yet.
    ///
    /// - Throws: ``ChannelFrameError``; the stream cannot be read on then.
    public mutating func next() throws(ChannelFrameError) -> ChannelFrame? {
        guard bytes.count - offset >= 4 else { return nil }
        let length = Int(number(at: offset) as UInt32)
        guard length <= ChannelFrame.longest else { throw .tooLong(length) }
        guard bytes.count - offset - 4 >= length else { return nil }
        let start = offset + 4
        offset = start + length
        return try frame(in: start..<offset)
    }

    private func frame(in range: Range<Int>) throws(ChannelFrameError) -> ChannelFrame {
        guard range.count >= 5 else { throw .malformed }
        let number: UInt32 = number(at: range.lowerBound + 1)
        let content = range.lowerBound + 5
        switch bytes[range.lowerBound] {
        case 0:
            guard range.upperBound - content >= 2 else { throw .malformed }
            let count = Int(self.number(at: content) as UInt16)
            let end = content + 2 + count
            guard end <= range.upperBound,
                let channel = String(validating: bytes[(content + 2)..<end], as: UTF8.self)
            else { throw .malformed }
            return .message(number: number, channel: channel, content: Array(bytes[end..<range.upperBound]))
        case 1: return .reply(number: number, content: Array(bytes[content..<range.upperBound]))
        default: throw .malformed
        }
    }

    private func number<Bits: FixedWidthInteger & UnsignedInteger>(at start: Int) -> Bits {
        bytes[start..<(start + Bits.bitWidth / 8)].reversed().reduce(0) { $0 << 8 | Bits($1) }
    }
}

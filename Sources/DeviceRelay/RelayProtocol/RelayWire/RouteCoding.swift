import Foundation

/// Reads and writes routes without an intermediate ``RelayMap``, since every message between devices is one. The bytes
/// are those of ``RelayEncoder``: a map whose names are sorted.
extension RelayRoute {
    private static let id = Array("\u{62}id".utf8) + [0xd8, 0x25, 0x50]
    private static let body = Array("\u{64}body".utf8)
    private static let bulk = Array("\u{64}bulk".utf8) + [0xf5]
    private static let peer = Array("\u{64}peer".utf8)
    private static let type = Array("\u{64}type\u{65}route".utf8)
    private static let waits = Array("\u{65}waits".utf8) + [0xf5]
    private static let deadline = Array("\u{68}deadline".utf8)

    /// The bytes of the frame; `nil` where they are more than a frame may have.
    func encoded() -> [UInt8]? {
        let size = 160 + peer.utf8.count + body.count
        guard size <= RelayLimits.frame.bytes else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size)
        bytes.append(0xa4 + (isBulk ? 1 : 0) + (waits ? 1 : 0) + (deadline == nil ? 0 : 1))
        bytes += Self.id
        withUnsafeBytes(of: id.uuid) { bytes += $0 }
        bytes += Self.body
        RelayEncoder.appendHead(2, UInt64(body.count), to: &bytes)
        bytes += body
        if isBulk { bytes += Self.bulk }
        bytes += Self.peer
        RelayEncoder.appendHead(3, UInt64(peer.utf8.count), to: &bytes)
        bytes += peer.utf8
        bytes += Self.type
        if waits { bytes += Self.waits }
        if let deadline {
            bytes += Self.deadline
            if deadline >= 0 {
                RelayEncoder.appendHead(0, UInt64(deadline), to: &bytes)
            } else {
                RelayEncoder.appendHead(1, UInt64(bitPattern: ~deadline), to: &bytes)
            }
        }
        return bytes
    }

    /// Reads a frame that is a route; `nil` for every other, and for what ``RelayDecoder`` is to find the fault of.
    init?(frame: [UInt8]) {
        guard frame.count <= RelayLimits.frame.bytes else { return nil }
        var reader = RouteReader(bytes: frame)
        guard let members = reader.next(), members >= 0xa4, members <= 0xa7, reader.skip(Self.id),
            let id = reader.take(16), reader.skip(Self.body), let body = reader.content(major: 2)
        else { return nil }
        isBulk = reader.skip(Self.bulk)
        guard reader.skip(Self.peer), let peer = reader.content(major: 3), peer.count <= 64,
            let name = String(validUTF8: peer), reader.skip(Self.type)
        else { return nil }
        waits = reader.skip(Self.waits)
        if reader.skip(Self.deadline) {
            guard let deadline = reader.integer() else { return nil }
            self.deadline = deadline
        }
        guard reader.isAtEnd, members == 0xa4 + (isBulk ? 1 : 0) + (waits ? 1 : 0) + (deadline == nil ? 0 : 1) else {
            return nil
        }
        self.peer = name
        self.body = Array(body)
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &uuid) { $0.copyBytes(from: id) }
        self.id = UUID(uuid: uuid)
    }
}

/// Goes through a frame's bytes; whatever is not as ``RelayEncoder`` writes it is `nil`.
private struct RouteReader {
    let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    mutating func next() -> UInt8? {
        guard place < bytes.count else { return nil }
        defer { place += 1 }
        return bytes[place]
    }

    /// Whether these bytes come next; they are passed then.
    mutating func skip(_ expected: [UInt8]) -> Bool {
        guard expected.count <= bytes.count - place else { return false }
        for index in expected.indices where bytes[place + index] != expected[index] { return false }
        place += expected.count
        return true
    }

    mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard count >= 0, count <= bytes.count - place else { return nil }
        defer { place += count }
        return bytes[place..<place + count]
    }

    /// The bytes of a byte string (major type 2) or a text (3).
    mutating func content(major: UInt8) -> ArraySlice<UInt8>? {
        guard let (found, length) = head(), found == major, let count = Int(exactly: length) else { return nil }
        return take(count)
    }

    mutating func integer() -> Int64? {
        guard let (major, argument) = head(), major <= 1, let number = Int64(exactly: argument) else { return nil }
        return major == 0 ? number : ~number
    }

    /// A major type and its argument in the shortest form.
    private mutating func head() -> (major: UInt8, argument: UInt64)? {
        guard let first = next() else { return nil }
        let short = first & 0x1f
        guard short >= 24 else { return (first >> 5, UInt64(short)) }
        guard short <= 27, let tail = take(1 << Int(short - 24)) else { return nil }
        var argument: UInt64 = 0
        for byte in tail { argument = argument << 8 | UInt64(byte) }
        let least: UInt64 = tail.count == 1 ? 24 : 1 << UInt64(tail.count * 4)
        return argument >= least ? (first >> 5, argument) : nil
    }
}

/// Reads values that Flutter's standard message codec wrote. Any bytes may come.
public struct StandardReader: Sendable {
    /// How deep lists and maps may lie within each other.
    public static let deepest = 64

    private let bytes: [UInt8]
    private var offset: Int

    /// Begins to read a message.
    ///
    /// - Parameter offset: The offset of the first value, in `0 ... bytes.count`; alignment is counted from the
    ///   message's first byte all the same.
    public init(_ bytes: [UInt8], from offset: Int = 0) {
        self.bytes = bytes
        self.offset = min(max(0, offset), bytes.count)
    }

    /// Whether everything was read.
    public var isAtEnd: Bool { offset == bytes.count }

    /// Reads a message that is one value; an empty one is ``StandardValue/null``.
    ///
    /// - Throws: ``StandardCodecError``, also when something follows the value.
    public static func value(of message: [UInt8]) throws(StandardCodecError) -> StandardValue {
        guard !message.isEmpty else { return .null }
        var reader = StandardReader(message)
        let value = try reader.read()
        try reader.end()
        return value
    }

    /// Reads the next value. - Throws: ``StandardCodecError``.
    public mutating func read() throws(StandardCodecError) -> StandardValue { try read(depth: 0) }

    /// Makes sure that nothing follows. - Throws: ``StandardCodecError/trailingBytes(at:)``.
    public func end() throws(StandardCodecError) {
        guard isAtEnd else { throw .trailingBytes(at: offset) }
    }

    private mutating func read(depth: Int) throws(StandardCodecError) -> StandardValue {
        let start = offset
        let byte: UInt8 = try number()
        guard let tag = StandardTag(rawValue: byte) else { throw .unknownTag(byte, at: start) }
        switch tag {
        case .null: return .null
        case .yes: return .bool(true)
        case .no: return .bool(false)
        case .int32: return .integer(Int64(Int32(bitPattern: try number())))
        case .int64: return .integer(Int64(bitPattern: try number()))
        case .largeInteger: return .largeInteger(try text())
        case .double:
            try align(to: 8)
            return .double(Double(bitPattern: try number()))
        case .string: return .string(try text())
        case .bytes: return .bytes(Array(try take(try count())))
        case .int32List: return .int32List(try numbers { Int32(bitPattern: $0) })
        case .int64List: return .int64List(try numbers { Int64(bitPattern: $0) })
        case .floatList: return .floatList(try numbers { Float(bitPattern: $0) })
        case .doubleList: return .doubleList(try numbers { Double(bitPattern: $0) })
        case .list: return .list(try list(depth))
        case .map: return .map(try map(depth))
        }
    }

    private mutating func list(_ depth: Int) throws(StandardCodecError) -> [StandardValue] {
        var values: [StandardValue] = []
        for _ in 0..<(try members(depth)) { values.append(try read(depth: depth + 1)) }
        return values
    }

    private mutating func map(_ depth: Int) throws(StandardCodecError) -> [StandardPair] {
        var pairs: [StandardPair] = []
        for _ in 0..<(try members(depth)) {
            let key = try read(depth: depth + 1)
            pairs.append(StandardPair(key, try read(depth: depth + 1)))
        }
        return pairs
    }

    /// How many members follow; each has a byte at least.
    private mutating func members(_ depth: Int) throws(StandardCodecError) -> Int {
        guard depth < Self.deepest else { throw .tooDeep(at: offset) }
        let count = try count()
        guard count <= bytes.count - offset else { throw .truncated(at: bytes.count) }
        return count
    }

    private mutating func text() throws(StandardCodecError) -> String {
        let start = offset
        guard let text = String(validating: try take(try count()), as: UTF8.self) else { throw .notUTF8(at: start) }
        return text
    }

    private mutating func numbers<Bits: FixedWidthInteger & UnsignedInteger, Number>(
        _ number: (Bits) -> Number
    ) throws(StandardCodecError) -> [Number] {
        let count = try count()
        let width = Bits.bitWidth / 8
        try align(to: width)
        guard count <= (bytes.count - offset) / width else { throw .truncated(at: bytes.count) }
        var numbers: [Number] = []
        numbers.reserveCapacity(count)
        for _ in 0..<count { numbers.append(number(try self.number())) }
        return numbers
    }

    private mutating func count() throws(StandardCodecError) -> Int {
        switch try number() as UInt8 {
        case 254: Int(try number() as UInt16)
        case 255: Int(try number() as UInt32)
        case let short: Int(short)
        }
    }

    private mutating func align(to width: Int) throws(StandardCodecError) {
        let rest = offset % width
        if rest > 0 { _ = try take(width - rest) }
    }

    private mutating func number<Bits: FixedWidthInteger & UnsignedInteger>() throws(StandardCodecError) -> Bits {
        let content = try take(Bits.bitWidth / 8)
        return content.reversed().reduce(0) { $0 << 8 | Bits($1) }
    }

    private mutating func take(_ count: Int) throws(StandardCodecError) -> ArraySlice<UInt8> {
        guard count <= bytes.count - offset else { throw .truncated(at: bytes.count) }
        defer { offset += count }
        return bytes[offset..<(offset + count)]
    }
}

/// Writes values as Flutter's standard message codec does.
///
/// ```swift
/// var writer = StandardWriter()
/// writer.write(.string("getDeviceToken"))
/// writer.write(.null)
/// send(writer.bytes)
/// ```
public struct StandardWriter: Sendable {
    /// The bytes written so far. Alignment is counted from the first one.
    public private(set) var bytes: [UInt8]

    /// Begins a message.
    ///
    /// - Parameter prefix: The bytes before the first value that belong to the message, such as an envelope's byte.
    public init(prefix: [UInt8] = []) { bytes = prefix }

    /// Writes one value.
    public mutating func write(_ value: StandardValue) {
        switch value {
        case .null: write(tag: .null)
        case .bool(let isTrue): write(tag: isTrue ? .yes : .no)
        case .integer(let number): write(integer: number)
        case .largeInteger(let digits):
            write(tag: .largeInteger)
            write(counted: Array(digits.utf8))
        case .double(let number):
            write(tag: .double)
            align(to: 8)
            append(number.bitPattern)
        case .string(let text):
            write(tag: .string)
            write(counted: Array(text.utf8))
        case .bytes(let bytes):
            write(tag: .bytes)
            write(counted: bytes)
        case .int32List(let numbers): write(.int32List, numbers) { UInt32(bitPattern: $0) }
        case .int64List(let numbers): write(.int64List, numbers) { UInt64(bitPattern: $0) }
        case .floatList(let numbers): write(.floatList, numbers, \.bitPattern)
        case .doubleList(let numbers): write(.doubleList, numbers, \.bitPattern)
        case .list(let values):
            write(tag: .list)
            write(count: values.count)
            for value in values { write(value) }
        case .map(let pairs):
            write(tag: .map)
            write(count: pairs.count)
            for pair in pairs {
                write(pair.key)
                write(pair.value)
            }
        }
    }

    private mutating func write(tag: StandardTag) { bytes.append(tag.rawValue) }

    private mutating func write(integer number: Int64) {
        if let short = Int32(exactly: number) {
            write(tag: .int32)
            append(UInt32(bitPattern: short))
        } else {
            write(tag: .int64)
            append(UInt64(bitPattern: number))
        }
    }

    private mutating func write<Number, Bits: FixedWidthInteger>(
        _ tag: StandardTag, _ numbers: [Number], _ bits: (Number) -> Bits
    ) {
        write(tag: tag)
        write(count: numbers.count)
        align(to: Bits.bitWidth / 8)
        for number in numbers { append(bits(number)) }
    }

    private mutating func write(counted content: [UInt8]) {
        write(count: content.count)
        bytes += content
    }

    /// Writes a count: one byte below 254; 254 and two bytes; 255 and four.
    private mutating func write(count: Int) {
        if count < 254 {
            bytes.append(UInt8(count))
        } else if count <= 0xFFFF {
            bytes.append(254)
            append(UInt16(count))
        } else {
            bytes.append(255)
            append(UInt32(clamping: count))
        }
    }

    private mutating func align(to width: Int) {
        while !bytes.count.isMultiple(of: width) { bytes.append(0) }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}

import Foundation

/// The element type of a ``FlutterStandardTypedData``. Raw values are Flutter's.
public enum FlutterStandardDataType: Int, Sendable {
    /// Bytes.
    case uInt8 = 0
    /// Integers of 32 bits.
    case int32 = 1
    /// Integers of 64 bits.
    case int64 = 2
    /// Floating-point numbers of 32 bits.
    case float32 = 3
    /// Floating-point numbers of 64 bits.
    case float64 = 4
}

/// Numbers of one kind as bytes, little-endian.
public final class FlutterStandardTypedData: NSObject, Sendable {
    /// The bytes.
    public let data: Data
    /// The type of the elements.
    public let type: FlutterStandardDataType

    /// How many bytes an element has.
    public var elementSize: Int {
        switch type {
        case .uInt8: 1
        case .int32, .float32: 4
        case .int64, .float64: 8
        }
    }

    /// How many elements there are; bytes beyond the last whole one do not count.
    public var elementCount: Int { data.count / elementSize }

    private init(_ data: Data, _ type: FlutterStandardDataType) {
        self.data = data
        self.type = type
    }

    /// Bytes.
    public convenience init(bytes data: Data) { self.init(data, .uInt8) }
    /// Integers of 32 bits each.
    public convenience init(int32 data: Data) { self.init(data, .int32) }
    /// Integers of 64 bits each.
    public convenience init(int64 data: Data) { self.init(data, .int64) }
    /// Floating-point numbers of 32 bits each.
    public convenience init(float32 data: Data) { self.init(data, .float32) }
    /// Floating-point numbers of 64 bits each.
    public convenience init(float64 data: Data) { self.init(data, .float64) }

    /// Creates the data of a list of numbers; no bytes for any other value.
    convenience init(_ value: StandardValue) {
        switch value {
        case .int32List(let list): self.init(Self.bytes(list.map { UInt32(bitPattern: $0) }), .int32)
        case .int64List(let list): self.init(Self.bytes(list.map { UInt64(bitPattern: $0) }), .int64)
        case .floatList(let list): self.init(Self.bytes(list.map(\.bitPattern)), .float32)
        case .doubleList(let list): self.init(Self.bytes(list.map(\.bitPattern)), .float64)
        default: self.init(Data(), .uInt8)
        }
    }

    var value: StandardValue {
        switch type {
        case .uInt8: .bytes([UInt8](data))
        case .int32: .int32List(numbers().map { Int32(bitPattern: $0) })
        case .int64: .int64List(numbers().map { Int64(bitPattern: $0) })
        case .float32: .floatList(numbers().map { Float(bitPattern: $0) })
        case .float64: .doubleList(numbers().map { Double(bitPattern: $0) })
        }
    }

    private static func bytes<Bits: FixedWidthInteger>(_ numbers: [Bits]) -> Data {
        numbers.reduce(into: Data()) { data, number in
            withUnsafeBytes(of: number.littleEndian) { data.append(contentsOf: $0) }
        }
    }

    private func numbers<Bits: FixedWidthInteger & UnsignedInteger>() -> [Bits] {
        let bytes = [UInt8](data)
        return (0..<elementCount).map { index in
            bytes[(index * elementSize)..<((index + 1) * elementSize)].reversed().reduce(0) { $0 << 8 | Bits($1) }
        }
    }

    /// Whether bytes and kind are the same.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? FlutterStandardTypedData else { return false }
        return data == other.data && type == other.type
    }

    /// The hash of the bytes and the kind.
    public override var hash: Int { data.hashValue ^ type.rawValue }
}

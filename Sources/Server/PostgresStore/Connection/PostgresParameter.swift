/// A parameter of a statement in PostgreSQL's binary format.
struct PostgresParameter: Sendable {
    /// A type of values, by its number in the catalogue `pg_type`.
    enum Kind: UInt32, Sendable {
        /// A value of the type `bool`.
        case bool = 16
        /// A value of the type `bytea`.
        case bytea = 17
        /// A value of the type `int8`.
        case int8 = 20
        /// A value of the type `int2`.
        case int2 = 21
        /// A value of the type `int4`.
        case int4 = 23
        /// A value of the type `text`.
        case text = 25
        /// An array of the type `bool`.
        case boolArray = 1000
        /// An array of the type `bytea`.
        case byteaArray = 1001
        /// An array of the type `int2`.
        case int2Array = 1005
        /// An array of the type `int4`.
        case int4Array = 1007
        /// An array of the type `text`.
        case textArray = 1009
        /// An array of the type `int8`.
        case int8Array = 1016

        /// The type of an array of these.
        fileprivate var array: Kind {
            switch self {
            case .bool: .boolArray
            case .bytea: .byteaArray
            case .int2: .int2Array
            case .int4: .int4Array
            case .int8: .int8Array
            case .text, .boolArray, .byteaArray, .int2Array, .int4Array, .textArray, .int8Array: .textArray
            }
        }
    }

    /// The type.
    let kind: Kind
    /// The value; `nil` for NULL.
    let bytes: [UInt8]?

    /// An array of numbers of eight bytes.
    static func int8s(_ values: some Collection<Int64?>) -> PostgresParameter {
        numbers(values, .int8)
    }

    /// An array of numbers of eight bytes, none of them NULL.
    static func int8s(_ values: some Collection<Int64>) -> PostgresParameter {
        int8s(values.map(Optional.some))
    }

    /// An array of numbers of four bytes.
    static func int4s(_ values: some Collection<Int32?>) -> PostgresParameter {
        numbers(values, .int4)
    }

    /// An array of numbers of two bytes.
    static func int2s(_ values: some Collection<Int16?>) -> PostgresParameter {
        numbers(values, .int2)
    }

    /// An array of truth values.
    static func bools(_ values: some Collection<Bool?>) -> PostgresParameter {
        array(values, .bool, size: 1) { $1.append($0 ? 1 : 0) }
    }

    /// An array of texts.
    static func texts(_ values: some Collection<String?>) -> PostgresParameter {
        array(values, .text, size: 16) { $1.append(contentsOf: $0.withoutNUL.utf8) }
    }

    /// An array of byte strings.
    static func byteas(_ values: some Collection<[UInt8]?>) -> PostgresParameter {
        array(values, .bytea, size: 256) { $1.append(contentsOf: $0) }
    }

    private static func numbers<Number: FixedWidthInteger>(
        _ values: some Collection<Number?>, _ kind: Kind
    ) -> PostgresParameter {
        array(values, kind, size: Number.bitWidth / 8) { append($0, to: &$1) }
    }

    /// The binary form of an array with one dimension, as `array_send` of the server writes it.
    ///
    /// - Parameter size: The expected bytes of a value.
    private static func array<Value>(
        _ values: some Collection<Value?>, _ kind: Kind, size: Int, write: (Value, inout [UInt8]) -> Void
    ) -> PostgresParameter {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(20 + values.count * (4 + size))
        append(Int32(values.isEmpty ? 0 : 1), to: &bytes)
        append(Int32(values.contains { $0 == nil } ? 1 : 0), to: &bytes)
        append(Int32(bitPattern: kind.rawValue), to: &bytes)
        if !values.isEmpty {
            append(Int32(values.count), to: &bytes)
            append(Int32(1), to: &bytes)
        }
        for value in values {
            guard let value else {
                append(Int32(-1), to: &bytes)
                continue
            }
            let place = bytes.count
            append(Int32(0), to: &bytes)
            write(value, &bytes)
            let length = big(Int32(bytes.count - place - 4))
            bytes.replaceSubrange(place..<(place + 4), with: length)
        }
        return PostgresParameter(kind: kind.array, bytes: bytes)
    }

    private static func append(_ value: some FixedWidthInteger, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func big(_ value: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}

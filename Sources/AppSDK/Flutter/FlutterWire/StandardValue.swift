/// A value that Flutter's standard message codec knows. Source: `StandardMessageCodec`, Flutter's API reference.
public enum StandardValue: Hashable, Sendable {
    /// Nothing; also what an empty message means.
    case null
    /// A truth value.
    case bool(Bool)
    /// An integer; written with 32 bits where they suffice, else with 64.
    case integer(Int64)
    /// An integer of any size as hexadecimal digits: an old form that today's engines read and do not write.
    case largeInteger(String)
    /// A floating-point number.
    case double(Double)
    /// A text.
    case string(String)
    /// Bytes.
    case bytes([UInt8])
    /// Integers of 32 bits each.
    case int32List([Int32])
    /// Integers of 64 bits each.
    case int64List([Int64])
    /// Floating-point numbers of 32 bits each.
    case floatList([Float])
    /// Floating-point numbers of 64 bits each.
    case doubleList([Double])
    /// Values of any kind.
    case list([StandardValue])
    /// Pairs in the order of the message; keys may be of any kind.
    case map([StandardPair])
}

/// A key and its value in a ``StandardValue/map(_:)``.
public struct StandardPair: Hashable, Sendable {
    /// The key, of any kind.
    public var key: StandardValue
    /// The value.
    public var value: StandardValue

    /// Makes a pair.
    public init(_ key: StandardValue, _ value: StandardValue) {
        self.key = key
        self.value = value
    }
}

/// The first byte of each value.
enum StandardTag: UInt8 {
    case null = 0
    case yes = 1
    case no = 2
    case int32 = 3
    case int64 = 4
    case largeInteger = 5
    case double = 6
    case string = 7
    case bytes = 8
    case int32List = 9
    case int64List = 10
    case doubleList = 11
    case list = 12
    case map = 13
    case floatList = 14
}

/// Why bytes are no message of the standard codec.
public enum StandardCodecError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The message ends within a value; with the offset at which more was wanted.
    case truncated(at: Int)
    /// No value begins with this byte; 128 and above are left to codecs that extend this one.
    case unknownTag(UInt8, at: Int)
    /// A text is not UTF-8.
    case notUTF8(at: Int)
    /// Values lie within each other more than 64 levels deep.
    case tooDeep(at: Int)
    /// Something follows the value.
    case trailingBytes(at: Int)
    /// A method call does not begin with a text.
    case noMethodName
    /// A reply begins neither with 0 nor with 1.
    case unknownEnvelope(UInt8)
    /// The code of an error is no text, or its message is neither a text nor null.
    case malformedError

    public var description: String {
        switch self {
        case .truncated(let offset): "the message ends within a value, at byte \(offset)"
        case .unknownTag(let tag, let offset): "byte \(offset): no value begins with \(tag)"
        case .notUTF8(let offset): "byte \(offset): the text is not UTF-8"
        case .tooDeep(let offset): "byte \(offset): values lie more than 64 levels deep"
        case .trailingBytes(let offset): "byte \(offset): something follows the value"
        case .noMethodName: "a method call begins with the method's name"
        case .unknownEnvelope(let byte): "a reply begins with 0 (success) or 1 (error), not with \(byte)"
        case .malformedError: "an error has a text as its code, and a text or null as its message"
        }
    }
}

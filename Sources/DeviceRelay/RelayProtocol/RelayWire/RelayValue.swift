import Foundation

/// A value that devices can exchange. Integers, doubles and truth values stay distinct, also where their numbers are
/// equal.
public enum RelayValue: Hashable, Sendable {
    /// A text of Unicode.
    case string(String)
    /// A whole number of 64 bits with a sign.
    case integer(Int64)
    /// A number of 64 bits with a binary point; infinite ones and NaN are among them.
    case double(Double)
    /// True or false.
    case bool(Bool)
    /// A moment, in milliseconds since 1970.
    case date(milliseconds: Int64)
    /// An id of 16 bytes.
    case uuid(UUID)
    /// Bytes.
    case data([UInt8])
    /// Values of one kind.
    case array([RelayValue])
    /// Values by name.
    case dictionary([String: RelayValue])

    /// The kind of a value, without its content.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The kinds by the names that messages to people use.
        case string, integer, double, bool, date, uuid, data, array, dictionary
    }

    /// The kind of the value.
    public var kind: Kind {
        switch self {
        case .string: .string
        case .integer: .integer
        case .double: .double
        case .bool: .bool
        case .date: .date
        case .uuid: .uuid
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        }
    }
}

extension RelayValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral
{
    /// A text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// A whole number.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A number with a binary point.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Values by name; of a name that occurs twice the last value counts.
    public init(dictionaryLiteral elements: (String, RelayValue)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
    /// Values, whose kinds are compared when they are encoded.
    public init(arrayLiteral elements: RelayValue...) { self = .array(elements) }
}

/// The contents of a message: values by name.
public typealias RelayMap = [String: RelayValue]

/// How large and how deep a message may be.
public struct RelayLimits: Hashable, Sendable {
    /// The most bytes of an encoded message.
    public var bytes: Int
    /// How deep dictionaries and arrays may be nested; the message itself is the first level.
    public var depth: Int
    /// How many values a message may hold in all.
    public var entries: Int

    /// Takes the limits as they are.
    public init(bytes: Int, depth: Int = 16, entries: Int = 4096) {
        self.bytes = bytes
        self.depth = depth
        self.entries = entries
    }

    /// The limits of a message unless an app asks for more: 64 KiB.
    public static let message = RelayLimits(bytes: 64 << 10)
    /// The limits of any message: 256 KiB.
    public static let largestMessage = RelayLimits(bytes: 256 << 10)
    /// The limits of what agents and server say to each other around a message.
    static let frame = RelayLimits(bytes: 320 << 10, depth: 20, entries: 8192)
}

/// Why a message cannot be encoded, or bytes are none: where, and what would be right.
public struct RelayFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of fault.
    public enum Problem: Hashable, Sendable {
        /// More bytes than are allowed; both numbers.
        case tooLarge(bytes: Int, limit: Int)
        /// Dictionaries and arrays are nested deeper than this.
        case tooDeep(limit: Int)
        /// More values than this.
        case tooManyEntries(limit: Int)
        /// An array holds another kind of value than its first is of.
        case mixedArray(first: RelayValue.Kind, other: RelayValue.Kind)
        /// A name occurs twice.
        case duplicateKey
        /// Bytes that this encoding does not have; the text describes them.
        case malformed(String)
        /// A required member is missing or of another kind; the text describes the expected value.
        case member(String)
    }

    /// The place in the message, such as `photos[3].name`; empty for the message itself.
    public var path: String
    /// The fault at that place.
    public var problem: Problem

    /// Names a fault.
    public init(path: String, _ problem: Problem) {
        self.path = path
        self.problem = problem
    }

    /// The place and the fault, in words.
    public var description: String { words(of: "the message", advice: "send what is larger as a stream") }

    /// The place and the fault, in words for something other than a message.
    ///
    /// - Parameters:
    ///   - whole: The name of that value.
    ///   - advice: What to do where it is too large; `nil` where there is nothing to do.
    public func words(of whole: String, advice: String? = nil) -> String {
        let place = path.isEmpty ? whole : path
        switch problem {
        case .tooLarge(let bytes, let limit):
            return "\(place) has \(bytes) bytes; at most \(limit) are allowed" + (advice.map { ": \($0)" } ?? "")
        case .tooDeep(let limit): return "\(place) is nested deeper than \(limit) levels"
        case .tooManyEntries(let limit): return "\(place): \(whole) has more than \(limit) values"
        case .mixedArray(let first, let other):
            return "\(place) is of the kind \(other.rawValue) in an array that begins with \(first.rawValue); "
                + "an array has values of one kind"
        case .duplicateKey: return "\(place): the name stands twice"
        case .malformed(let what): return "\(place): \(what)"
        case .member(let what): return "\(place) must be \(what)"
        }
    }
}

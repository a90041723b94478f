import AppHost
import Foundation

/// A value that the standard codec does not know.
struct UnsupportedValue: Error, CustomStringConvertible {
    var type: String
    var description: String {
        "a value of type \(type) cannot be sent; what can are nil, Bool, integers, Double, String, Data, "
            + "FlutterStandardTypedData, and lists and maps of these"
    }
}

extension StandardValue {
    /// The value of what an app wants to send.
    init(_ value: Any?) throws(UnsupportedValue) {
        if let value, let boxed = BoxedNumber(value) {
            self = try Self.number(boxed)
            return
        }
        switch value {
        case nil, is NSNull: self = .null
        case let value as Bool: self = .bool(value)
        case let value as any BinaryInteger: self = try Self.integer(value)
        case let value as Double: self = .double(value)
        case let value as Float: self = .double(Double(value))
        case let value as String: self = .string(value)
        case let value as NSString: self = .string(String(describing: value))
        case let value as Data: self = .bytes([UInt8](value))
        case let value as FlutterStandardTypedData: self = value.value
        case let value as [AnyHashable: Any]: self = try Self.map(value)
        case let value as [Any?]: self = try Self.list(value)
        case .some(let value): throw UnsupportedValue(type: "\(Swift.type(of: value))")
        }
    }

    private static func integer(_ value: any BinaryInteger) throws(UnsupportedValue) -> StandardValue {
        guard let number = Int64(exactly: value) else { throw UnsupportedValue(type: "\(value), beyond 64 bits") }
        return .integer(number)
    }

    private static func number(_ value: BoxedNumber) throws(UnsupportedValue) -> StandardValue {
        switch value {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .largeInteger(let value): try integer(value)
        case .double(let value): .double(value)
        }
    }

    private static func list(_ values: [Any?]) throws(UnsupportedValue) -> StandardValue {
        var members: [StandardValue] = []
        for value in values { members.append(try StandardValue(value)) }
        return .list(members)
    }

    private static func map(_ values: [AnyHashable: Any]) throws(UnsupportedValue) -> StandardValue {
        var pairs: [StandardPair] = []
        for (key, value) in values {
            pairs.append(StandardPair(try StandardValue(key.base), try StandardValue(value)))
        }
        return .map(pairs)
    }

    /// The value for the app: `nil`, `Bool`, `Int`, `Double`, `String`, ``FlutterStandardTypedData``, `[Any]`,
    /// `[AnyHashable: Any]`; `NSNull` within lists and maps. A large integer is the string of its digits.
    var any: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .integer(let value): Int(value)
        case .largeInteger(let digits): digits
        case .double(let value): value
        case .string(let value): value
        case .bytes(let value): FlutterStandardTypedData(bytes: Data(value))
        case .int32List, .int64List, .floatList, .doubleList: FlutterStandardTypedData(self)
        case .list(let values): values.map { $0.any ?? NSNull() }
        case .map(let pairs):
            Dictionary(
                pairs.map { (($0.key.any as? AnyHashable) ?? AnyHashable(NSNull()), $0.value.any ?? NSNull()) },
                uniquingKeysWith: { _, last in last })
        }
    }
}

import Foundation

/// The value in an `NSNumber`, of the kind from which the number was made.
package enum BoxedNumber: Hashable, Sendable {
    /// A truth value.
    case bool(Bool)
    /// A whole number.
    case integer(Int64)
    /// A whole number above `Int64.max`.
    case largeInteger(UInt64)
    /// A floating-point number.
    case double(Double)

    /// Reads an `NSNumber`; `nil` for every other type, Swift's own numbers included.
    ///
    /// A cast such as `value as? Bool` succeeds for each number that is 0 or 1, and `as? Double` for whole numbers.
    /// The kind is known from `objCType`, except for truth values: Foundation has one object for each of the two, and their
    /// `objCType` is that of small negative integers.
    package init?(_ value: Any) {
        guard type(of: value) is NSNumber.Type, let number = value as? NSNumber else { return nil }
        guard number !== NSNumber(value: true), number !== NSNumber(value: false) else {
            self = .bool(number.boolValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"), UInt8(ascii: "f"): self = .double(number.doubleValue)
        case UInt8(ascii: "Q"):
            let whole = number.uint64Value
            self = if let small = Int64(exactly: whole) { .integer(small) } else { .largeInteger(whole) }
        default: self = .integer(number.int64Value)
        }
    }
}

/// The number of a pending request, assigned by its store.
///
/// Guarantees: numbers are only compared; a request that was stored later has a greater one.
package struct RequestKey: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number.
    package let rawValue: Int64

    /// Takes a number as it is.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The order in which requests were kept.
    package static func < (left: RequestKey, right: RequestKey) -> Bool { left.rawValue < right.rawValue }
}

extension RequestKey: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number that is written.
    package init(integerLiteral value: Int64) { self.init(rawValue: value) }

    /// The number in decimal digits.
    package var description: String { String(rawValue) }
}

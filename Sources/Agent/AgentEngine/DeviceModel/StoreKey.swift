import PushCore

/// The number of a row of a kind in the device's store. Numbers of different kinds do not mix.
///
/// Guarantees: a later row has a greater number than an earlier one of the same kind.
package struct StoreKey<Kind>: RawRepresentable, Hashable, Comparable, Sendable {
    /// The number; positive for what is stored.
    package let rawValue: Int64

    /// Takes a number as it is; 0 comes before all that are given.
    package init(rawValue: Int64) { self.rawValue = rawValue }

    package static func < (left: StoreKey, right: StoreKey) -> Bool { left.rawValue < right.rawValue }
}

extension StoreKey: ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// The number that is written.
    package init(integerLiteral value: Int64) { self.init(rawValue: value) }

    /// The number in decimal digits.
    package var description: String { String(rawValue) }
}

/// The place of a receipt in the outbox.
package typealias OutboxPlace = StoreKey<Receipt>

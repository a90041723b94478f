/// A value that is never shown: not by interpolation, not by `dump`, not by a mirror of what it is a part of.
///
/// As a wrapper (`@Secret var key: String`) it leaves the property's type as it is. Whoever takes the value itself sees
/// to it that it goes into no log, error or description. Equality does not take the same time for all values; what
/// somebody shows as proof is compared elsewhere.
@propertyWrapper
public struct Secret<Value: Sendable>: Sendable {
    /// The value itself.
    public var wrappedValue: Value

    /// Hides a property's value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Hides a value.
    public init(_ value: Value) { wrappedValue = value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    /// A mirror without children.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

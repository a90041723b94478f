/// A value that no text of a program shows: neither interpolation, nor `dump`, nor a mirror of what holds it.
///
/// As a wrapper (`@Secret var key: String`) it leaves the property's type as it is. Whoever reads the value keeps it
/// out of logs, errors and descriptions. `==` takes a different time for different values: a proof from outside is
/// compared in constant time elsewhere.
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

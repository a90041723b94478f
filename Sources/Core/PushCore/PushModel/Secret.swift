/// A value that appears in no text of a program: neither in interpolation, nor in `dump`, nor in a mirror of its owner.
///
/// As a wrapper (`@Secret var key: String`) it leaves the property's type as it is. Code that reads the value must keep
/// it out of logs, errors and descriptions. `==` takes a different time for different values: an untrusted proof is
/// compared in constant time elsewhere.
@propertyWrapper
public struct Secret<Value: Sendable>: Sendable {
    /// The value itself.
    public var wrappedValue: Value

    /// Wraps a property's value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Wraps a value.
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

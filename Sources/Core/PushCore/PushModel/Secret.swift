/// A value that appears in no text of a program: neither in interpolation, nor in `dump`, nor in a mirror of its owner.
///
/// As a wrapper (`@Secret var key: String`) it leaves the property's type as it is. Code that reads the value must keep
/// it out of logs, errors and descriptions. `==` takes a different time for different values: an untrusted proof is
/// compared in constant time elsewhere.
@propertyWrapper
package struct Secret<Value: Sendable>: Sendable {
    /// The value itself.
    package var wrappedValue: Value

    /// Wraps a property's value.
    package init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Wraps a value.
    package init(_ value: Value) { wrappedValue = value }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { "<redacted>" }
    package var debugDescription: String { description }
    /// A mirror without children.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Secret: Equatable where Value: Equatable {}
extension Secret: Hashable where Value: Hashable {}

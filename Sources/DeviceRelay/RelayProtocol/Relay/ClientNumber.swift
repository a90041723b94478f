/// The client of a relay request: one connection of an app or a terminal.
///
/// The number identifies the connection's state in this process; it means nothing elsewhere.
///
/// ```swift
/// let client = ClientNumber(ObjectIdentifier(connection))
/// ```
public struct ClientNumber: Hashable, Sendable, ExpressibleByIntegerLiteral {
    private let number: Int

    /// The number of an object that represents the connection, as long as it lives.
    public init(_ object: ObjectIdentifier) { number = Int(bitPattern: object) }

    /// A number by itself, as a test gives it.
    public init(integerLiteral number: Int) { self.number = number }
}

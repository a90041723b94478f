/// Who says something about relaying to a device: one connection of an app or a terminal.
///
/// A number of the process, by which what is kept for the connection is found; it means nothing elsewhere.
///
/// ```swift
/// let client = ClientNumber(ObjectIdentifier(connection))
/// ```
public struct ClientNumber: Hashable, Sendable, ExpressibleByIntegerLiteral {
    private let number: Int

    /// The number of an object that stands for the connection, as long as it lives.
    public init(_ object: ObjectIdentifier) { number = Int(bitPattern: object) }

    /// A number by itself, as a test gives it.
    public init(integerLiteral number: Int) { self.number = number }
}

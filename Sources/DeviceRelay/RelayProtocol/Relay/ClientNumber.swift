/// The client of a relay request: one connection of an app or a terminal.
///
/// The number identifies the connection in this process; it means nothing elsewhere.
public struct ClientNumber: Hashable, Sendable, ExpressibleByIntegerLiteral {
    private let number: Int

    /// The client with the connection of this number.
    public init(_ number: Int) { self.number = number }

    /// A number by itself, as a test gives it.
    public init(integerLiteral number: Int) { self.number = number }
}

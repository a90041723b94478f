/// A failure of PostgreSQL, or of the connection to it.
package struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The code of the server (SQLSTATE); `nil` where the connection failed.
    package var code: String?
    /// The server's message, or the client library's.
    package var message: String

    /// The message with its code.
    package var description: String { code.map { "\(message) (\($0))" } ?? message }

    /// Whether the transaction was chosen as the victim of a deadlock, so that it may be tried again.
    package var isDeadlock: Bool { code == "40P01" || code == "40001" }
}

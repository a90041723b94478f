import PushServer

/// A failure of PostgreSQL, or of the connection to it.
package struct PostgresError: StoreFailure, Hashable, CustomStringConvertible {
    /// The code of the server (SQLSTATE); `nil` where the connection failed.
    package var code: String?
    /// The server's message, or the client library's.
    package var message: String
    /// Whether the connection was lost while a transaction was committed, so that nobody knows whether it was.
    package var isCommitUnknown = false

    /// The message with its code.
    package var description: String { code.map { "\(message) (\($0))" } ?? message }

    /// The server's message without values, or that of the client library.
    package var reason: String { isCommitUnknown ? "\(message); whether the change was made is not known" : message }

    /// Whether PostgreSQL ended the transaction so that another could go on: it may be tried again.
    package var isDeadlock: Bool { code == "40P01" || code == "40001" }

    /// Whether the connection was lost; the server ends its transaction then.
    package var isLost: Bool { code == nil || code?.hasPrefix("57P") == true || code?.hasPrefix("08") == true }
}

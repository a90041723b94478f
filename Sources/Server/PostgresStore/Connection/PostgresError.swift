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

    /// Whether nothing has changed, and the transaction may be tried again at once: PostgreSQL ended it for another one, or the
    /// connection was lost and the transaction is known not to be committed.
    package var isConflict: Bool { isDeadlock || isUndone || isIDTaken }

    /// Whether the connection was lost, and the transaction is known not to be committed.
    package var isUndone = false

    /// Whether another notification has the id; it is given again with another number.
    private var isIDTaken: Bool { code == "23505" && message.contains("\"message_") }

    /// Whether the connection was lost; the server ends its transaction then.
    package var isLost: Bool { code == nil || code?.hasPrefix("57P") == true || code?.hasPrefix("08") == true }
}

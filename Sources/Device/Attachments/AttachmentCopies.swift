/// Connections whose messages wait for files that are being copied: their own, or another connection's of the same app.
///
/// Guarantees: one copy at a time for each app; connections have their turns in the order in which they came; what a
/// connection said stays in order.
package struct AttachmentCopies<Connection: AnyObject, Message> {
    /// What one connection has said meanwhile.
    package struct Backlog {
        /// Whose messages they are.
        package let connection: Connection
        /// The bundle id of the app whose connection it is.
        package let app: String
        /// What it has said, in order, and nobody has processed.
        package var messages: ArraySlice<Message> = []
        /// Whether the connection has ended; that counts once its messages have been processed.
        package var isClosed = false
        /// Its place among those that wait for their turn; `nil` for one whose files are being copied.
        fileprivate var turn: Int?
    }

    private var backlogs: [ObjectIdentifier: Backlog] = [:]
    private var turns = 0

    /// Nothing is copied.
    package init() {}

    /// Whether files of this app are being copied.
    package func isCopying(of app: String) -> Bool { backlogs.values.contains { $0.app == app && $0.turn == nil } }

    /// Files of a connection are being copied from now on.
    package mutating func begin(_ connection: Connection, of app: String) {
        backlogs[ObjectIdentifier(connection)] = Backlog(connection: connection, app: app)
    }

    /// Has a connection wait for its turn.
    ///
    /// - Parameter messages: What it says, from a message with files on.
    package mutating func wait(_ connection: Connection, of app: String, with messages: ArraySlice<Message>) {
        turns += 1
        backlogs[ObjectIdentifier(connection)] = Backlog(
            connection: connection, app: app, messages: messages, turn: turns)
    }

    /// A connection said more.
    ///
    /// - Returns: Whether that waits; else it may be processed.
    package mutating func append(_ messages: some Sequence<Message>, from connection: Connection) -> Bool {
        guard backlogs[ObjectIdentifier(connection)] != nil else { return false }
        backlogs[ObjectIdentifier(connection)]?.messages += messages
        return true
    }

    /// A connection has ended.
    ///
    /// - Returns: Whether that waits until its messages have been processed.
    package mutating func close(_ connection: Connection) -> Bool {
        guard backlogs[ObjectIdentifier(connection)] != nil else { return false }
        backlogs[ObjectIdentifier(connection)]?.isClosed = true
        return true
    }

    /// A connection's files are copied.
    ///
    /// - Returns: What it said meanwhile.
    package mutating func finish(_ connection: Connection) -> Backlog? {
        backlogs.removeValue(forKey: ObjectIdentifier(connection))
    }

    /// The connection of an app whose turn it is; `nil` while files of the app are being copied.
    package mutating func next(of app: String) -> Backlog? {
        guard !isCopying(of: app),
            let next = backlogs.values.filter({ $0.app == app }).min(by: { $0.turn ?? 0 < $1.turn ?? 0 })
        else { return nil }
        return finish(next.connection)
    }
}

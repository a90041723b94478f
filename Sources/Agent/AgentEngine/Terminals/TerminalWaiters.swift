/// The terminals that wait for what a person does with their notifications, by the notifications' identifiers.
///
/// Guarantees: at most ``limit`` wait; one notification is waited for by one terminal.
package struct TerminalWaiters<Terminal: Sendable>: Sendable {
    /// How many may wait.
    package static var limit: Int { 64 }

    private var waiting: [String: Terminal] = [:]

    /// Creates an empty collection.
    package init() {}

    /// Whether no further terminal may wait.
    package var isFull: Bool { waiting.count >= Self.limit }

    /// The identifiers that are waited for.
    package var identifiers: [String] { Array(waiting.keys) }

    /// Whether a terminal waits for this notification.
    package func isAwaited(_ identifier: String) -> Bool { waiting[identifier] != nil }

    /// A terminal waits from now on.
    package mutating func wait(_ terminal: Terminal, for identifier: String) { waiting[identifier] = terminal }

    /// The wait is over.
    ///
    /// - Returns: The terminal that waited.
    package mutating func end(_ identifier: String) -> Terminal? { waiting.removeValue(forKey: identifier) }

    /// Removes the terminals that have gone.
    ///
    /// - Returns: The identifiers that no terminal waits for any more.
    package mutating func remove(where hasGone: (Terminal) -> Bool) -> [String] {
        let gone = waiting.filter { hasGone($0.value) }.map(\.key)
        for identifier in gone { waiting[identifier] = nil }
        return gone
    }
}

/// Tells which program's window has the focus; a port.
public protocol FocusSource: Sendable {
    /// Begins to tell. Called once.
    ///
    /// - Parameter events: Called on a thread of the source's, first with what is so already; must not block. Nothing
    ///   comes after ``FocusEvent/ended(reason:)``.
    func start(events: @escaping @Sendable (FocusEvent) -> Void)

    /// Ends its thread and its connection.
    func stop()
}

/// What a ``FocusSource`` tells.
public enum FocusEvent: Hashable, Sendable {
    /// A window of this process has the focus; `nil` where no window has it, or one whose process is not known.
    case focused(process: Int32?)
    /// Nothing can be told any more, and why.
    case ended(reason: String)
}

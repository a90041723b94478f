/// Reports which program's window has the focus; a port.
package protocol WindowFocusSource: Sendable {
    /// Starts reporting. Called once.
    ///
    /// - Parameter events: Called on a thread of the source's, first with the present state; must not block. Nothing
    ///   comes after ``FocusEvent/ended(reason:)``.
    func start(events: @escaping @Sendable (FocusEvent) -> Void)

    /// Ends its thread and its connection.
    func stop()
}

/// An event of a ``WindowFocusSource``.
package enum FocusEvent: Hashable, Sendable {
    /// A window of this process has the focus; `nil` where no window has it, or one whose process is not known.
    case focused(process: Int32?)
    /// The source has ended, for this reason.
    case ended(reason: String)
}

/// Asks a person for text where the desktop cannot; a port, so that tests need no windows.
package protocol ReplyWindow: Sendable {
    /// Opens a window. `complete` is called once, on any thread.
    func ask(_ question: ReplyQuestion, then complete: @escaping @Sendable (ReplyAnswer) -> Void)
}

/// The text of a reply window: the app's name, and nothing of the notification itself.
package struct ReplyQuestion: Hashable, Sendable {
    /// The name that the app's manifest gives it.
    package var appName: String

    /// A question in the name of this app.
    package init(appName: String) {
        self.appName = appName
    }
}

/// The outcome of a reply window.
package enum ReplyAnswer: Hashable, Sendable {
    /// The text that the person typed, without the line's end; may be empty.
    case text(String)
    /// The person closed the window.
    case cancelled
    /// No window can be opened, and why.
    case unavailable(String)
}

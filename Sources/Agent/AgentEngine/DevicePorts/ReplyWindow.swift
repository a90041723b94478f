/// Asks a person for text where the desktop cannot; a port, so that tests need no windows.
package protocol ReplyWindow: Sendable {
    /// Opens a window. `complete` is called once, on any thread.
    func ask(_ question: ReplyQuestion, then complete: @escaping @Sendable (ReplyAnswer) -> Void)
}

/// The texts of a reply window, as the app's action has them; nothing of the notification itself.
package struct ReplyQuestion: Hashable, Sendable {
    /// The name that the app's manifest gives it.
    package var appName: String
    /// The label of the button that was pressed.
    package var label: String
    /// The texts of the field.
    package var reply: Presentation.Reply

    /// A question in the name of this app.
    package init(appName: String, label: String, reply: Presentation.Reply) {
        self.appName = appName
        self.label = label
        self.reply = reply
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

/// The place at which a person answered a notification.
package enum AnswerSource: Sendable {
    /// On the desktop.
    case desktop
    /// A person at a terminal, by `aldaba notifications act` or `dismiss`.
    case terminal
}

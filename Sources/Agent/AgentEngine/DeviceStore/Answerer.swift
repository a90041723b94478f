/// The place at which a person answered a notification.
package enum Answerer: Sendable {
    /// On the desktop.
    case desktop
    /// At a terminal, by `aldaba notifications act` or `dismiss`.
    case terminal
}

/// A state of one notification, from its acceptance to the person's response.
///
/// The text form (``text``) is used in stores, receipts and the API: `sent`, `dropped(offline)`.
package enum NotificationState: Hashable, Sendable {
    /// The notification was durably accepted from the provider.
    case accepted
    /// The notification is queued in a mailbox.
    case stored
    /// The notification was written to a device's connection.
    case sent
    /// The device has stored the notification.
    case acked
    /// The device decrypted the payload.
    case decrypted
    /// The device could not decrypt the payload, or refused to show it twice; the text is a reason code.
    case undecryptable(String)
    /// A service extension changed the notification, or the reason why it did not.
    case extended(String)
    /// The notification was shown on the screen, or put into the list; the note contains which.
    case presented
    /// The app ended before its handler had returned; it gets the notification, or the response to it, once more.
    case unanswered
    /// The app's handler returned, and the actions that it requested have been performed.
    case handed
    /// A person opened the notification.
    case opened
    /// A person chose an action of its category.
    case action(String)
    /// A person dismissed the notification.
    case dismissed
    /// The expiration passed before it arrived, or before its app took it.
    case expired
    /// A later notification with the same collapse id replaced it.
    case replaced
    /// The provider withdrew the notification.
    case withdrawn
    /// The device has the notification and did not show it, or did not wake its app for it.
    case suppressed(Suppression)
    /// The notification was dropped before it arrived, or before its app took it, for a reason other than its
    /// expiration.
    case dropped(DropReason)
    /// The notification was refused or failed; the text is a reason code.
    case failed(String)

    /// The reason why a device did not show a notification.
    package enum Suppression: String, Sendable, CaseIterable {
        /// The person's settings, or a policy, forbid the app's notifications.
        case settings
        /// The app had used up its budget of background wake-ups.
        case budget
    }

    /// The reason why a notification was dropped.
    package enum DropReason: String, Sendable, CaseIterable {
        /// The app's queue was full.
        case overflow
        /// The device was away for too long.
        case inactive
        /// The app's registration ended, or the device does not have the app.
        case unregistered
        /// The notification was to be attempted once, and the device was not connected.
        case offline
    }
}

extension NotificationState {
    /// The state's name and, in parentheses, its argument.
    package var text: String {
        switch self {
        case .accepted: "accepted"
        case .stored: "stored"
        case .sent: "sent"
        case .acked: "acked"
        case .decrypted: "decrypted"
        case .undecryptable(let code): "undecryptable(\(code))"
        case .extended(let outcome): "extended(\(outcome))"
        case .presented: "presented"
        case .unanswered: "unanswered"
        case .handed: "handed"
        case .opened: "opened"
        case .action(let identifier): "action(\(identifier))"
        case .dismissed: "dismissed"
        case .expired: "expired"
        case .replaced: "replaced"
        case .withdrawn: "withdrawn"
        case .suppressed(let reason): "suppressed(\(reason.rawValue))"
        case .dropped(let reason): "dropped(\(reason.rawValue))"
        case .failed(let code): "failed(\(code))"
        }
    }

    /// Parses the text form; `nil` for an unknown name or argument.
    package init?(text: some StringProtocol) {
        let open = text.firstIndex(of: "(")
        let name = String(open.map { text[..<$0] } ?? text[...])
        var argument: String?
        if let open {
            guard text.last == ")" else { return nil }
            argument = String(text[text.index(after: open)...].dropLast())
        }
        switch (name, argument) {
        case ("accepted", nil): self = .accepted
        case ("stored", nil): self = .stored
        case ("sent", nil): self = .sent
        case ("acked", nil): self = .acked
        case ("decrypted", nil): self = .decrypted
        case ("undecryptable", let code?): self = .undecryptable(code)
        case ("extended", let outcome?): self = .extended(outcome)
        case ("presented", nil): self = .presented
        case ("unanswered", nil): self = .unanswered
        case ("handed", nil): self = .handed
        case ("opened", nil): self = .opened
        case ("action", let identifier?): self = .action(identifier)
        case ("dismissed", nil): self = .dismissed
        case ("expired", nil): self = .expired
        case ("replaced", nil): self = .replaced
        case ("withdrawn", nil): self = .withdrawn
        case ("suppressed", let reason?):
            guard let reason = Suppression(rawValue: reason) else { return nil }
            self = .suppressed(reason)
        case ("dropped", let reason?):
            guard let reason = DropReason(rawValue: reason) else { return nil }
            self = .dropped(reason)
        case ("failed", let code?): self = .failed(code)
        default: return nil
        }
    }
}

/// A state of one notification, from the provider's door to the person's answer.
///
/// The text form (``text``) is what stores, receipts and the API carry: `sent`, `dropped(offline)`.
public enum NotificationState: Hashable, Sendable {
    /// The durable yes to the provider.
    case accepted
    /// It waits in a mailbox.
    case stored
    /// It was written to a device's connection.
    case sent
    /// The device has stored it.
    case acked
    /// The device opened its encrypted payload.
    case decrypted
    /// The device could not open its encrypted payload, or would not show it twice; the text is a reason code.
    case undecryptable(String)
    /// A service extension changed it, or why it did not.
    case extended(String)
    /// It was shown on the screen, or put into the list; the note says which.
    case presented
    /// The app's handler returned, and what it asked for has been done.
    case handed
    /// A person opened it.
    case opened
    /// An action of its category was chosen.
    case action(String)
    /// A person dismissed it.
    case dismissed
    /// Its expiration passed before it arrived, or before its app took it.
    case expired
    /// A later one with the same collapse id took its place.
    case replaced
    /// The provider took it back.
    case withdrawn
    /// The device has it and did not show it, or did not wake its app for it.
    case suppressed(Suppression)
    /// It was given up before it arrived, or before its app took it; not because it expired.
    case dropped(DropReason)
    /// It was refused or could not go on; the text is a reason code.
    case failed(String)

    /// Why a device did not show a notification.
    public enum Suppression: String, Sendable, CaseIterable {
        /// The person, or a policy, does not let the app notify.
        case settings
        /// The app had used up what it may be woken in the background.
        case budget
    }

    /// Why a notification was given up.
    public enum DropReason: String, Sendable, CaseIterable {
        /// More waited for the app than may wait.
        case overflow
        /// The device was away for too long.
        case inactive
        /// The app's registration ended, or the device does not have the app.
        case unregistered
        /// It was to be attempted once, and the device was not connected.
        case offline
    }
}

extension NotificationState {
    /// The state's name and, in parentheses, what it carries.
    public var text: String {
        switch self {
        case .accepted: "accepted"
        case .stored: "stored"
        case .sent: "sent"
        case .acked: "acked"
        case .decrypted: "decrypted"
        case .undecryptable(let code): "undecryptable(\(code))"
        case .extended(let outcome): "extended(\(outcome))"
        case .presented: "presented"
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

    /// Reads the text form; `nil` for a name or an argument that is not in the list.
    public init?(text: some StringProtocol) {
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

/// Who saw a state happen.
public enum TimelineSource: String, Sendable, CaseIterable {
    /// The server.
    case server
    /// The agent of the device.
    case agent
    /// The app, by what it answered to the agent.
    case app
    /// The desktop's notification server, or the person at it.
    case desktop
}

/// One line of a timeline.
public struct TimelineEntry: Hashable, Sendable {
    /// When its source saw the state, by the source's own clock.
    public var at: Timestamp
    /// The state that was reached.
    public var state: NotificationState
    /// Who saw it happen.
    public var source: TimelineSource
    /// What was wrong and where, or how it was shown; never a secret, never a payload.
    public var note: String?

    /// Makes a line; the note is for people.
    public init(at: Timestamp, state: NotificationState, source: TimelineSource, note: String? = nil) {
        self.at = at
        self.state = state
        self.source = source
        self.note = note
    }
}

/// What a device reports about one notification.
public struct Receipt: Hashable, Sendable {
    /// Which notification it is about.
    public var id: NotificationID
    /// The line for its timeline.
    public var entry: TimelineEntry

    /// Makes the report of one state of one notification.
    public init(id: NotificationID, entry: TimelineEntry) {
        self.id = id
        self.entry = entry
    }
}

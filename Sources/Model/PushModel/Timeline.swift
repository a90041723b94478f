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
    /// A service extension changed it, or why it did not.
    case extended(String)
    case presented
    /// The app's handler returned, and what it asked for has been done.
    case handed
    case opened
    /// An action of its category was chosen.
    case action(String)
    case dismissed
    case expired
    /// A later one with the same collapse id took its place.
    case replaced
    case withdrawn
    case suppressed(Suppression)
    case dropped(DropReason)
    /// It was refused or could not go on; the text is a reason code.
    case failed(String)

    /// Why a device did not show a notification.
    public enum Suppression: String, Sendable, CaseIterable {
        case settings
        case budget
    }

    /// Why a notification left its mailbox without arriving.
    public enum DropReason: String, Sendable, CaseIterable {
        case overflow
        case inactive
        case unregistered
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
    case server
    case agent
    case app
    case desktop
}

/// One line of a timeline.
public struct TimelineEntry: Hashable, Sendable {
    public var at: Timestamp
    public var state: NotificationState
    public var source: TimelineSource
    /// What was wrong and where, or how it was shown; never a secret, never a payload.
    public var note: String?

    public init(at: Timestamp, state: NotificationState, source: TimelineSource, note: String? = nil) {
        self.at = at
        self.state = state
        self.source = source
        self.note = note
    }
}

/// What a device reports about one notification.
public struct Receipt: Hashable, Sendable {
    public var id: NotificationID
    public var entry: TimelineEntry

    public init(id: NotificationID, entry: TimelineEntry) {
        self.id = id
        self.entry = entry
    }
}

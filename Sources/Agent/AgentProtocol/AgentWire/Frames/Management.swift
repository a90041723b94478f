/// A command of a user at a terminal to the agent.
///
/// Only the agent's own program may ask: the agent checks that of a connection that begins with a command, and such a
/// connection carries commands alone.
public enum ManagementCommand: Hashable, Sendable {
    /// How the agent is.
    case status
    /// Asks for the notifications in the list, of one app or of all.
    case list(app: BundleID?)
    /// Asks for the notifications in the list, summed up by threads.
    case threads(app: BundleID?)
    /// Asks for a notification of the list; answered by ``ManagementAnswer/list(_:)``.
    case show(notification: Int64)
    /// The requests that wait for their trigger, of one app or of all. One answer carries a page of them; `after`
    /// is where the page before ended.
    case pending(app: BundleID?, after: PendingOrder?)
    /// Takes back what waits.
    case cancel(app: BundleID, identifiers: [String])
    /// Chooses an action of a notification as a person on the desktop does, with text where it asks for some.
    case act(notification: Int64, action: String, text: String?)
    /// Takes a notification away as a person on the desktop does.
    case dismiss(notification: Int64)
    /// Asks for the settings that a user can change for an app.
    case settings(app: BundleID)
    /// Changes settings, by their names.
    case set(app: BundleID, values: [String: String])
    /// Has an app show its own notification settings, if it declared that it has some.
    case openSettings(app: BundleID)
    /// Has an app that runs be in this state from now on, where its manifest leaves that to the app.
    case enter(app: BundleID, AppState)
    /// Shows a notification of the terminal's own, at once or when its trigger fires.
    ///
    /// Answered by ``ManagementAnswer/done``; with a trigger by ``ManagementAnswer/pending(_:next:)`` with this one;
    /// with `waits`, which goes without a trigger, by ``ManagementAnswer/answered(action:text:)`` in the end.
    case notify(NotificationRequest, waits: Bool)
}

/// An answer to a ``ManagementCommand``.
public enum ManagementAnswer: Hashable, Sendable {
    /// The command is done; what it changed is stored.
    case done
    /// The command failed: the fault, and what is expected instead.
    case failed(message: String)
    /// The answer to ``ManagementCommand/status``.
    case status(AgentStatus)
    /// Notifications of the list, the newest last.
    case list([ListedNotification])
    /// The most relevant first.
    case threads([NotificationThread])
    /// Requests that wait, the one that is due first in front; `next` is where the page ended, `nil` on the last
    /// one.
    case pending([PendingNotification], next: PendingOrder?)
    /// Names and values, in the order in which they are to be read.
    case settings([Setting])
    /// The user's response to the notification of ``ManagementCommand/notify(_:waits:)``.
    case answered(action: String, text: String?)

    /// A setting that a user can change.
    public struct Setting: Codable, Hashable, Sendable {
        /// The setting's name, as `aldaba settings` takes it.
        public var name: String
        /// The value that it has now.
        public var value: String
        /// The values that it may have.
        public var allowed: [String]

        /// Makes one line of an answer.
        public init(name: String, value: String, allowed: [String]) {
            self.name = name
            self.value = value
            self.allowed = allowed
        }
    }
}

extension ManagementCommand: Codable {
    private enum Key: String, CodingKey {
        case command, app, after, identifiers, notification, action, text, values, waits, state
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        switch try member(.command) as String {
        case "status": self = .status
        case "list": self = .list(app: try members.decodeIfPresent(BundleID.self, forKey: .app))
        case "threads": self = .threads(app: try members.decodeIfPresent(BundleID.self, forKey: .app))
        case "show": self = .show(notification: try member(.notification))
        case "pending":
            self = .pending(
                app: try members.decodeIfPresent(BundleID.self, forKey: .app),
                after: try members.decodeIfPresent(PendingOrder.self, forKey: .after))
        case "cancel": self = .cancel(app: try member(.app), identifiers: try member(.identifiers))
        case "act":
            self = .act(
                notification: try member(.notification), action: try member(.action),
                text: try members.decodeIfPresent(String.self, forKey: .text))
        case "dismiss": self = .dismiss(notification: try member(.notification))
        case "settings": self = .settings(app: try member(.app))
        case "set": self = .set(app: try member(.app), values: try member(.values))
        case "openSettings": self = .openSettings(app: try member(.app))
        case "enter": self = .enter(app: try member(.app), try member(.state))
        case "notify": self = .notify(try member(.notification), waits: try members.member(.waits, else: false))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .command, in: members, debugDescription: "a management command")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        func begin(_ command: String) throws { try members.encode(command, forKey: .command) }
        switch self {
        case .status: try begin("status")
        case .list(let app):
            try begin("list")
            try members.encodeIfPresent(app, forKey: .app)
        case .threads(let app):
            try begin("threads")
            try members.encodeIfPresent(app, forKey: .app)
        case .show(let notification):
            try begin("show")
            try members.encode(notification, forKey: .notification)
        case .pending(let app, let after):
            try begin("pending")
            try members.encodeIfPresent(app, forKey: .app)
            try members.encodeIfPresent(after, forKey: .after)
        case .cancel(let app, let identifiers):
            try begin("cancel")
            try members.encode(app, forKey: .app)
            try members.encode(identifiers, forKey: .identifiers)
        case .act(let notification, let action, let text):
            try begin("act")
            try members.encode(notification, forKey: .notification)
            try members.encode(action, forKey: .action)
            try members.encodeIfPresent(text, forKey: .text)
        case .dismiss(let notification):
            try begin("dismiss")
            try members.encode(notification, forKey: .notification)
        case .settings(let app):
            try begin("settings")
            try members.encode(app, forKey: .app)
        case .set(let app, let values):
            try begin("set")
            try members.encode(app, forKey: .app)
            try members.encode(values, forKey: .values)
        case .openSettings(let app):
            try begin("openSettings")
            try members.encode(app, forKey: .app)
        case .enter(let app, let state):
            try begin("enter")
            try members.encode(app, forKey: .app)
            try members.encode(state, forKey: .state)
        case .notify(let request, let waits):
            try begin("notify")
            try members.encode(request, forKey: .notification)
            try members.encode(waits, forKey: .waits)
        }
    }
}

extension ManagementAnswer: Codable {
    private enum Key: String, CodingKey {
        case answer, message, status, notifications, threads, pending, next, settings, action, text
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        func member<Value: Decodable>(_ key: Key) throws -> Value { try members.decode(Value.self, forKey: key) }
        switch try member(.answer) as String {
        case "done": self = .done
        case "failed": self = .failed(message: try member(.message))
        case "status": self = .status(try member(.status))
        case "list": self = .list(try member(.notifications))
        case "threads": self = .threads(try member(.threads))
        case "pending":
            self = .pending(
                try member(.pending), next: try members.decodeIfPresent(PendingOrder.self, forKey: .next))
        case "settings": self = .settings(try member(.settings))
        case "answered":
            self = .answered(
                action: try member(.action), text: try members.decodeIfPresent(String.self, forKey: .text))
        default:
            throw DecodingError.dataCorruptedError(
                forKey: .answer, in: members, debugDescription: "a management answer")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        func begin(_ answer: String) throws { try members.encode(answer, forKey: .answer) }
        switch self {
        case .done: try begin("done")
        case .failed(let message):
            try begin("failed")
            try members.encode(message, forKey: .message)
        case .status(let status):
            try begin("status")
            try members.encode(status, forKey: .status)
        case .list(let notifications):
            try begin("list")
            try members.encode(notifications, forKey: .notifications)
        case .threads(let threads):
            try begin("threads")
            try members.encode(threads, forKey: .threads)
        case .pending(let pending, let next):
            try begin("pending")
            try members.encode(pending, forKey: .pending)
            try members.encodeIfPresent(next, forKey: .next)
        case .settings(let settings):
            try begin("settings")
            try members.encode(settings, forKey: .settings)
        case .answered(let action, let text):
            try begin("answered")
            try members.encode(action, forKey: .action)
            try members.encodeIfPresent(text, forKey: .text)
        }
    }
}

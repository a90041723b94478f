import AgentProtocol
import PushCore

/// A Live Activity as the agent stores it.
package struct LiveActivityRecord: Codable, Hashable, Sendable {
    /// The app that owns it.
    package var app: BundleID
    /// The activity as the app sees it, without its push token.
    package var activity: LiveActivity
    /// The pushes that update it.
    package var pushes: LiveActivityPushes
    /// The time at which it began, in milliseconds since 1970.
    package var startedAt: Int64
    /// The time at which it leaves the screen, in milliseconds since 1970; `nil` before its end.
    package var dismissedAt: Int64?
    /// The `timestamp` of the newest push to it, in seconds since 1970; `nil` before the first.
    package var newestPush: Int64?

    /// Makes a record of an activity that begins.
    package init(app: BundleID, activity: LiveActivity, pushes: LiveActivityPushes, startedAt: Timestamp) {
        self.app = app
        self.activity = activity
        self.pushes = pushes
        self.startedAt = startedAt.rawValue
    }

    /// The channel that it follows; `nil` for none.
    package var channel: String? { if case .channel(let id) = pushes { id } else { nil } }

    /// Whether it takes updates.
    package var isOpen: Bool { activity.state == .active || activity.state == .stale }

    /// The identifier of its notification on the desktop.
    package var identifier: String { Self.prefix + activity.id }

    private static let prefix = "aldaba.activity."

    /// The id of the activity that a notification shows; `nil` for any other notification.
    package static func id(ofIdentifier identifier: String) -> String? {
        identifier.hasPrefix(prefix) ? String(identifier.dropFirst(prefix.count)) : nil
    }
}

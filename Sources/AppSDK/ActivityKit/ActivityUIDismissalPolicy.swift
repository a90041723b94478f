import AgentProtocol
import Foundation

/// The time at which an ended Live Activity leaves the screen.
public struct ActivityUIDismissalPolicy: Hashable, Sendable {
    let dismissal: LiveActivityDismissal

    /// Four hours after its end.
    public static let `default` = ActivityUIDismissalPolicy(dismissal: .standard)
    /// At once.
    public static let immediate = ActivityUIDismissalPolicy(dismissal: .immediate)

    /// A time within four hours after its end; a later one counts as those four hours.
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy {
        ActivityUIDismissalPolicy(dismissal: ActivityJSON.milliseconds(date).map { .after($0) } ?? .standard)
    }
}

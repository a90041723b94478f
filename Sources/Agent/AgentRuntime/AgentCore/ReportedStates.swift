import AgentEngine
import AgentProtocol
import PushCore

/// States of one notification that were committed together, and what a person knows the notification by.
package struct ReportedStates: Sendable, Hashable {
    /// The id of the notification.
    package var notification: NotificationID
    /// The app; `nil` for a message that is not kept here any more.
    package var app: BundleID?
    /// The title, or the body of a notification without one; empty where it shows nothing.
    package var title: String
    /// The states in their order.
    package var states: [TimelineEntry]
}

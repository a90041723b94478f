import DeviceModel
import PushModel

/// What a committed write changed, for those who act on it.
package enum ChangeResult: Sendable, Equatable {
    /// A notification of a session is stored; `isNew` is false when it was here already; `awaited` when its app is to
    /// get it.
    case stored(NotificationID, app: String, session: Int, isNew: Bool, awaited: Bool)
    case handed(NotificationID, app: String)
    /// An answer waits for its app. The token, which the store does not keep, lets the app take the focus.
    case tapped(NotificationID, app: String, activationToken: String?)
    /// Answers of these apps are held no longer.
    case released(apps: [String])
    case responseHandled(Int64, app: String)
    case responsesDropped(app: String, count: Int)
    /// An app's own notification is stored; `isOnScreen` when it goes to the screen.
    case fired(NotificationID, app: String, identifier: String, isAsked: Bool, isOnScreen: Bool)
    /// The desktop's answer about a notification is stored.
    case presented(NotificationID)
    /// An app has gone, and with it what waited; these must leave the screen.
    case appRemoved([NotificationID])
    /// A request waits; no more wait the one whose place it takes, and what was dropped since too many wait.
    case scheduled(PendingRequest, replaced: [Int64], dropped: [Int64])
    /// Requests of these keys wait no longer.
    case unscheduled([Int64])
    /// These left the list and must leave the screen.
    case unlisted([NotificationID])
    case nothing
}

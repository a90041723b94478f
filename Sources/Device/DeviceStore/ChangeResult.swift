import DeviceModel
import PushModel

/// What a change did, for those who act on it after the commit.
package enum ChangeResult: Sendable, Equatable {
    /// A notification that a session brought is stored. `isNew`: it was not here before. `awaited`: its app is to be handed
    /// it.
    case stored(NotificationID, app: String, session: Int, isNew: Bool, awaited: Bool)
    /// The app's handler returned for a notification: the app can be told that this is stored.
    case handed(NotificationID, app: String)
    /// A response waits for its app. The token, which the store does not keep, lets the app take the focus.
    case tapped(NotificationID, app: String, activationToken: String?)
    /// Responses for these apps, which waited for the screen to be unlocked, are held no longer.
    case released(apps: [String])
    /// The app handled the response of this sequence: the app can be told that this is stored.
    case responseHandled(Int64, app: String)
    /// So many responses were given up, since their app could not be started; 0 where none waited.
    case responsesDropped(app: String, count: Int)
    /// An app's own notification is stored. `isAsked`: its app is asked first how it appears. `isOnScreen`: it goes to the
    /// screen.
    case fired(NotificationID, app: String, identifier: String, isAsked: Bool, isOnScreen: Bool)
    /// The desktop's answer about a notification is stored.
    case presented(NotificationID)
    /// An app was removed, and with it what waited for it. These notifications must leave the screen.
    case appRemoved([NotificationID])
    /// A request waits. The requests of these keys wait no longer: `replaced` had its identifier, `dropped` were too many.
    case scheduled(PendingRequest, replaced: [Int64], dropped: [Int64])
    /// The requests of these keys wait no longer.
    case unscheduled([Int64])
    /// Notifications left the list. These may be on the screen and must leave it.
    case unlisted([NotificationID])
    /// Nothing that anybody acts on.
    case nothing
}

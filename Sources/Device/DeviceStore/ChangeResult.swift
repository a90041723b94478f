import AgentWire
import DeviceModel
import LocalSchedule
import PushModel

/// What a change did, for those who act on it after the commit.
package enum ChangeResult: Sendable, Equatable {
    /// A notification that a session brought is stored. `isNew`: it was not here before. `awaited`: its app is to be handed
    /// it.
    case stored(NotificationID, app: BundleID, session: Int, isNew: Bool, awaited: Bool)
    /// A notice that a session brought is stored; its app is to be told what it says. Those that it withdrew may be on the
    /// screen and must leave it.
    case noticed(NotificationID, app: BundleID, session: Int, withdrawn: [NotificationID])
    /// A notification that a session brought is stored, and waits for its app's service extension. `isNew`: it was not here
    /// before.
    case extending(NotificationID, app: BundleID, session: Int, isNew: Bool)
    /// A notification waits for its app's service extension no longer: it is stored as it appears. `awaited`: its app is to
    /// be handed it.
    case extended(NotificationID, app: BundleID, awaited: Bool)
    /// The app's handler returned for a notification: the app can be told that this is stored.
    case handed(NotificationID, app: BundleID)
    /// A response waits for its app. The token, which the store does not keep, lets the app take the focus.
    case tapped(NotificationID, app: BundleID, activationToken: String?)
    /// Responses for these apps, which waited for the screen to be unlocked, are held no longer.
    case released(apps: [BundleID])
    /// The app handled the response of this sequence: the app can be told that this is stored.
    case responseHandled(WaitingResponse.Place, app: BundleID)
    /// So many responses were given up, since their app could not be started; 0 where none waited.
    case responsesDropped(app: BundleID, count: Int)
    /// An app's own notification is stored. `isAsked`: its app is asked first how it appears. `isOnScreen`: it goes to the
    /// screen.
    case fired(NotificationID, app: BundleID, identifier: String, isAsked: Bool, isOnScreen: Bool)
    /// The desktop's answer about a notification is stored.
    case presented(NotificationID)
    /// An app was removed, and with it what waited for it. These notifications must leave the screen.
    case appRemoved([NotificationID])
    /// A request waits. The requests of these keys wait no longer: `replaced` had its identifier, `dropped` were too many.
    case scheduled(PendingRequest, replaced: [RequestKey], dropped: [RequestKey])
    /// The requests of these keys wait no longer.
    case unscheduled([RequestKey])
    /// Notifications left the list. These may be on the screen and must leave it.
    case unlisted([NotificationID])
    /// A data message that a session brought is stored. `isNew`: it waits for its app now. `cleared`: what waited for the app
    /// before it was deleted, and the app is to be told.
    case dataStored(NotificationID, app: BundleID, session: Int, isNew: Bool, cleared: Bool)
    /// The app had a data message: it can be told that this is stored.
    case dataTaken(NotificationID, app: BundleID)
    /// A message to a provider is in the outbox, for whoever has this number; or is not, with this code.
    case upstreamQueued(waiter: Int64, fault: String?)
    /// Messages of the outbox ended; their apps are to be told.
    case upstreamEnded([BundleID: [EndedUpstream]])
    /// What an app wants of a topic is stored, for whoever has this number; or is not, with this code.
    case topicWished(waiter: Int64, fault: String?)
    /// Nothing that anybody acts on.
    case nothing
}

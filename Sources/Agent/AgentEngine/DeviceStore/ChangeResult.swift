import AgentProtocol
import PushCore
import Scheduling

/// The result of a change, for the effects that follow the commit.
package enum ChangeResult: Sendable, Equatable {
    /// A notification from a session is stored. `isNew`: it was not here before. `awaited`: it is to be delivered to
    /// its app.
    case stored(NotificationID, app: BundleID, session: Int, isNew: Bool, awaited: Bool)
    /// A notice from a session is stored, and its app is to be notified. `withdrawn`: the notifications to remove from
    /// the screen.
    case noticed(NotificationID, app: BundleID, session: Int, withdrawn: [NotificationID])
    /// A notification that a session brought is stored, and waits for its app's service extension. `isNew`: it was not
    /// here before.
    case extending(NotificationID, app: BundleID, session: Int, isNew: Bool)
    /// A notification waits for its app's service extension no longer: it is stored as it appears. `awaited`: it is to
    /// be delivered to its app.
    case extended(NotificationID, app: BundleID, awaited: Bool)
    /// The app's handler returned for a notification: this is stored, and can be confirmed to the app.
    case handled(NotificationID, app: BundleID)
    /// A response waits for its app. The token, which the store does not keep, lets the app take the focus.
    case tapped(NotificationID, app: BundleID, activationToken: String?)
    /// Responses for these apps, which waited for the screen to be unlocked, are held no longer.
    case released(apps: [BundleID])
    /// The app handled the response of this sequence: this is stored, and can be confirmed to the app.
    case responseHandled(WaitingResponse.Place, app: BundleID)
    /// This many responses were dropped, since their app could not be started; 0 where none waited.
    case responsesDropped(app: BundleID, count: Int)
    /// An app's own notification is stored. `isAsked`: its app is asked first how it appears. `isOnScreen`: it goes to
    /// the screen.
    case fired(NotificationID, app: BundleID, identifier: String, isAsked: Bool, isOnScreen: Bool)
    /// The desktop's answer about a notification is stored.
    case presented(NotificationID)
    /// An app was removed, and with it what waited for it. These notifications must leave the screen.
    case appRemoved([NotificationID])
    /// A request waits. The requests of these keys wait no longer: `replaced` had its identifier, `dropped` were too
    /// many.
    case scheduled(PendingRequest, replaced: [RequestKey], dropped: [RequestKey])
    /// The requests of these keys wait no longer.
    case unscheduled([RequestKey])
    /// Notifications left the list. These may be on the screen and must leave it.
    case unlisted([NotificationID])
    /// A data message from a session is stored. `isNew`: it is queued for its app now. `cleared`: the app's earlier
    /// messages were deleted, and the app is to be notified.
    case dataStored(NotificationID, app: BundleID, session: Int, isNew: Bool, cleared: Bool)
    /// The app has received a data message: this is stored, and can be confirmed to the app.
    case dataTaken(NotificationID, app: BundleID)
    /// A message to a provider is in the outbox, or was refused with this code; `waiter` is the caller's number.
    case upstreamQueued(waiter: Int64, fault: String?)
    /// Messages of the outbox ended; their apps are to be notified.
    case upstreamEnded([BundleID: [EndedUpstream]])
    /// An app's request about a topic was stored or refused, with this code; `waiter` is the caller's number.
    case topicChangeRequested(waiter: Int64, fault: String?)
    /// A run's hand-overs without an answer were counted; `counted`: how many there were. `givenUp`:
    /// how many of them are not handed over again.
    case runEnded(app: BundleID, counted: Int, givenUp: Int)
    /// A Live Activity is stored, or its row is deleted after its dismissal.
    case liveActivity(LiveActivityRecord)
    /// A change that concerns UnifiedPush is stored.
    case unifiedPush(UnifiedPushResult)
    /// A message of UnifiedPush from a session is stored. `service`: the app for which it is queued now; `nil` where it was queued
    /// before, or has ended.
    case pushMessageStored(NotificationID, service: String?, session: Int)
    /// No result that needs an action.
    case nothing
}

import AgentProtocol
import PushCore
import Scheduling

extension StoreChange {
    /// The kinds of changes, each made by the function of ``StoreChange`` with its name.
    package enum Kind: Sendable {
        /// A notification came over the device channel.
        case arrived(Arrival)
        /// The server has confirmed the acks of these notifications.
        case confirmed([NotificationID])
        /// The server has the receipts of these places in the outbox, first and last.
        case receiptsConfirmed(ClosedRange<OutboxPlace>)
        /// The app's handler returned; `shows` is how the notification appears.
        case handled(NotificationID, app: BundleID, shows: PresentationOptions, at: Timestamp)
        /// The app did not take a call in time.
        case callNotTaken(NotificationID, app: BundleID, at: Timestamp)
        /// The app has not come back: the notifications that wait for it appear as if it did not run.
        case leftUnhandled(app: BundleID, PresentationConditions, at: Timestamp)
        /// A run of the app ended before it had answered these hand-overs.
        case runEnded(app: BundleID, UnansweredHandovers, PresentationConditions, at: Timestamp)
        /// A notification appears without its app's answer.
        case appeared(NotificationID, PresentationOptions, isForApp: Bool, at: Timestamp)
        /// The app has handled a response.
        case responseHandled(WaitingResponse.Place, app: BundleID, at: Timestamp)
        /// The app could not be started for its responses: they are given up.
        case responsesDropped(app: BundleID, at: Timestamp)
        /// The app's budget does not allow waking it: the notifications that would wake it wait.
        case deferred(app: BundleID, at: Timestamp)
        /// The presenter's answer to an intent.
        case presented(NotificationID, PresentationOutcome, again: Bool, at: Timestamp)
        /// A person chose an action, perhaps with text.
        case tapped(
            NotificationID, action: String, text: String?, activationToken: String?, by: AnswerSource, isHeld: Bool,
            at: Timestamp)
        /// The screen is unlocked: responses that were held for that go to their apps.
        case released
        /// A person dismissed a notification.
        case dismissed(NotificationID, by: AnswerSource, at: Timestamp)
        /// A notification left the screen, by itself or since it was taken away; no person dismissed it.
        case leftScreen(NotificationID)
        /// The desktop shows a notification again, or one that it could not show before.
        case shownAgain(NotificationID, handle: String, at: Timestamp)
        /// A person is being asked whether the app may send notifications.
        case asked(app: BundleID, handle: String?)
        /// A person set this preference for all apps.
        case preference(name: String, value: String)
        /// Stores an app's authorization and settings, which have changed.
        case standing(app: BundleID, AppNotificationRecord)
        /// The app was removed from this device.
        case appRemoved(app: BundleID, at: Timestamp)
        /// A run of the app has begun.
        case begun(app: BundleID, run: String)
        /// An app's own notification fires at once.
        case fired(
            app: BundleID, NotificationRequest, as: RequestMark?, isAsked: Bool, shows: PresentationOptions,
            at: Timestamp)
        /// A request waits for its time or place, in place of one with the same identifier.
        case scheduled(app: BundleID, NotificationRequest, as: RequestMark?, at: ClockReading, offset: Int?)
        /// A request fires: its time has come, or its region's edge was crossed.
        case due(DueRequest, isAsked: Bool, shows: PresentationOptions, at: Timestamp)
        /// An occurrence does not fire: it was noticed too late, or there is none to come.
        case missed(key: RequestKey, occurrence: Timestamp, isLast: Bool)
        /// The wall clock was set.
        case anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?)
        /// The machine is known to be on this side of a region's edge.
        case crossed(key: RequestKey, side: RegionWatch.State)
        /// Scheduled requests are withdrawn; `nil` for all of the app's.
        case unscheduled(app: BundleID, identifiers: [String]?)
        /// Notifications leave the list; `nil` for all of the app's.
        case unlisted(app: BundleID, identifiers: [String]?)
        /// A data message came over the device channel.
        case dataArrived(ArrivedData)
        /// The app had a data message.
        case dataTaken(NotificationID, app: BundleID, at: Timestamp)
        /// Data messages whose time is over end.
        case dataExpired(at: Timestamp)
        /// An app sends a message to its provider.
        case upstreamQueued(UpstreamDraft, app: BundleID, waiter: Int64, at: Timestamp)
        /// The server has a message of the outbox, or refused it.
        case upstreamEnded(QueuedUpstream.Place, code: String?)
        /// Messages of the outbox are about to be sent: from now on the server may have them, until it has confirmed
        /// or refused them.
        case upstreamUnderWay([QueuedUpstream.Place])
        /// Messages of the outbox whose time is over end; those that were sent wait for the server's answer.
        case upstreamExpired(at: Timestamp)
        /// The app has received the outcome of the message of this place.
        case upstreamEndTaken(QueuedUpstream.Place, app: BundleID)
        /// An app wants to join a topic or leave it.
        case topicChangeRequested(String, joins: Bool, app: BundleID, waiter: Int64)
        /// The server has answered a request about a topic.
        case topicSettled(TopicChangeRequest)
        /// A Live Activity has begun or changed.
        case liveActivity(LiveActivityRecord)
        /// A Live Activity is dismissed.
        case liveActivityDismissed(LiveActivityRecord)
        /// A change that concerns UnifiedPush.
        case unifiedPush(UnifiedPushChange, at: Timestamp)
        /// A notice came over the device channel.
        case noticed(ArrivedNotice)
        /// The app has received the deletion of this notice.
        case deletionTaken(NotificationID, app: BundleID)
        /// A service extension has answered, or will not: the notification is stored as it appears.
        case extended(
            NotificationID, content: NotificationContent?, PlannedNotification.Disposition, outcome: String,
            note: String?, at: Timestamp)
    }
}

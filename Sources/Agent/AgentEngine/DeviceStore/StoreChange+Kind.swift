import AgentProtocol
import PushCore
import Scheduling

extension StoreChange {
    /// The kinds of changes. The function of ``StoreChange`` with the same name describes each.
    package enum Kind: Sendable {
        case arrived(Arrival)
        case confirmed([NotificationID])
        case receiptsConfirmed(ClosedRange<OutboxPlace>)
        case handed(NotificationID, app: BundleID, shows: PresentationOptions, at: Timestamp)
        case leftUnhandled(app: BundleID, PresentationConditions, at: Timestamp)
        case appeared(NotificationID, PresentationOptions, isForApp: Bool, at: Timestamp)
        case responseHandled(WaitingResponse.Place, app: BundleID, at: Timestamp)
        case responsesDropped(app: BundleID, at: Timestamp)
        case deferred(app: BundleID, at: Timestamp)
        case presented(NotificationID, PresentationOutcome, again: Bool, at: Timestamp)
        case tapped(
            NotificationID, action: String, text: String?, activationToken: String?, by: Answerer, isHeld: Bool,
            at: Timestamp)
        case released
        case dismissed(NotificationID, by: Answerer, at: Timestamp)
        case leftScreen(NotificationID)
        case shownAgain(NotificationID, handle: String, at: Timestamp)
        case asked(app: BundleID, handle: String?)
        case preference(name: String, value: String)
        case standing(app: BundleID, AppNotificationRecord)
        case appRemoved(app: BundleID, at: Timestamp)
        case begun(app: BundleID, run: String)
        case fired(
            app: BundleID, NotificationRequest, as: RequestMark?, isAsked: Bool, shows: PresentationOptions,
            at: Timestamp)
        case scheduled(app: BundleID, NotificationRequest, as: RequestMark?, at: ClockReading, offset: Int?)
        case due(DueRequest, isAsked: Bool, shows: PresentationOptions, at: Timestamp)
        case missed(key: RequestKey, occurrence: Timestamp, isLast: Bool)
        case anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?)
        case crossed(key: RequestKey, side: RegionWatch.State)
        case unscheduled(app: BundleID, identifiers: [String]?)
        case unlisted(app: BundleID, identifiers: [String]?)
        case dataArrived(ArrivedData)
        case dataTaken(NotificationID, app: BundleID, at: Timestamp)
        case dataExpired(at: Timestamp)
        case upstreamQueued(UpstreamDraft, app: BundleID, waiter: Int64, at: Timestamp)
        case upstreamEnded(QueuedUpstream.Place, code: String?)
        case upstreamUnderWay([QueuedUpstream.Place])
        case upstreamExpired(at: Timestamp)
        case upstreamEndTaken(QueuedUpstream.Place, app: BundleID)
        case topicWished(String, joins: Bool, app: BundleID, waiter: Int64)
        case topicSettled(TopicWish)
        case noticed(ArrivedNotice)
        case deletionTaken(NotificationID, app: BundleID)
        case extended(
            NotificationID, content: NotificationContent?, PlannedNotification.Disposition, outcome: String,
            note: String?, at: Timestamp)
    }
}

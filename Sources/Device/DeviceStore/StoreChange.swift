import AgentWire
import DeviceModel
import LocalSchedule
import PushModel

/// A change of the store. Writes that come together are committed together.
package enum StoreChange: Sendable {
    case arrived(Arrival)
    /// The server knows that these are stored.
    case confirmed([NotificationID])
    /// The app's handler returned, and wants the notification to appear so far.
    case handed(NotificationID, app: String, shows: PresentationOptions, at: Timestamp)
    /// What is waiting for this app appears as it would without it, and does not wait longer.
    case leftUnhandled(app: String, PresentationConditions, at: Timestamp)
    /// It appears without its app's being asked; `isForApp` when the app still gets it.
    case appeared(NotificationID, PresentationOptions, isForApp: Bool, at: Timestamp)
    case presented(NotificationID, PresentationOutcome, again: Bool, at: Timestamp)
    /// A person chose an action. The token, which the store does not keep, lets the app take the focus. One that is
    /// held waits until the screen is unlocked.
    case tapped(
        NotificationID, action: String, text: String?, activationToken: String?, isHeld: Bool = false, at: Timestamp)
    /// The screen was unlocked.
    case released
    /// An app's own notification fires; `isAsked` when the app is asked first how to show it.
    case fired(
        app: String, NotificationRequest, as: RequestMark?, isAsked: Bool, shows: PresentationOptions, at: Timestamp)
    /// A run of the app has begun: nobody asks again what those before it asked.
    case begun(app: String, run: String)
    /// A request waits for its time or place; one with the same identifier is replaced.
    case scheduled(app: String, NotificationRequest, as: RequestMark?, at: ClockReading, offset: Int? = nil)
    /// The time or the place of a request has come.
    case due(DueRequest, isAsked: Bool, shows: PresentationOptions, at: Timestamp)
    /// An occurrence was noticed too late to be shown.
    case missed(key: Int64, occurrence: Instant, isLast: Bool)
    /// The wall clock was set: this is what it would have said when the request was added.
    case anchored(key: Int64, added: ClockReading, lastFired: Instant?)
    /// On which side of a circle's edge the machine is.
    case crossed(key: Int64, side: RegionWatch.State)
    /// Requests are taken back; `nil` for all of the app's.
    case unscheduled(app: String, identifiers: [String]?)
    /// Notifications leave the list; `nil` for all of the app's.
    case unlisted(app: String, identifiers: [String]?)
    case standing(app: String, AppNotificationRecord)
    /// A person is being asked whether the app may send notifications: what the desktop calls the question; `nil` when
    /// it is over.
    case asked(app: String, handle: String?)
    /// The app cannot be woken before its budget allows it: what it would be woken for waits.
    case deferred(app: String, at: Timestamp)
    /// The app is not on this device any more.
    case appRemoved(app: String, at: Timestamp)
    /// What a person set for all apps.
    case preference(name: String, value: String)
    case dismissed(NotificationID, at: Timestamp)
    case leftScreen(NotificationID)
    /// The desktop shows it again, or at last.
    case shownAgain(NotificationID, handle: String, at: Timestamp)
    case responseHandled(Int64, app: String, at: Timestamp)
    /// The app could not be started for these: nobody waits for them any longer.
    case responsesDropped(app: String, at: Timestamp)
    /// The server has these receipts (first and last outbox sequence of a batch).
    case receiptsConfirmed(ClosedRange<Int64>)

    /// Whether it tells what a person did with a notification: nobody repeats that.
    package var isKeptAfterFailure: Bool {
        switch self {
        case .tapped, .released, .dismissed, .leftScreen, .shownAgain, .standing, .preference, .asked, .appRemoved: true
        default: false
        }
    }
}

/// A notification that came over the device channel, and what the agent made of it.
package struct Arrival: Sendable {
    package var notification: OutgoingNotification
    /// Which session of this run brought it.
    package var session: Int
    package var receivedAt: Timestamp
    /// The handlers that an active app gets it with. An app that may run in the background is started for its own.
    package var kind: DeliveryKind
    package var disposition: Disposition

    package init(
        notification: OutgoingNotification, session: Int, receivedAt: Timestamp, kind: DeliveryKind,
        disposition: Disposition
    ) {
        self.notification = notification
        self.session = session
        self.receivedAt = receivedAt
        self.kind = kind
        self.disposition = disposition
    }

    /// What happens to it now.
    package enum Disposition: Sendable, Hashable {
        /// Its app is there and is asked first.
        case waits
        /// Its app is not there: it appears at once, and is handed over later.
        case waitsShown(PresentationOptions)
        /// It appears at once, and its app does not get it unless somebody taps.
        case isShown(PresentationOptions)
        /// It ends here, with this state.
        case ends(NotificationState, note: String?)
    }
}

/// What a committed write changed, for those who act on it.
package enum ChangeResult: Sendable, Equatable {
    /// `isNew` is false when it was here already; `awaited` when its app is to get it.
    case stored(NotificationID, app: String, isNew: Bool, awaited: Bool)
    case handed(NotificationID, app: String)
    case tapped(NotificationID, app: String)
    /// Answers of these apps are held no longer.
    case released(apps: [String])
    case responseHandled(Int64, app: String)
    case responsesDropped(app: String, count: Int)
    /// An app's own notification is stored; `isOnScreen` when it goes to the screen.
    case fired(NotificationID, app: String, isAsked: Bool, isOnScreen: Bool)
    /// A request waits; no more wait the one whose place it takes, and what was dropped since too many wait.
    case scheduled(PendingRequest, replaced: [Int64], dropped: [Int64])
    /// Requests of these keys wait no longer.
    case unscheduled([Int64])
    /// These left the list and must leave the screen.
    case unlisted([NotificationID])
    case nothing
}

import PushModel

/// A change of the store. Writes that come together are committed together.
enum AgentWrite: Sendable {
    case arrived(Arrival)
    /// The server knows that these are stored.
    case confirmed([NotificationID])
    /// The app's handler returned; `showsIt` when it wants the notification on the screen.
    case handed(NotificationID, app: String, showsIt: Bool, at: Timestamp)
    /// What is waiting for this app and shows text is to be shown without waiting longer.
    case leftUnhandled(app: String)
    case presented(NotificationID, PresentationOutcome, again: Bool, at: Timestamp)
    /// The token, which the store does not keep, lets the app take the focus.
    case tapped(NotificationID, action: String, text: String?, activationToken: String?, at: Timestamp)
    case dismissed(NotificationID, at: Timestamp)
    case leftScreen(NotificationID)
    case responseHandled(Int64, app: String, at: Timestamp)
    /// The app could not be started for these: nobody waits for them any longer.
    case responsesDropped(app: String, at: Timestamp)
    /// The server has these receipts (first and last outbox sequence of a batch).
    case receiptsConfirmed(ClosedRange<Int64>)

    /// Whether it tells what a person did with a notification: nobody repeats that.
    var isSaidOnce: Bool {
        switch self {
        case .tapped, .dismissed, .leftScreen: true
        default: false
        }
    }
}

/// A notification that came over the device channel, and what the agent made of it.
struct Arrival: Sendable {
    var notification: OutgoingNotification
    /// Which session of this run brought it.
    var session: Int
    var receivedAt: Timestamp
    var disposition: Disposition

    /// What happens to it now.
    enum Disposition: Sendable, Hashable {
        /// Its app is there and is asked first.
        case waits
        /// Its app is not there: shown at once, and handed over later.
        case waitsShown
        /// It ends here, with this state.
        case ends(NotificationState, note: String?)
    }
}

/// What a committed write changed, for those who act on it.
enum AgentEffect: Sendable, Equatable {
    /// `isNew` is false when it was here already; `awaited` when its app is to get it.
    case stored(NotificationID, app: String, isNew: Bool, awaited: Bool)
    case handed(NotificationID, app: String)
    case tapped(NotificationID, app: String)
    case responseHandled(Int64, app: String)
    case responsesDropped(app: String, count: Int)
    case nothing
}

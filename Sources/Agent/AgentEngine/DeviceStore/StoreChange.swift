import AgentProtocol
import PushCore
import Scheduling

/// A change of the store, as a value: its effect in the transaction, and the step that commits it. Changes that come
/// together are committed together.
///
/// Each ``Kind`` has a function in an extension of this type, such as ``arrived(_:)``. The store applies it, and returns
/// a ``ChangeResult``, on which the agent acts after the commit.
package struct StoreChange: Sendable {
    /// The step that commits it.
    package let step: AgentStep
    /// Whether it is retried after a failed commit: its input would not be repeated, such as a person's action.
    package let isKeptAfterFailure: Bool
    /// The notification that arrives with it; `nil` for other changes.
    package let arriving: NotificationID?
    /// The encrypted message that is opened with it, by its fingerprint, and the notification that brings it.
    package let opening: (fingerprint: [UInt8], notification: NotificationID)?
    /// The files that were copied for it, and are deleted where it cannot be committed.
    package let copiedFiles: [NotificationAttachment]
    /// The kind of the change, with its values.
    package let kind: Kind

    init(
        _ step: AgentStep, _ kind: Kind, isKeptAfterFailure: Bool = false, arriving: NotificationID? = nil,
        opening: (fingerprint: [UInt8], notification: NotificationID)? = nil,
        copiedFiles: [NotificationAttachment] = []
    ) {
        self.step = step
        self.kind = kind
        self.isKeptAfterFailure = isKeptAfterFailure
        self.arriving = arriving
        self.opening = opening
        self.copiedFiles = copiedFiles
    }
}

// MARK: What the server brings

extension StoreChange {
    /// A notification came over the device channel.
    package static func arrived(_ arrival: Arrival) -> StoreChange {
        let id = arrival.notification.id
        var opening: (fingerprint: [UInt8], notification: NotificationID)?
        if case .opened(let fingerprint) = arrival.decryption { opening = (fingerprint, id) }
        return StoreChange(.storeArrival, .arrived(arrival), arriving: id, opening: opening)
    }

    /// The server has confirmed the acks of these notifications.
    package static func confirmed(_ ids: [NotificationID]) -> StoreChange {
        StoreChange(.storeAcknowledged, .confirmed(ids))
    }

    /// The server has the receipts of these places in the outbox, first and last.
    package static func receiptsConfirmed(_ range: ClosedRange<OutboxPlace>) -> StoreChange {
        StoreChange(.storeReceiptsConfirmed, .receiptsConfirmed(range))
    }
}

// MARK: What an app does with a notification

extension StoreChange {
    /// The app's handler returned; `shows` is how the notification appears.
    package static func handled(
        _ id: NotificationID, app: BundleID, shows: PresentationOptions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeHandled, .handled(id, app: app, shows: shows, at: at))
    }

    /// The app did not take a call in time.
    package static func callNotTaken(_ id: NotificationID, app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeHandled, .callNotTaken(id, app: app, at: at))
    }

    /// The app has not come back: the notifications that wait for it appear as if it did not run.
    package static func leftUnhandled(
        app: BundleID, _ conditions: PresentationConditions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeLeftUnhandled, .leftUnhandled(app: app, conditions, at: at))
    }

    /// A run of the app ended before it had answered these hand-overs.
    package static func runEnded(
        app: BundleID, _ unanswered: UnansweredHandovers, _ conditions: PresentationConditions, at: Timestamp
    ) -> StoreChange {
        StoreChange(
            .storeLeftUnhandled, .runEnded(app: app, unanswered, conditions, at: at), isKeptAfterFailure: true)
    }

    /// A notification appears without its app's answer. `isForApp`: it is delivered to the app all the same.
    package static func appeared(
        _ id: NotificationID, _ shows: PresentationOptions, isForApp: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeAppearance, .appeared(id, shows, isForApp: isForApp, at: at))
    }

    /// The app has handled a response.
    package static func responseHandled(_ response: WaitingResponse.Place, app: BundleID, at: Timestamp) -> StoreChange
    {
        StoreChange(.storeResponseHandled, .responseHandled(response, app: app, at: at))
    }

    /// The app could not be started for its responses: they are given up.
    package static func responsesDropped(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeResponsesDropped, .responsesDropped(app: app, at: at))
    }

    /// The app's budget does not allow waking it: the notifications that would wake it wait.
    package static func deferred(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeDeferral, .deferred(app: app, at: at))
    }
}

// MARK: What the desktop and the person do

extension StoreChange {
    /// The presenter's answer to an intent. `again`: an earlier run of the agent may have shown it already.
    package static func presented(
        _ id: NotificationID, _ outcome: PresentationOutcome, again: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storePresented, .presented(id, outcome, again: again, at: at))
    }

    /// A person chose an action, perhaps with text. The token, which the store does not keep, lets the app take the
    /// focus. `isHeld`: the response waits until the screen is unlocked.
    package static func tapped(
        _ id: NotificationID, action: String, text: String?, activationToken: String?,
        by answerer: AnswerSource = .desktop,
        isHeld: Bool = false, at: Timestamp
    ) -> StoreChange {
        StoreChange(
            .storeTap,
            .tapped(
                id, action: action, text: text, activationToken: activationToken, by: answerer, isHeld: isHeld, at: at),
            isKeptAfterFailure: true)
    }

    /// The screen is unlocked: responses that were held for that go to their apps.
    package static var released: StoreChange {
        StoreChange(.storeRelease, .released, isKeptAfterFailure: true)
    }

    /// A person dismissed a notification.
    package static func dismissed(
        _ id: NotificationID, by answerer: AnswerSource = .desktop, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeDismissal, .dismissed(id, by: answerer, at: at), isKeptAfterFailure: true)
    }

    /// A notification left the screen, by itself or since it was taken away; no person dismissed it.
    package static func leftScreen(_ id: NotificationID) -> StoreChange {
        StoreChange(.storeLeftScreen, .leftScreen(id), isKeptAfterFailure: true)
    }

    /// The desktop shows a notification again, or one that it could not show before.
    package static func shownAgain(_ id: NotificationID, handle: String, at: Timestamp) -> StoreChange {
        StoreChange(.storeShownAgain, .shownAgain(id, handle: handle, at: at), isKeptAfterFailure: true)
    }

    /// A person is being asked whether the app may send notifications. `handle`: the presenter's for the question;
    /// `nil` when that is closed.
    package static func asked(app: BundleID, handle: String?) -> StoreChange {
        StoreChange(.storeQuestion, .asked(app: app, handle: handle), isKeptAfterFailure: true)
    }

    /// A person set this preference for all apps.
    package static func preference(name: String, value: String) -> StoreChange {
        StoreChange(.storePreference, .preference(name: name, value: value), isKeptAfterFailure: true)
    }

    /// Stores an app's authorization and settings, which have changed.
    package static func standing(app: BundleID, _ record: AppNotificationRecord) -> StoreChange {
        StoreChange(.storeStanding, .standing(app: app, record), isKeptAfterFailure: true)
    }

    /// The app was removed from this device.
    package static func appRemoved(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeRemoval, .appRemoved(app: app, at: at), isKeptAfterFailure: true)
    }
}

// The commands of apps to their notification center.
extension StoreChange {
    /// A run of the app has begun. The marks of earlier runs are deleted: their requests are not repeated any more.
    package static func begun(app: BundleID, run: String) -> StoreChange {
        StoreChange(.storeBeginning, .begun(app: app, run: run))
    }

    /// An app's own notification fires at once. `isAsked`: the app is asked first how it appears. `shows`: how it
    /// appears when the app is not asked.
    package static func fired(
        app: BundleID, _ request: NotificationRequest, as mark: RequestMark?, isAsked: Bool, shows: PresentationOptions,
        at: Timestamp
    ) -> StoreChange {
        StoreChange(
            .storeFired, .fired(app: app, request, as: mark, isAsked: isAsked, shows: shows, at: at),
            copiedFiles: request.content.attachments)
    }

    /// A request waits for its time or place, in place of one with the same identifier.
    ///
    /// - Parameter offset: The seconds that the machine's zone is east of UTC.
    package static func scheduled(
        app: BundleID, _ request: NotificationRequest, as mark: RequestMark?, at: ClockReading, offset: Int? = nil
    ) -> StoreChange {
        StoreChange(
            .storeScheduled, .scheduled(app: app, request, as: mark, at: at, offset: offset),
            copiedFiles: request.content.attachments)
    }

    /// A request fires: its time has come, or its region's edge was crossed. `isAsked`: the app is asked first how it
    /// appears. `shows`: how it appears when the app is not asked.
    package static func due(
        _ due: DueRequest, isAsked: Bool, shows: PresentationOptions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeDue, .due(due, isAsked: isAsked, shows: shows, at: at))
    }

    /// An occurrence does not fire: it was noticed too late, or there is none to come.
    package static func missed(key: RequestKey, occurrence: Timestamp, isLast: Bool) -> StoreChange {
        StoreChange(.storeMissed, .missed(key: key, occurrence: occurrence, isLast: isLast))
    }

    /// The wall clock was set. `added` and `lastFired` are the same moments as before, by the wall clock as it is now.
    package static func anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?) -> StoreChange {
        StoreChange(.storeAnchored, .anchored(key: key, added: added, lastFired: lastFired))
    }

    /// The machine is known to be on this side of a region's edge.
    package static func crossed(key: RequestKey, side: RegionWatch.State) -> StoreChange {
        StoreChange(.storeCrossed, .crossed(key: key, side: side))
    }

    /// Scheduled requests are withdrawn; `nil` for all of the app's.
    package static func unscheduled(app: BundleID, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnscheduled, .unscheduled(app: app, identifiers: identifiers))
    }

    /// Notifications leave the list; `nil` for all of the app's.
    package static func unlisted(app: BundleID, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnlisted, .unlisted(app: app, identifiers: identifiers))
    }
}

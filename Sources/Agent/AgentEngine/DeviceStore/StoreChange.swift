import AgentProtocol
import PushCore
import Scheduling

/// A change of the store, as a value: its effect in the transaction, and the step that commits it. Changes that come
/// together are committed together.
///
/// Each kind is a function in an extension of this type, such as ``arrived(_:)``. It yields a ``ChangeResult``, on
/// which the agent acts after the commit. So a new kind touches two places: its function, and the code that acts on its
/// result.
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
    /// Makes the change in the transaction; returns what it did.
    let apply: @Sendable (ChangeApplier) throws -> ChangeResult

    init(
        _ step: AgentStep, isKeptAfterFailure: Bool = false, arriving: NotificationID? = nil,
        opening: (fingerprint: [UInt8], notification: NotificationID)? = nil,
        copiedFiles: [NotificationAttachment] = [], _ apply: @escaping @Sendable (ChangeApplier) throws -> ChangeResult
    ) {
        self.step = step
        self.isKeptAfterFailure = isKeptAfterFailure
        self.arriving = arriving
        self.opening = opening
        self.copiedFiles = copiedFiles
        self.apply = apply
    }

    /// A change that has no result.
    init(
        _ step: AgentStep, isKeptAfterFailure: Bool = false,
        silently: @escaping @Sendable (ChangeApplier) throws -> Void
    ) {
        self.init(step, isKeptAfterFailure: isKeptAfterFailure) { store in
            try silently(store)
            return .nothing
        }
    }
}

// MARK: What the server brings

extension StoreChange {
    /// A notification came over the device channel.
    package static func arrived(_ arrival: Arrival) -> StoreChange {
        let id = arrival.notification.id
        var opening: (fingerprint: [UInt8], notification: NotificationID)?
        if case .opened(let fingerprint) = arrival.decryption { opening = (fingerprint, id) }
        return StoreChange(.storeArrival, arriving: id, opening: opening) { try $0.store(arrival) }
    }

    /// The server has confirmed the acks of these notifications.
    package static func confirmed(_ ids: [NotificationID]) -> StoreChange {
        StoreChange(.storeAcknowledged, silently: { try $0.confirm(ids) })
    }

    /// The server has the receipts of these places in the outbox, first and last.
    package static func receiptsConfirmed(_ range: ClosedRange<OutboxPlace>) -> StoreChange {
        StoreChange(.storeReceiptsConfirmed, silently: { try $0.deleteReceipts(range) })
    }
}

// MARK: What an app does with a notification

extension StoreChange {
    /// The app's handler returned; `shows` is how the notification appears.
    package static func handed(
        _ id: NotificationID, app: BundleID, shows: PresentationOptions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeHandled) {
            try $0.hand(id, app: app, shows: shows, at: at)
            return .handed(id, app: app)
        }
    }

    /// The app has not come back: the notifications that wait for it appear as if it did not run.
    package static func leftUnhandled(
        app: BundleID, _ conditions: PresentationConditions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeLeftUnhandled, silently: { try $0.wantPresentation(app: app, conditions, at: at) })
    }

    /// A notification appears without its app's answer. `isForApp`: it is delivered to the app all the same.
    package static func appeared(
        _ id: NotificationID, _ shows: PresentationOptions, isForApp: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeAppearance, silently: { try $0.appear(id, shows, isForApp: isForApp, at: at) })
    }

    /// The app has handled a response.
    package static func responseHandled(_ response: WaitingResponse.Place, app: BundleID, at: Timestamp) -> StoreChange
    {
        StoreChange(.storeResponseHandled) {
            try $0.finish(response, app: app, at: at)
            return .responseHandled(response, app: app)
        }
    }

    /// The app could not be started for its responses: they are given up.
    package static func responsesDropped(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeResponsesDropped) { try $0.dropResponses(app: app, at: at) }
    }

    /// The app's budget does not allow waking it: the notifications that would wake it wait.
    package static func deferred(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeDeferral, silently: { try $0.deferWaking(app, at: at) })
    }
}

// MARK: What the desktop and the person do

extension StoreChange {
    /// The presenter's answer to an intent. `again`: an earlier run of the agent may have shown it already.
    package static func presented(
        _ id: NotificationID, _ outcome: PresentationOutcome, again: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storePresented) {
            try $0.present(id, outcome, again: again, at: at)
            return .presented(id)
        }
    }

    /// A person chose an action, perhaps with text. The token, which the store does not keep, lets the app take the
    /// focus. `isHeld`: the response waits until the screen is unlocked.
    package static func tapped(
        _ id: NotificationID, action: String, text: String?, activationToken: String?, by answerer: Answerer = .desktop,
        isHeld: Bool = false, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeTap, isKeptAfterFailure: true) { store in
            guard let app = try store.tap(id, action: action, text: text, by: answerer, isHeld: isHeld, at: at)
            else {
                return .nothing
            }
            return isHeld ? .nothing : .tapped(id, app: app, activationToken: activationToken)
        }
    }

    /// The screen is unlocked: responses that were held for that go to their apps.
    package static var released: StoreChange {
        StoreChange(.storeRelease, isKeptAfterFailure: true) { .released(apps: try $0.release()) }
    }

    /// A person dismissed a notification.
    package static func dismissed(
        _ id: NotificationID, by answerer: Answerer = .desktop, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeDismissal, isKeptAfterFailure: true, silently: { try $0.dismiss(id, by: answerer, at: at) })
    }

    /// A notification left the screen, by itself or since it was taken away; no person dismissed it.
    package static func leftScreen(_ id: NotificationID) -> StoreChange {
        StoreChange(.storeLeftScreen, isKeptAfterFailure: true, silently: { _ = try $0.leaveScreen(id) })
    }

    /// The desktop shows a notification again, or one that it could not show before.
    package static func shownAgain(_ id: NotificationID, handle: String, at: Timestamp) -> StoreChange {
        StoreChange(
            .storeShownAgain, isKeptAfterFailure: true, silently: { try $0.showAgain(id, handle: handle, at: at) })
    }

    /// A person is being asked whether the app may send notifications. `handle`: the presenter's for the question;
    /// `nil` when that is closed.
    package static func asked(app: BundleID, handle: String?) -> StoreChange {
        StoreChange(.storeQuestion, isKeptAfterFailure: true, silently: { try $0.keepQuestion(handle, app: app) })
    }

    /// A person set this preference for all apps.
    package static func preference(name: String, value: String) -> StoreChange {
        StoreChange(.storePreference, isKeptAfterFailure: true, silently: { try $0.keepPreference(name, value) })
    }

    /// Stores an app's authorization and settings, which have changed.
    package static func standing(app: BundleID, _ record: AppNotificationRecord) -> StoreChange {
        StoreChange(.storeStanding, isKeptAfterFailure: true, silently: { try $0.keep(record, app: app) })
    }

    /// The app was removed from this device.
    package static func appRemoved(app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeRemoval, isKeptAfterFailure: true) { .appRemoved(try $0.remove(app, at: at)) }
    }
}

// The commands of apps to their notification center.
extension StoreChange {
    /// A run of the app has begun. The marks of earlier runs are deleted: their requests are not repeated any more.
    package static func begun(app: BundleID, run: String) -> StoreChange {
        StoreChange(.storeBeginning, silently: { try $0.begin(run: run, of: app) })
    }

    /// An app's own notification fires at once. `isAsked`: the app is asked first how it appears. `shows`: how it
    /// appears when the app is not asked.
    package static func fired(
        app: BundleID, _ request: NotificationRequest, as mark: RequestMark?, isAsked: Bool, shows: PresentationOptions,
        at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeFired, copiedFiles: request.content.attachments) { store in
            try store.note(mark, of: app)
            let (id, isOnScreen) = try store.fire(request, app: app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: app, identifier: request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        }
    }

    /// A request waits for its time or place, in place of one with the same identifier.
    ///
    /// - Parameter offset: The seconds that the machine's zone is east of UTC.
    package static func scheduled(
        app: BundleID, _ request: NotificationRequest, as mark: RequestMark?, at: ClockReading, offset: Int? = nil
    ) -> StoreChange {
        StoreChange(.storeScheduled, copiedFiles: request.content.attachments) { store in
            try store.note(mark, of: app)
            return try store.schedule(request, app: app, at: at, offset: offset)
        }
    }

    /// A request fires: its time has come, or its region's edge was crossed. `isAsked`: the app is asked first how it
    /// appears. `shows`: how it appears when the app is not asked.
    package static func due(
        _ due: DueRequest, isAsked: Bool, shows: PresentationOptions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeDue) { store in
            guard try store.take(due) else { return .nothing }
            let (id, isOnScreen) = try store.store(due.request, app: due.app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: due.app, identifier: due.request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        }
    }

    /// An occurrence does not fire: it was noticed too late, or there is none to come.
    package static func missed(key: RequestKey, occurrence: Timestamp, isLast: Bool) -> StoreChange {
        StoreChange(.storeMissed, silently: { try $0.pass(occurrence, of: key, isLast: isLast) })
    }

    /// The wall clock was set. `added` and `lastFired` are the same moments as before, by the wall clock as it is now.
    package static func anchored(key: RequestKey, added: ClockReading, lastFired: Timestamp?) -> StoreChange {
        StoreChange(.storeAnchored, silently: { try $0.anchor(key, added: added, lastFired: lastFired) })
    }

    /// The machine is known to be on this side of a region's edge.
    package static func crossed(key: RequestKey, side: RegionWatch.State) -> StoreChange {
        StoreChange(.storeCrossed, silently: { try $0.storeRegionState(side, of: key) })
    }

    /// Scheduled requests are withdrawn; `nil` for all of the app's.
    package static func unscheduled(app: BundleID, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnscheduled) { .unscheduled(try $0.unschedule(identifiers, app: app)) }
    }

    /// Notifications leave the list; `nil` for all of the app's.
    package static func unlisted(app: BundleID, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnlisted) { .unlisted(try $0.unlist(identifiers, app: app)) }
    }
}

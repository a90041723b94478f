import AgentWire
import DeviceModel
import PushModel

/// A change of the store, as a value: what it does in its transaction, and the step that commits it. Changes that come
/// together are committed together.
///
/// Each kind is a function in an extension of this type, such as ``arrived(_:)``. What a kind leads to after the commit is
/// its ``ChangeResult``. So a new kind touches two places: its function, and whoever acts on its result.
package struct StoreChange: Sendable {
    /// The step that commits it.
    package let step: AgentStep
    /// Whether it is tried again after a failed commit: it tells what a person did, which nobody repeats.
    package let isKeptAfterFailure: Bool
    /// The notification that arrives with it.
    package let arriving: NotificationID?
    /// The files that were copied for it.
    package let copiedFiles: [NotificationAttachment]
    /// Does it in the transaction, and tells what it changed.
    let apply: @Sendable (ChangeApplier) throws -> ChangeResult

    init(
        _ step: AgentStep, isKeptAfterFailure: Bool = false, arriving: NotificationID? = nil,
        copiedFiles: [NotificationAttachment] = [], _ apply: @escaping @Sendable (ChangeApplier) throws -> ChangeResult
    ) {
        self.step = step
        self.isKeptAfterFailure = isKeptAfterFailure
        self.arriving = arriving
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
        StoreChange(.storeArrival, arriving: arrival.notification.id) { try $0.store(arrival) }
    }

    /// The server knows that these are stored.
    package static func confirmed(_ ids: [NotificationID]) -> StoreChange {
        StoreChange(.storeAcknowledged, silently: { try $0.confirm(ids) })
    }

    /// The server has these receipts (first and last outbox sequence of a batch).
    package static func receiptsConfirmed(_ range: ClosedRange<Int64>) -> StoreChange {
        StoreChange(.storeReceiptsConfirmed, silently: { try $0.deleteReceipts(range) })
    }
}

// MARK: What an app does with a notification

extension StoreChange {
    /// The app's handler returned, and wants the notification to appear so far.
    package static func handed(
        _ id: NotificationID, app: String, shows: PresentationOptions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeHandled) {
            try $0.hand(id, app: app, shows: shows, at: at)
            return .handed(id, app: app)
        }
    }

    /// What is waiting for this app appears as it would without it, and does not wait longer.
    package static func leftUnhandled(
        app: String, _ conditions: PresentationConditions, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeLeftUnhandled, silently: { try $0.wantPresentation(app: app, conditions, at: at) })
    }

    /// It appears without its app's being asked; `isForApp` when the app still gets it.
    package static func appeared(
        _ id: NotificationID, _ shows: PresentationOptions, isForApp: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeAppearance, silently: { try $0.appear(id, shows, isForApp: isForApp, at: at) })
    }

    /// The app has handled a response.
    package static func responseHandled(_ response: Int64, app: String, at: Timestamp) -> StoreChange {
        StoreChange(.storeResponseHandled) {
            try $0.finish(response, app: app, at: at)
            return .responseHandled(response, app: app)
        }
    }

    /// The app could not be started for its responses: nobody waits for them any longer.
    package static func responsesDropped(app: String, at: Timestamp) -> StoreChange {
        StoreChange(.storeResponsesDropped) { try $0.dropResponses(app: app, at: at) }
    }

    /// The app cannot be woken before its budget allows it: what it would be woken for waits.
    package static func deferred(app: String, at: Timestamp) -> StoreChange {
        StoreChange(.storeDeferral, silently: { try $0.deferWaking(app, at: at) })
    }
}

// MARK: What the desktop and the person do

extension StoreChange {
    /// The desktop's answer to the wish to show a notification; `again` after a restart of the agent.
    package static func presented(
        _ id: NotificationID, _ outcome: PresentationOutcome, again: Bool, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storePresented) {
            try $0.present(id, outcome, again: again, at: at)
            return .presented(id)
        }
    }

    /// A person chose an action. The token, which the store does not keep, lets the app take the focus. One that is
    /// held waits until the screen is unlocked.
    package static func tapped(
        _ id: NotificationID, action: String, text: String?, activationToken: String?, isHeld: Bool = false,
        at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeTap, isKeptAfterFailure: true) { store in
            guard let app = try store.tap(id, action: action, text: text, isHeld: isHeld, at: at) else {
                return .nothing
            }
            return isHeld ? .nothing : .tapped(id, app: app, activationToken: activationToken)
        }
    }

    /// The screen was unlocked.
    package static var released: StoreChange {
        StoreChange(.storeRelease, isKeptAfterFailure: true) { .released(apps: try $0.release()) }
    }

    /// A person dismissed a notification.
    package static func dismissed(_ id: NotificationID, at: Timestamp) -> StoreChange {
        StoreChange(.storeDismissal, isKeptAfterFailure: true, silently: { try $0.dismiss(id, at: at) })
    }

    /// It left the screen by itself or because it was taken away.
    package static func leftScreen(_ id: NotificationID) -> StoreChange {
        StoreChange(.storeLeftScreen, isKeptAfterFailure: true, silently: { _ = try $0.leaveScreen(id) })
    }

    /// The desktop shows it again, or at last.
    package static func shownAgain(_ id: NotificationID, handle: String, at: Timestamp) -> StoreChange {
        StoreChange(
            .storeShownAgain, isKeptAfterFailure: true, silently: { try $0.showAgain(id, handle: handle, at: at) })
    }

    /// A person is being asked whether the app may send notifications: what the desktop calls the question; `nil` when
    /// it is over.
    package static func asked(app: String, handle: String?) -> StoreChange {
        StoreChange(.storeQuestion, isKeptAfterFailure: true, silently: { try $0.keepQuestion(handle, app: app) })
    }

    /// What a person set for all apps.
    package static func preference(name: String, value: String) -> StoreChange {
        StoreChange(.storePreference, isKeptAfterFailure: true, silently: { try $0.keepPreference(name, value) })
    }

    /// What a person and an app have settled.
    package static func standing(app: String, _ record: AppNotificationRecord) -> StoreChange {
        StoreChange(.storeStanding, isKeptAfterFailure: true, silently: { try $0.keep(record, app: app) })
    }

    /// The app is not on this device any more.
    package static func appRemoved(app: String, at: Timestamp) -> StoreChange {
        StoreChange(.storeRemoval, isKeptAfterFailure: true) { .appRemoved(try $0.remove(app, at: at)) }
    }
}

import AgentWire
import DeviceModel
import LocalSchedule
import PushModel

// What apps ask of their notification centre.
extension StoreChange {
    /// A run of the app has begun: nobody asks again what those before it asked.
    package static func begun(app: String, run: String) -> StoreChange {
        StoreChange(.storeBeginning, silently: { try $0.begin(run: run, of: app) })
    }

    /// An app's own notification fires; `isAsked` when the app is asked first how to show it.
    package static func fired(
        app: String, _ request: NotificationRequest, as mark: RequestMark?, isAsked: Bool, shows: PresentationOptions,
        at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeFired, copiedFiles: request.content.attachments) { store in
            try store.note(mark, of: app)
            let (id, isOnScreen) = try store.fire(request, app: app, isAsked: isAsked, shows: shows, at: at)
            return .fired(
                id, app: app, identifier: request.identifier, isAsked: isAsked, isOnScreen: isOnScreen)
        }
    }

    /// A request waits for its time or place; one with the same identifier is replaced.
    package static func scheduled(
        app: String, _ request: NotificationRequest, as mark: RequestMark?, at: ClockReading, offset: Int? = nil
    ) -> StoreChange {
        StoreChange(.storeScheduled, copiedFiles: request.content.attachments) { store in
            try store.note(mark, of: app)
            return try store.schedule(request, app: app, at: at, offset: offset)
        }
    }

    /// The time or the place of a request has come.
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

    /// An occurrence was noticed too late to be shown.
    package static func missed(key: Int64, occurrence: Instant, isLast: Bool) -> StoreChange {
        StoreChange(.storeMissed, silently: { try $0.pass(occurrence, of: key, isLast: isLast) })
    }

    /// The wall clock was set: this is what it would have said when the request was added.
    package static func anchored(key: Int64, added: ClockReading, lastFired: Instant?) -> StoreChange {
        StoreChange(.storeAnchored, silently: { try $0.anchor(key, added: added, lastFired: lastFired) })
    }

    /// On which side of a circle's edge the machine is.
    package static func crossed(key: Int64, side: RegionWatch.State) -> StoreChange {
        StoreChange(.storeCrossed, silently: { try $0.keepSide(side, of: key) })
    }

    /// Requests are taken back; `nil` for all of the app's.
    package static func unscheduled(app: String, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnscheduled) { .unscheduled(try $0.unschedule(identifiers, app: app)) }
    }

    /// Notifications leave the list; `nil` for all of the app's.
    package static func unlisted(app: String, identifiers: [String]?) -> StoreChange {
        StoreChange(.storeUnlisted) { .unlisted(try $0.unlist(identifiers, app: app)) }
    }
}

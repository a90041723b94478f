import AgentProtocol
import PushCore
import Scheduling

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
        StoreChange(.storeCrossed, silently: { try $0.keepSide(side, of: key) })
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

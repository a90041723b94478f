import AgentWire
import DeviceModel
import DeviceStore
import InstalledApps
import PushModel

/// What comes over the device channel: each is planned, and stored with its plan.
extension Agent {
    func arrived(_ notifications: [OutgoingNotification], in session: Int) {
        let now = parts.now()
        do {
            for notification in notifications {
                if let notice = notification.notice {
                    noticed(notice, by: notification, in: session)
                    continue
                }
                if notification.isDataMessage {
                    dataArrived(notification, in: session, at: now)
                    continue
                }
                enqueue(.arrived(try arrival(of: notification, in: session, at: now)))
            }
        } catch {
            // The server sends again what was not stored.
            storeFailed(error)
        }
    }

    private func arrival(
        of notification: OutgoingNotification, in session: Int, at now: Timestamp
    ) throws -> Arrival {
        var notification = notification
        let decryption = try decrypt(&notification)
        let delivery = PayloadDelivery(payload: String(decoding: notification.payload, as: UTF8.self))
        if case .failed(let failure) = decryption, case .replayed = failure {
            return Arrival(
                notification: notification, session: session, receivedAt: now, kind: delivery.kind,
                disposition: .ends(.undecryptable(failure.code), note: failure.sentence))
        }
        return Arrival(
            notification: notification, session: session, receivedAt: now, kind: delivery.kind,
            disposition: try disposition(of: notification, delivery), decryption: decryption)
    }

    private func disposition(
        of notification: OutgoingNotification, _ delivery: PayloadDelivery
    ) throws -> PlannedNotification.Disposition {
        let app = BundleID(notification.topic)
        guard let plan = planned(ReceivedNotification(delivery), for: app) else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        if apps[app]?.manifest.serviceExtension != nil, plan.isExtended(delivery) { return .isExtended }
        // What comes again tells nothing again.
        if plan.tellsAlone, try !isDuplicate(notification.id) { tellAlone(plan, of: app) }
        return plan.disposition
    }

    func isDuplicate(_ id: NotificationID) throws -> Bool {
        try batch.arriving.contains(id) || store.read { try $0.isKnown(id) }
    }

    /// How a notification appears and who gets it; `nil` where its app is not installed.
    func planned(_ received: ReceivedNotification, for app: BundleID) -> PlannedNotification? {
        guard let installed = apps[app] else { return nil }
        return received.planned(
            under: conditions(of: installed), isInFront: installed.isInFront,
            takesEverything: installed.takesEverything)
    }

    /// The badge, and the sound of what shows no text.
    func tellAlone(_ plan: PlannedNotification, of app: BundleID) {
        if let badge = plan.badge { applyBadge(badge, app: app) }
        if let sound = plan.sound { play(sound, of: apps[app]?.manifest) }
    }
}

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
                let delivery = PayloadDelivery(payload: String(decoding: notification.payload, as: UTF8.self))
                enqueue(
                    .arrived(
                        Arrival(
                            notification: notification, session: session, receivedAt: now, kind: delivery.kind,
                            disposition: try disposition(of: notification, delivery))))
            }
        } catch {
            // The server sends again what was not stored.
            storeFailed(error)
        }
    }

    private func disposition(
        of notification: OutgoingNotification, _ delivery: PayloadDelivery
    ) throws -> PlannedNotification.Disposition {
        let app = notification.topic.rawValue
        guard let plan = planned(ReceivedNotification(delivery), for: app) else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        // What comes again tells nothing again.
        if plan.tellsAlone, try !isKnown(notification.id) { tellAlone(plan, of: app) }
        return plan.disposition
    }

    private func isKnown(_ id: NotificationID) throws -> Bool {
        try batch.arriving.contains(id) || store.read { try $0.isKnown(id) }
    }

    /// How a notification appears and who gets it; `nil` where its app is not installed.
    func planned(_ received: ReceivedNotification, for app: String) -> PlannedNotification? {
        guard let installed = apps[app] else { return nil }
        return received.planned(
            under: conditions(of: installed), isInFront: installed.isInFront,
            takesEverything: installed.takesEverything)
    }

    /// The badge, and the sound of what shows no text.
    func tellAlone(_ plan: PlannedNotification, of app: String) {
        if let badge = plan.badge { applyBadge(badge, app: app) }
        if let sound = plan.sound { play(sound, of: apps[app]?.manifest) }
    }
}

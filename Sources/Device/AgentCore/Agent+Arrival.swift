import AgentWire
import DeviceModel
import DeviceStore
import PushModel

/// What comes over the device channel, and what becomes of it at once.
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

    private func isKnown(_ id: NotificationID) throws -> Bool {
        try batch.arriving.contains(id) || store.read { try $0.isKnown(id) }
    }

    private func disposition(
        of notification: OutgoingNotification, _ delivery: PayloadDelivery
    ) throws -> Arrival.Disposition {
        guard let app = apps[notification.topic.rawValue] else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        let content = delivery.content
        let plan = conditions(of: app).plan(content)
        let isAllowed = app.standing.authorization(under: app.manifest.authorization).allows
        guard !(isAllowed && app.isInFront) else { return .waits }
        // What comes again sets no badge again.
        if plan.badge != nil, try !isKnown(notification.id) {
            applyBadge(of: content, app: notification.topic.rawValue)
        }
        let wakes = delivery.wakesInBackground || delivery.kind == .background
        guard case .nowhere(let reason) = plan.reach else {
            return app.takesEverything || wakes ? .waitsShown(plan.showing) : .isShown(plan.showing)
        }
        if wakes || isAllowed && app.takesEverything { return .waits }
        if plan.sounds, try !isKnown(notification.id) { play(content.sound, of: app.manifest) }
        if plan.badge != nil || plan.sounds {
            return .ends(.presented, note: "it shows no text: its badge and its sound alone")
        }
        return .ends(.suppressed(.settings), note: reason)
    }
}

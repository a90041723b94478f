import AgentProtocol
import PushCore

// The stages of a notification, one type for each: a received notification is planned, the plan is stored, and the
// stored notification is shown and handed to its app. Notifications of a server and of an app here pass the same
// stages.

/// A notification that came, or whose time has come.
package struct ReceivedNotification: Sendable {
    /// The origin of a notification.
    package enum Source: Hashable, Sendable {
        /// A server. Its app is started for it where `wakesApp`, and gets it in the background.
        case server(wakesApp: Bool)
        /// An app of this device, which does not get it unless it is in front.
        case app
    }

    /// The notification's content.
    package var content: NotificationContent
    /// The notification's origin.
    package var source: Source

    /// Creates a notification that an app scheduled here, or whose payload was read already.
    ///
    /// - Parameters:
    /// - content: The notification's content.
    /// - source: The notification's origin.
    package init(content: NotificationContent, source: Source) {
        self.content = content
        self.source = source
    }

    /// Creates a notification that a provider sent.
    ///
    /// - Parameter delivery: The delivery of its payload, with the content.
    package init(_ delivery: PayloadDelivery) {
        self.init(
            content: delivery.content,
            source: .server(wakesApp: delivery.wakesInBackground || delivery.kind == .background))
    }

    /// Plans how it appears, and whether its app gets it.
    ///
    /// - Parameters:
    ///   - conditions: The person's settings, and the state of the screen.
    ///   - isInFront: Whether its app is connected and in the foreground.
    ///   - takesEverything: Whether its app is handed everything, however it appears.
    package func planned(
        under conditions: PresentationConditions, isInFront: Bool, takesEverything: Bool
    ) -> PlannedNotification {
        let plan = conditions.plan(content)
        switch source {
        case .app: return PlannedNotification(local: plan, content, isAsked: isInFront)
        case .server(let wakesApp):
            let isAllowed = conditions.standing.authorization(under: conditions.policy).allows
            if isInFront && isAllowed { return PlannedNotification(asking: plan) }
            return PlannedNotification(
                arrived: plan, content, isAwaited: wakesApp || isAllowed && takesEverything,
                getsWhatAppears: wakesApp || takesEverything)
        }
    }
}

/// A notification whose appearance is settled, before it is stored.
package struct PlannedNotification: Sendable {
    /// The action on a notification when it is stored.
    package enum Disposition: Sendable, Hashable {
        /// The notification waits for its app, which is asked first where it is in the foreground; it does not appear
        /// before.
        case waits
        /// The notification appears at once, and is handed to its app later.
        case waitsShown(PresentationOptions)
        /// The notification appears at once, and its app gets it only when a person taps it.
        case isShown(PresentationOptions)
        /// The notification waits for its app's service extension, which may change it; it is planned again after the
        /// answer.
        case awaitsExtension
        /// The notification ends here, with this state.
        case ends(NotificationState, note: String?)
    }

    /// The action when the notification is stored.
    package let disposition: Disposition
    /// Whether its app is asked first how it appears.
    package let isAsked: Bool
    /// The presentation when the app is not asked.
    package let showing: PresentationOptions
    /// The number for its app's icon; set once, when it is new.
    package let badge: Int?
    /// The sound of a notification without text; played once, when it is new.
    package let sound: NotificationSound?

    /// Whether its app's service extension may change it first, where there is one: the payload asks for that, and has
    /// text to show.
    package func needsExtension(_ delivery: PayloadDelivery) -> Bool {
        delivery.isMutable && delivery.content.showsText && !showing.isDisjoint(with: [.screen, .list])
    }

    /// Whether a badge or a sound is to be applied without a notification on the screen.
    package var hasBadgeOrSound: Bool { badge != nil || sound != nil }

    /// The plan for an app in the foreground: the app answers before anything is shown.
    fileprivate init(asking plan: PresentationPlan) {
        (disposition, isAsked, showing, badge, sound) = (.waits, true, plan.showing, nil, nil)
    }

    fileprivate init(local plan: PresentationPlan, _ content: NotificationContent, isAsked: Bool) {
        self.isAsked = isAsked
        disposition = isAsked ? .waits : .isShown(plan.showing)
        showing = plan.showing
        badge = isAsked ? nil : plan.badge
        sound = !isAsked && plan.sounds && !content.showsText ? content.sound : nil
    }

    /// - Parameters:
    ///   - isAwaited: Whether its app gets it although it does not appear.
    ///   - getsWhatAppears: Whether its app gets it when it appears.
    fileprivate init(
        arrived plan: PresentationPlan, _ content: NotificationContent, isAwaited: Bool, getsWhatAppears: Bool
    ) {
        isAsked = false
        showing = plan.showing
        badge = plan.badge
        guard case .nowhere(let reason) = plan.reach else {
            disposition = getsWhatAppears ? .waitsShown(plan.showing) : .isShown(plan.showing)
            sound = nil
            return
        }
        if isAwaited {
            (disposition, sound) = (.waits, nil)
        } else if plan.badge != nil || plan.sounds {
            disposition = .ends(.presented, note: "it shows no text: its badge and its sound alone")
            sound = plan.sounds ? content.sound : nil
        } else {
            (disposition, sound) = (.ends(.suppressed(.settings), note: reason), nil)
        }
    }
}

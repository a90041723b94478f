import AgentWire
import PushModel

// The way of a notification to the person, one type for each stage: what was received is planned, the plan is stored, and
// what is stored is shown and handed to its app. What comes from a server and what an app scheduled here go the same way.

/// A notification that came, or whose time has come.
package struct ReceivedNotification: Sendable {
    /// Where it comes from.
    package enum Source: Hashable, Sendable {
        /// A server. Its app is started for it where `wakesApp`, and gets it in the background.
        case server(wakesApp: Bool)
        /// An app of this device, which does not get it unless it is in front.
        case app
    }

    /// What it says.
    package var content: NotificationContent
    /// Where it comes from.
    package var source: Source

    /// What an app scheduled here, or what is known of a payload already.
    ///
    /// - Parameters:
    ///   - content: What it says.
    ///   - source: Where it comes from.
    package init(content: NotificationContent, source: Source) {
        self.content = content
        self.source = source
    }

    /// What a provider sent.
    ///
    /// - Parameter delivery: How its payload is delivered; what it says is in it.
    package init(_ delivery: PayloadDelivery) {
        self.init(
            content: delivery.content,
            source: .server(wakesApp: delivery.wakesInBackground || delivery.kind == .background))
    }

    /// Plans how it appears and who gets it.
    ///
    /// - Parameters:
    ///   - conditions: What the person settled, and how the screen is.
    ///   - isInFront: Whether its app is connected and in front of the person.
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
    /// What happens to one that is stored now.
    package enum Disposition: Sendable, Hashable {
        /// Its app gets it, and is asked first where it is in front; it does not appear before.
        case waits
        /// It appears at once, and is handed to its app later.
        case waitsShown(PresentationOptions)
        /// It appears at once, and its app does not get it unless somebody taps.
        case isShown(PresentationOptions)
        /// Its app's service extension may change it first: it is planned again when that has answered.
        case isExtended
        /// It ends here, with this state.
        case ends(NotificationState, note: String?)
    }

    /// What happens to it when it is stored.
    package let disposition: Disposition
    /// Whether its app is asked first how it appears.
    package let isAsked: Bool
    /// How far it appears when nobody is asked.
    package let showing: PresentationOptions
    /// The number for its app's icon; set once, when it is new.
    package let badge: Int?
    /// What is heard without a text; played once, when it is new.
    package let sound: NotificationSound?

    /// Whether its app's service extension may change it first, where there is one: it asks for that, and shows text to
    /// somebody.
    package func isExtended(_ delivery: PayloadDelivery) -> Bool {
        delivery.isMutable && delivery.content.showsText && !showing.isDisjoint(with: [.screen, .list])
    }

    /// Whether something is told beside what appears.
    package var tellsAlone: Bool { badge != nil || sound != nil }

    /// Its app is in front: nothing is told before that has answered.
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

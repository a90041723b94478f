import AgentProtocol

/// Decides how one notification appears: a function of its content and of the settings.
package struct PresentationPlan: Hashable, Sendable {
    /// How far it comes.
    package enum Reach: Hashable, Sendable {
        /// On the screen, and into the list.
        case screen
        /// Into the list only.
        case list
        /// Nowhere; the reason for the timeline.
        case nowhere(reason: String)
    }

    /// How far it comes.
    package var reach: Reach
    /// Whether its sound is played.
    package var sounds = false
    /// Whether what comes to the screen is kept in the list too.
    package var lists = true
    /// Whether it ignores the limits on other notifications: its content is critical, and the person allows that.
    package var isCritical = false
    /// The number for the app's icon, where it changes.
    package var badge: Int?
    /// Whether its text is replaced by a placeholder.
    package var hidesText = false

    /// Decides by the content, by what is settled, and by the moment.
    ///
    /// - Parameters:
    ///   - isLocked: Whether the screen is locked.
    ///   - isQuietTime: Whether the person wants to be disturbed by urgent things only.
    package init(
        _ content: NotificationContent, standing: AppNotificationRecord, policy: AppManifest.Authorization,
        isLocked: Bool = false,
        isQuietTime: Bool = false
    ) {
        let settings = standing.settings
        let authorization = standing.authorization(under: policy)
        guard authorization.allows else {
            reach = .nowhere(reason: "the app is not allowed to show notifications")
            return
        }
        isCritical = content.interruptionLevel == .critical && settings.criticalAlerts
        let asked = standing.asked(under: policy)
        let mayAppear =
            asked & AuthorizationOption.alert != 0 && settings.alerts && settings.alertStyle != .none
            && (settings.lockScreen || !isLocked)
        // Notifications with provisional authorization stay quiet until the person decides.
        let isUrgent = isCritical || content.interruptionLevel == .timeSensitive && settings.timeSensitive
        let isQuiet =
            authorization == .provisional || content.interruptionLevel == .passive || isQuietTime && !isUrgent
        lists = settings.list
        if !content.showsText {
            reach = .nowhere(reason: "it shows no text")
        } else if mayAppear && !isQuiet || isCritical {
            reach = .screen
        } else if settings.list {
            reach = .list
        } else {
            reach = .nowhere(reason: "the person turned its notifications off")
        }
        let maySound = asked & AuthorizationOption.sound != 0 && settings.sounds
        sounds = content.sound != nil && !isQuiet && (maySound || isCritical)
        if settings.badges, asked & AuthorizationOption.badge != 0, authorization == .authorized {
            badge = content.badge
        }
        hidesText = settings.previews == .never || settings.previews == .whenUnlocked && isLocked
    }
}

extension PresentationPlan {
    /// How it appears, as the store keeps it.
    package var showing: PresentationOptions {
        switch reach {
        case .screen: ([.screen] as PresentationOptions).union(lists ? .list : []).union(sounds ? .sound : [])
        case .list: .list
        case .nowhere: .nothing
        }
    }
}

/// The conditions under which an app's notifications are presented, beside their content.
package struct PresentationConditions: Hashable, Sendable {
    /// The app's stored authorization and settings.
    package var standing: AppNotificationRecord
    /// The authorization that the app's manifest sets.
    package var policy: AppManifest.Authorization
    /// Whether the screen is locked.
    package var isLocked = false
    /// Whether the quiet hours are now.
    package var isQuietTime = false

    /// The conditions on a screen that is not locked, outside the quiet hours, unless told otherwise.
    package init(
        standing: AppNotificationRecord, policy: AppManifest.Authorization, isLocked: Bool = false,
        isQuietTime: Bool = false
    ) {
        self.standing = standing
        self.policy = policy
        self.isLocked = isLocked
        self.isQuietTime = isQuietTime
    }

    /// How a notification with this content appears under them.
    package func plan(_ content: NotificationContent) -> PresentationPlan {
        PresentationPlan(
            content, standing: standing, policy: policy, isLocked: isLocked, isQuietTime: isQuietTime)
    }
}

import AgentProtocol
import PushCore

/// The presentation of notifications now, and the effects of a change. `PresentationComposer` composes each one's look.
extension AgentEngine {
    private static let refreshLimit = 200

    // MARK: Plans

    /// The conditions that decide how an app's notifications appear now.
    package func conditions(of app: InstalledApp, _ context: Context) -> PresentationConditions {
        PresentationConditions(
            standing: app.record, policy: app.manifest.authorization, isLocked: surroundings.isScreenLocked,
            isQuietTime: surroundings.isQuietTime(at: context.now))
    }

    /// How content appears now; `nil` where its app is not installed.
    func plan(_ content: NotificationContent, app: BundleID, _ context: Context) -> PresentationPlan? {
        apps[app].map { conditions(of: $0, context).plan(content) }
    }

    /// How a notification appears and who gets it; `nil` where its app is not installed.
    func planned(_ received: ReceivedNotification, for app: BundleID, _ context: Context) -> PlannedNotification? {
        guard let installed = apps[app] else { return nil }
        return received.planned(
            under: conditions(of: installed, context), isInFront: installed.isInFront,
            takesEverything: installed.takesEverything)
    }

    /// The badge, and the sound of what shows no text.
    mutating func presentBadgeOrSoundOnly(_ plan: PlannedNotification, of app: BundleID) {
        if let badge = plan.badge { applyBadge(badge, app: app) }
        if let sound = plan.sound { play(sound, of: app) }
    }

    mutating func play(_ sound: NotificationSound?, of app: BundleID) {
        emit(.play(PresentationComposer.sound(sound, of: apps[app]?.manifest), volume: sound?.volume))
    }

    mutating func withdraw(_ ids: [NotificationID]) { for id in ids { emit(.withdraw(id)) } }

    // MARK: The screen

    /// The presentation of a notification, as the presenter receives it.
    package func presentation(of notification: WaitingNotification, _ context: Context) -> Presentation {
        PresentationComposer(
            registry: registry, conditions: { self.conditions(of: $0, context) },
            isAwaited: { $0.app == AppManifest.terminalID && terminals.isAwaited($0.identifier) }
        ).presentation(of: notification)
    }

    /// Has the presenter asked for what is wanted, as far as its window goes.
    package mutating func sendPresentations(_ context: Context) {
        do {
            while presentations.wantsPage {
                let page = try context.store.wanted(limit: PresentationFlow.window)
                for (notification, again) in presentations.take(page) {
                    emit(.present(presentation(of: notification, context), notification, again: again))
                }
            }
        } catch {
            fail(error)
        }
    }

    /// The presenter has answered. `again`: an earlier run may have shown the notification already.
    package mutating func presented(
        _ notification: WaitingNotification, outcome: PresentationOutcome, again: Bool, context: Context
    ) {
        if case .failed(let reason) = outcome {
            if notification.app == AppManifest.terminalID {
                failTerminal(notification.identifier, "it could not be shown: \(reason)")
            }
            log(
                .warning, "A notification could not be shown.",
                [LogKey.notification: "\(notification.id)", LogKey.error: "\(reason)"])
        }
        enqueue(.presented(notification.id, outcome, again: again, at: context.now))
    }

    /// The still of a movie is made: the notification is shown with it, in its place and without a sound.
    package mutating func stillMade(of id: NotificationID, _ context: Context) {
        do {
            guard let notification = try context.store.notification(id) else { return }
            var shown = presentation(of: notification, context)
            // There is no still picture where the text is hidden by now.
            guard shown.still != nil else { return }
            shown.sound = .silent
            emit(.update(shown))
        } catch {
            fail(error)
        }
    }

    /// The desktop has reported whether the screen is locked.
    mutating func screenChanged(isLocked: Bool, _ context: Context) {
        if surroundings.screenChanged(isLocked: isLocked) { refreshPreviews(context) }
        followFocus()
        if !isLocked { enqueue(.released) }
    }

    /// The screen was locked or unlocked. Updates the notifications on it, and those that may come to it, of apps whose
    /// text is shown on an unlocked screen only.
    mutating func refreshPreviews(_ context: Context) {
        let shown: [WaitingNotification]
        do {
            shown = try context.store.visible(limit: Self.refreshLimit)
        } catch {
            fail(error)
            // Text must not stay readable because of that: it is tried again.
            return emit(.wait(timing.storePause, then: .refreshPreviews))
        }
        for notification in shown where apps[notification.app]?.record.settings.previews == .whenUnlocked {
            var presentation = presentation(of: notification, context)
            presentation.sound = .silent
            emit(.update(presentation))
        }
    }
}

import AgentProtocol

/// Composes how a stored notification looks and sounds on the screen: a value, made from what is known at that moment.
package struct PresentationComposer {
    /// Buttons that are shown, as on Apple's systems.
    private static let buttonLimit = 4

    /// The installed apps, with their manifests and texts.
    package let registry: AppRegistry
    /// How an app's notifications appear now.
    package let conditions: (InstalledApp) -> PresentationConditions
    /// Whether a person at a terminal waits for the outcome of a notification.
    package let isAwaited: (WaitingNotification) -> Bool
    /// Whether there is a file at a path that can be read.
    package let hasFile: (String) -> Bool

    /// Composes for these apps, under these conditions.
    package init(
        registry: AppRegistry, conditions: @escaping (InstalledApp) -> PresentationConditions,
        isAwaited: @escaping (WaitingNotification) -> Bool, hasFile: @escaping (String) -> Bool
    ) {
        self.registry = registry
        self.conditions = conditions
        self.isAwaited = isAwaited
        self.hasFile = hasFile
    }

    /// The presentation of a notification, as the presenter receives it.
    package func presentation(of notification: WaitingNotification) -> Presentation {
        let installed = registry.apps[notification.app]
        let content = registry.localized(notification.effectiveContent, app: notification.app)
        let category = installed?.record.category(content.categoryIdentifier)
        let plan = installed.map { conditions($0).plan(content) }
        var presentation = Presentation(
            notification: notification.id, app: notification.app,
            appName: installed?.manifest.name ?? notification.app.rawValue, icon: installed?.manifest.icon,
            identifier: notification.identifier, title: content.title, subtitle: content.subtitle, body: content.body,
            category: content.categoryIdentifier,
            urgency: content.isIncomingCall
                ? .critical : Self.urgency(of: content.interruptionLevel, mayBeCritical: plan?.isCritical == true))
        if plan?.hidesText == true { Self.hide(&presentation, category) }
        if plan?.hidesText != true { addPicture(of: content, to: &presentation) }
        presentation.buttons = Self.buttons(content.actions.isEmpty ? category?.actions ?? [] : content.actions)
        if let open = content.openTitle { presentation.openLabel = installed?.strings?.text(open) ?? open.key }
        if plan?.sounds == true, notification.shows.contains(.sound) {
            presentation.volume = content.sound?.volume
            presentation.sound = Self.sound(content.sound, of: installed?.manifest, hasFile: hasFile)
        }
        presentation.progress = content.progress
        // A question that a terminal waits for stays until it is answered, and so do calls and Live Activities.
        presentation.stays =
            isAwaited(notification) || content.isIncomingCall || content.isLiveActivity
            || installed?.record.settings.alertStyle == .alert
        presentation.desktopEntry = installed?.manifest.desktopEntry
        return presentation
    }

    // MARK: Pictures

    /// The first attachment that can be seen: a picture, or a movie of which there is a still.
    private func addPicture(of content: NotificationContent, to presentation: inout Presentation) {
        guard let attachment = Self.visible(of: content) else { return }
        if Self.isPicture(attachment) { presentation.image = attachment.path }
        let still = Self.still(of: attachment)
        if hasFile(still) { presentation.still = still }
    }

    /// The first attachment that can be shown; `nil` where there is none.
    package static func visible(of content: NotificationContent) -> NotificationAttachment? {
        content.attachments.first {
            $0.hidesThumbnail != true && (isPicture($0) || StillImage.sourceType(of: $0.path) != nil)
        }
    }

    private static func isPicture(_ attachment: NotificationAttachment) -> Bool {
        ["public.image", "public.png", "public.jpeg", "com.compuserve.gif"].contains(attachment.type)
    }

    /// The path of a movie's still: beside the file, and deleted with it.
    package static func still(of attachment: NotificationAttachment) -> String {
        attachment.path + StillImage.pathSuffix
    }

    private static func urgency(
        of level: NotificationContent.InterruptionLevel, mayBeCritical: Bool
    ) -> Presentation.Urgency {
        switch level {
        case .passive: .low
        case .active, .timeSensitive: .normal
        case .critical: mayBeCritical ? .critical : .normal
        }
    }

    /// Puts a placeholder in place of the body. Title and subtitle are hidden too, unless the category shows them.
    private static func hide(_ presentation: inout Presentation, _ category: NotificationCategory?) {
        let options = category?.options ?? 0
        if options & NotificationCategory.hiddenPreviewsShowTitle == 0 { presentation.title = "" }
        if options & NotificationCategory.hiddenPreviewsShowSubtitle == 0 { presentation.subtitle = "" }
        presentation.body = category?.hiddenPreviewsBodyPlaceholder ?? "Notification"
    }

    private static func buttons(_ actions: [NotificationActionDescription]) -> [Presentation.Button] {
        actions.prefix(buttonLimit).map { action in
            Presentation.Button(
                identifier: action.identifier, label: action.title,
                reply: action.textInput.map {
                    Presentation.Reply(placeholder: $0.placeholder, submitLabel: $0.buttonTitle)
                })
        }
    }

    /// A sound file of the app's, by its name in the resources folder; the desktop's own sound where there is no file.
    package static func sound(
        _ sound: NotificationSound?, of manifest: AppManifest?, hasFile: (String) -> Bool
    ) -> Presentation.Sound {
        guard let sound else { return .silent }
        guard let name = sound.name, let folder = manifest?.resources, !name.contains("/"), name != ".." else {
            return .standard
        }
        let path = "\(folder)/\(name)"
        return hasFile(path) ? .file(path) : .standard
    }
}

import AgentProtocol
import PushCore

/// Handling of the apps' notification-center commands.
extension AgentEngine {
    /// Takes a command of an app, and answers it; what was ordered is confirmed when it is durable. The batch must be
    /// committed before what asks for requests or the list.
    package mutating func handleCenterCommand(
        _ command: CenterCommand, request: Int64, from app: BundleID, connection: AppConnectionID, context: Context
    ) {
        do {
            if let answer = try answer(command, app: app, context) {
                send([.centerAnswered(request: request, answer)], to: connection)
            } else {
                confirm(Confirmation(connection: connection, request: request))
            }
        } catch {
            fail(error)
        }
    }

    /// - Returns: The answer; `nil` for a command that is confirmed when it is durable.
    private mutating func answer(
        _ command: CenterCommand, app: BundleID, _ context: Context
    ) throws -> CenterAnswer? {
        switch command {
        // A conversation has it examined and stored (`AppConversations`).
        case .add: break
        case .removePending(let identifiers): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .removeDelivered(let identifiers): enqueue(.unlisted(app: app, identifiers: identifiers))
        case .setCategories(let categories): change(app) { $0.merge(categories) }
        case .setBadge(let badge): return setBadge(badge, app: app)
        case .categories: return .categories(apps[app]?.record.categories ?? [])
        case .pending: return .pending(AnswerLimits.fitting(try context.store.pending(app: app).map(\.request)))
        case .delivered:
            let listed = try context.store.listed(app: app, limit: AnswerLimits.listed)
            return .delivered(AnswerLimits.fitting(listed.map { registry.delivered($0) }))
        }
        return nil
    }

    // MARK: Requests

    /// Returns whether a request of an app may be added; answers one that may not. Where it waits for a place, the
    /// batch must be committed before.
    package mutating func examine(
        _ added: AddedRequest, of app: BundleID, connection: AppConnectionID, context: Context
    ) throws -> AppConversations.Event {
        guard registry.role(of: connection)?.role != .serviceExtension else {
            refuseUnstarted(connection, of: app)
            return .refused
        }
        let installed = apps[app]
        let refusal = try RequestRules.refusal(
            of: added.request,
            authorization: installed.map { $0.record.authorization(under: $0.manifest.authorization) },
            triggerFault: { try fault(of: $0, of: added.request.identifier, app: app, context) })
        guard let refusal else { return .approved }
        send([.centerAnswered(request: added.number, refusal)], to: connection)
        return .disapproved
    }

    /// Stores a request that was examined: it waits for its time or place, or fires at once.
    package mutating func addRequest(
        _ request: NotificationRequest, as mark: RequestMark?, app: BundleID, _ context: Context
    ) {
        guard request.trigger == nil else { return scheduleRequest(request, as: mark, app: app, context) }
        let received = ReceivedNotification(content: request.content, source: .app)
        guard let plan = planned(received, for: app, context) else { return }
        presentBadgeOrSoundOnly(plan, of: app)
        enqueue(.fired(app: app, request, as: mark, isAsked: plan.isAsked, shows: plan.showing, at: context.now))
    }

    /// Answers that the files of a request cannot be taken.
    package mutating func refuseFiles(
        of added: AddedRequest, code: Int, _ message: String, _ connection: AppConnectionID
    ) {
        let answer: AgentMessage =
            switch added.asker {
            case .app: .centerAnswered(request: added.number, .failed(code: code, message: message))
            case .terminal: .managed(request: added.number, .failed(message: message))
            }
        send([answer], to: connection)
    }

    // MARK: The badge

    private mutating func setBadge(_ badge: Int, app: BundleID) -> CenterAnswer? {
        guard badge >= -1, badge <= Int(Int32.max) else {
            return .failed(code: RequestRules.Code.badgeInvalid, message: "a badge is a number from 0; -1 hides it")
        }
        change(app) { $0.badge = max(0, badge) }
        // 0 takes the list with it, -1 hides the number alone.
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
        return nil
    }

    /// Sets the badge of an app's icon from a notification that appears; 0 also clears the app's list.
    mutating func applyBadge(_ badge: Int, app: BundleID) {
        change(app) { $0.badge = badge }
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    /// Shows an app's badge on its icon, as far as the person's settings allow.
    package mutating func showBadge(of app: BundleID) {
        guard let installed = apps[app] else { return }
        emit(.badge(installed.shownBadge, desktopEntry: installed.manifest.desktopEntry ?? app.rawValue))
    }

    // MARK: Settings

    /// Changes what is settled for an app, durably.
    mutating func change(_ app: BundleID, _ body: (inout AppNotificationRecord) -> Void) {
        guard var record = apps[app]?.record else { return }
        body(&record)
        guard let before = apps[app], record != before.record else { return }
        apps[app]?.record = record
        apps[app]?.refreshAuthorization()
        enqueue(.standing(app: app, record))
        guard let after = apps[app] else { return }
        if after.shownBadge != before.shownBadge { showBadge(of: app) }
        if after.record.settings.missedPolicy != before.record.settings.missedPolicy { emit(.rereadRequests(app)) }
        // Notifications of an app that is no longer allowed leave the screen and the list.
        if before.delivery.mayShow, !after.delivery.mayShow { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    /// The notification settings that an app receives.
    func notificationSettings(of app: BundleID) -> NotificationSettings {
        apps[app].map { $0.record.settings(under: $0.manifest.authorization) }
            ?? AppNotificationRecord().settings(under: .denied)
    }
}

import AgentWire
import AppConnections
import AppConversation
import DeviceModel
import DeviceStore
import Foundation
import InstalledApps
import Logging
import Observability
import PushModel

/// What apps ask of their notification centre.
extension Agent {
    func handleCenterCommand(_ command: CenterCommand, request: Int64, from app: BundleID, _ connection: AppConnection)
    {
        do {
            if let answer = try answer(command, app: app) {
                connection.send([.centerAnswered(request: request, answer)])
            } else {
                // What was ordered is confirmed when it is durable.
                confirm(Confirmation(connection: connection, request: request))
            }
        } catch {
            storeFailed(error)
        }
    }

    /// - Returns: The answer; `nil` for a command that is confirmed when it is durable.
    private func answer(_ command: CenterCommand, app: BundleID) throws -> CenterAnswer? {
        switch command {
        // A conversation has it examined and stored (``AppConversations``).
        case .add: break
        case .removePending(let identifiers): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .removeDelivered(let identifiers): enqueue(.unlisted(app: app, identifiers: identifiers))
        case .setCategories(let categories): change(app) { $0.merge(categories) }
        case .setBadge(let badge): return setBadge(badge, app: app)
        case .categories: return .categories(apps[app]?.record.categories ?? [])
        case .pending:
            flush()
            return .pending(AnswerLimits.fitting(try store.read { try $0.requests(app: app) }))
        case .delivered:
            flush()
            let listed = try store.read { try $0.listed(app: app, limit: AnswerLimits.listed) }
            return .delivered(AnswerLimits.fitting(listed.map { registry.delivered($0) }))
        }
        return nil
    }

    func addRequest(_ request: NotificationRequest, as mark: RequestMark?, app: BundleID) {
        if request.trigger == nil {
            fireAdded(request, as: mark, app: app)
        } else {
            schedule(request, as: mark, app: app)
        }
    }

    /// Shows an app's own notification, or asks the app first where it is in front.
    func fireAdded(_ request: NotificationRequest, as mark: RequestMark?, app: BundleID) {
        let received = ReceivedNotification(content: request.content, source: .app)
        guard let plan = planned(received, for: app) else { return }
        tellAlone(plan, of: app)
        enqueue(
            .fired(
                app: app, request, as: mark, isAsked: plan.isAsked, shows: plan.showing, at: parts.now()))
    }

    /// How far content appears when nobody is asked.
    func showing(of content: NotificationContent, app: BundleID) -> PresentationOptions {
        plan(content, app: app)?.showing ?? .nothing
    }

    func plan(_ content: NotificationContent, app: BundleID) -> PresentationPlan? {
        apps[app].map { conditions(of: $0).plan(content) }
    }

    func conditions(of app: InstalledApp) -> PresentationConditions {
        PresentationConditions(
            standing: app.record, policy: app.manifest.authorization, isLocked: surroundings.isScreenLocked,
            isQuietTime: isQuietTime)
    }

    var isQuietTime: Bool { surroundings.isQuietTime(at: parts.now()) }

    // MARK: The badge

    private func setBadge(_ badge: Int, app: BundleID) -> CenterAnswer? {
        guard badge >= -1, badge <= Int(Int32.max) else {
            return .failed(code: RequestRules.Code.badgeInvalid, message: "a badge is a number from 0; -1 hides it")
        }
        keepBadge(max(0, badge), app: app)
        // 0 takes the list with it, -1 hides the number alone.
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
        return nil
    }

    /// What a notification that appears does to the number on its app's icon.
    func applyBadge(_ badge: Int, app: BundleID) {
        keepBadge(badge, app: app)
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    private func keepBadge(_ badge: Int, app: BundleID) { change(app) { $0.badge = badge } }

    /// Shows an app's badge on its icon, as far as the person's settings allow.
    func showBadge(of app: BundleID) {
        guard let installed = apps[app] else { return }
        AgentStep.setBadge.take {
            parts.presenter.badge(installed.shownBadge, desktopEntry: installed.manifest.desktopEntry ?? app.rawValue)
        }
    }

    /// Changes what is settled for an app, durably.
    func change(_ app: BundleID, _ body: (inout AppNotificationRecord) -> Void) {
        guard var record = apps[app]?.record else { return }
        body(&record)
        guard let before = apps[app], record != before.record else { return }
        apps[app]?.record = record
        apps[app]?.refreshAuthorization()
        enqueue(.standing(app: app, record))
        guard let after = apps[app] else { return }
        if after.shownBadge != before.shownBadge { showBadge(of: app) }
        if after.record.settings.missedPolicy != before.record.settings.missedPolicy { rescheduleRequests(app) }
        // What an app is not allowed any more leaves the screen and the list.
        if before.delivery.mayShow, !after.delivery.mayShow { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    /// Confirms a command once it is durable; at once where nothing waits for a commit.
    func confirm(_ confirmation: Confirmation) {
        batch.wait(confirmation)
        if batch.isEmpty { sendConfirmations() }
    }

    /// Confirms the commands that are durable now.
    func sendConfirmations() {
        for confirmation in batch.takeWaiting() {
            AgentStep.answerRequest.take {
                confirmation.connection.send([.centerAnswered(request: confirmation.request, .done)])
            }
        }
    }
}

/// A connection that waits for one answer, such as that its command is durable.
struct Confirmation: Sendable {
    var connection: AppConnection
    var request: Int64
}

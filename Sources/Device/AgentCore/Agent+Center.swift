import AgentWire
import AppConnections
import DeviceModel
import DeviceStore
import Foundation
import InstalledApps
import Logging
import Observability
import PushModel

/// What apps ask of their notification centre.
extension Agent {
    /// How many notifications of an app's list one answer has at most, the newest last.
    static let listLimit = 256
    /// How many bytes of JSON one answer has at most.
    static let answerLimit = AgentFrame.maximumLength - (64 << 10)
    /// The greatest size of a request, in bytes of JSON: all 64 of an app fit into one answer.
    static let requestSize = 14 << 10

    func handleCenterCommand(_ command: CenterCommand, request: Int64, from app: String, _ connection: AppConnection) {
        do {
            if let answer = try answer(command, request: request, app: app) {
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
    private func answer(_ command: CenterCommand, request number: Int64, app: String) throws -> CenterAnswer? {
        switch command {
        case .add(let request):
            if isDone(number, of: app) { return nil }
            if let refusal = try refusal(of: request, app: app) { return refusal }
            addRequest(request, number, app: app)
        case .removePending(let identifiers): enqueue(.unscheduled(app: app, identifiers: identifiers))
        case .removeDelivered(let identifiers): enqueue(.unlisted(app: app, identifiers: identifiers))
        case .setCategories(let categories): change(app) { $0.merge(categories) }
        case .setBadge(let badge): return setBadge(badge, app: app)
        case .categories: return .categories(apps[app]?.standing.categories ?? [])
        case .pending:
            flush()
            return .pending(Self.fitting(try store.read { try $0.requests(app: app) }))
        case .delivered:
            flush()
            let listed = try store.read { try $0.listed(app: app, limit: Self.listLimit) }
            return .delivered(Self.fitting(listed.map { delivered($0) }))
        }
        return nil
    }

    /// The newest values that fit into one frame together, the newest last; a value that does not fit is left out.
    static func fitting<Value: Encodable>(_ values: [Value]) -> [Value] {
        var rest = answerLimit
        let kept = values.reversed().filter { value in
            guard let size = try? JSONEncoder().encode(value).count, size <= rest else { return false }
            rest -= size
            return true
        }
        return kept.reversed()
    }

    /// `UNError.Code`.
    enum CenterFault {
        static let notAllowed = 1
        static let noDate = 1400
        static let noContent = 1401
        static let badgeInvalid = 1600
    }

    /// Whether this request is done: the app asks it again, since it has not heard that.
    func isDone(_ number: Int64, of app: String) -> Bool { apps[app]?.asked?.done.contains(number) == true }

    /// Why a request is refused, its files aside; `nil` where nothing is wrong.
    func refusal(of request: NotificationRequest, app: String) throws -> CenterAnswer? {
        guard let installed = apps[app] else { return .failed(code: CenterFault.notAllowed, message: "not installed") }
        let authorization = installed.standing.authorization(under: installed.manifest.authorization)
        guard authorization.allows else {
            return .failed(
                code: CenterFault.notAllowed,
                message: authorization == .notDetermined
                    ? "the app has not been allowed to send notifications: ask with requestAuthorization first"
                    : "the person does not allow this app's notifications")
        }
        let content = request.content
        guard content.badge ?? 0 >= 0, content.badge ?? 0 <= Int(Int32.max) else {
            return .failed(code: CenterFault.badgeInvalid, message: "a badge is a number from 0")
        }
        guard content.showsText || content.sound != nil || content.badge != nil else {
            return .failed(code: CenterFault.noContent, message: "it has no title, body, sound nor badge")
        }
        guard let size = try? request.size(), size <= Self.requestSize else {
            return .failed(code: CenterFault.noContent, message: "it says more than \(Self.requestSize) bytes")
        }
        return try request.trigger.flatMap { try fault(of: $0, of: request.identifier, app: app) }.map {
            .failed(code: CenterFault.noDate, message: $0)
        }
    }

    func addRequest(_ request: NotificationRequest, _ number: Int64, app: String) {
        let mark = apps[app]?.asked?.begin(number)
        if request.trigger == nil {
            fire(request, as: mark, app: app)
        } else {
            schedule(request, as: mark, app: app)
        }
    }

    /// Shows an app's own notification, or asks the app first where it is in front.
    func fire(_ request: NotificationRequest, as mark: RequestMark?, app: String) {
        let received = ReceivedNotification(content: request.content, source: .app)
        guard let plan = planned(received, for: app) else { return }
        tellAlone(plan, of: app)
        enqueue(
            .fired(
                app: app, request, as: mark, isAsked: plan.isAsked, shows: plan.showing, at: parts.now()))
    }

    /// How far content appears when nobody is asked.
    func showing(of content: NotificationContent, app: String) -> PresentationOptions {
        plan(content, app: app)?.showing ?? .nothing
    }

    func plan(_ content: NotificationContent, app: String) -> PresentationPlan? {
        apps[app].map { conditions(of: $0).plan(content) }
    }

    func conditions(of app: InstalledApp) -> PresentationConditions {
        PresentationConditions(
            standing: app.standing, policy: app.manifest.authorization, isLocked: surroundings.isScreenLocked,
            isQuietTime: isQuietTime)
    }

    var isQuietTime: Bool { surroundings.isQuietTime(at: parts.now()) }

    // MARK: The badge

    private func setBadge(_ badge: Int, app: String) -> CenterAnswer? {
        guard badge >= -1, badge <= Int(Int32.max) else {
            return .failed(code: CenterFault.badgeInvalid, message: "a badge is a number from 0; -1 hides it")
        }
        keepBadge(max(0, badge), app: app)
        // 0 takes the list with it, -1 hides the number alone.
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
        return nil
    }

    /// What a notification that appears does to the number on its app's icon.
    func applyBadge(_ badge: Int, app: String) {
        keepBadge(badge, app: app)
        if badge == 0 { enqueue(.unlisted(app: app, identifiers: nil)) }
    }

    private func keepBadge(_ badge: Int, app: String) { change(app) { $0.badge = badge } }

    /// Shows an app's badge on its icon, as far as the person's settings allow.
    func showBadge(of app: String) {
        guard let installed = apps[app] else { return }
        AgentStep.setBadge.take {
            parts.presenter.badge(installed.shownBadge, desktopEntry: installed.manifest.desktopEntry ?? app)
        }
    }

    /// Changes what is settled for an app, durably.
    func change(_ app: String, _ body: (inout AppNotificationRecord) -> Void) {
        guard var standing = apps[app]?.standing else { return }
        body(&standing)
        guard let before = apps[app], standing != before.standing else { return }
        apps[app]?.standing = standing
        apps[app]?.refreshAuthorization()
        enqueue(.standing(app: app, standing))
        guard let after = apps[app] else { return }
        if after.shownBadge != before.shownBadge { showBadge(of: app) }
        if after.standing.settings.missedPolicy != before.standing.settings.missedPolicy { rescheduleRequests(app) }
        // What an app is not allowed any more leaves the screen and the list.
        if before.handOver.mayShow, !after.handOver.mayShow { enqueue(.unlisted(app: app, identifiers: nil)) }
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

    /// The form in which an app gets a notification: with the texts of its string tables.
    func delivered(_ notification: WaitingNotification) -> DeliveredNotification {
        var delivered = notification.delivered
        let content = notification.says
        if content.needsLocalization { delivered.content = localized(content, app: notification.app) }
        return delivered
    }

    func localized(_ content: NotificationContent, app: String) -> NotificationContent {
        guard content.needsLocalization else { return content }
        let tables = apps[app]?.strings
        return content.localized { tables?.text($0) }
    }
}

/// A connection that waits for one answer, such as that its command is durable.
struct Confirmation: Sendable {
    var connection: AppConnection
    var request: Int64
}

import AgentWire
import AppConnections
import DeviceModel
import DeviceStore
import Foundation
import InstalledApps
import PushModel

/// What a person asks at a terminal. Only connections of the `aldaba` program itself are answered.
extension Agent {
    /// The name that stands for all apps in settings.
    private static let allApps = "all"
    private static let off = "off"

    func installShell() throws {
        guard apps[AppManifest.terminalID] == nil else { return }
        let manifest = AppManifest(
            id: AppManifest.terminalID, name: "aldaba", team: "", executable: "", authorization: .granted)
        let standing = try store.read { try $0.standing(app: AppManifest.terminalID) }
        apps[AppManifest.terminalID] = InstalledApp(manifest: manifest, standing: standing)
    }

    /// - Returns: Whether the connection may go on.
    func manage(_ command: ManagementCommand, _ request: Int64, _ connection: AppConnection) -> Bool {
        guard mayManage(connection) else { return false }
        do {
            if let answer = try answer(command, request, connection) {
                connection.send([.managed(request: request, answer)])
            }
            return true
        } catch {
            refuse(connection, error)
            return false
        }
    }

    private func refuse(_ connection: AppConnection, _ error: any Error) {
        storeFailed(error)
        connection.refuse(code: "storeFailed", message: "the agent's store: \(error)")
    }

    private func mayManage(_ connection: AppConnection) -> Bool {
        if parts.peerCheck.isOwn(connection.peer) { return true }
        connection.refuse(code: "notAllowed", message: "only the aldaba program itself may manage the agent")
        return false
    }

    /// A notification of the terminal's with files.
    func notifyWithFiles(
        _ request: NotificationRequest, _ number: Int64, waits: Bool, _ connection: AppConnection
    ) -> Progress {
        guard mayManage(connection) else { return .refused }
        do {
            if let fault = try fault(of: request, waits: waits) {
                connection.send([.managed(request: number, .failed(message: fault))])
                return .taken
            }
        } catch {
            refuse(connection, error)
            return .refused
        }
        copy(request.content.attachments, of: AppManifest.terminalID, from: connection) { agent, result in
            var kept = request
            let answer: ManagementAnswer?
            switch result {
            case .success(let taken):
                kept.content.attachments = taken.attachments
                do {
                    answer = try agent.notify(
                        kept, Confirmation(connection: connection, request: number), waits: waits)
                } catch {
                    agent.storeFailed(error)
                    answer = .failed(message: "the agent's store: \(error)")
                }
            case .failure(let fault): answer = .failed(message: fault.message)
            }
            if case .failed? = answer { agent.attachments.drop(kept.content.attachments) }
            if let answer { connection.send([.managed(request: number, answer)]) }
        }
        return .copying
    }

    private func answer(
        _ command: ManagementCommand, _ request: Int64, _ connection: AppConnection
    ) throws -> ManagementAnswer? {
        flush()
        // A person may have installed an app just now.
        try loadApps()
        switch command {
        case .status: return .status(try status())
        case .list(let app):
            if let app, apps[app] == nil { return Self.unknown(app) }
            return .list(Self.fitting(try listed(app)))
        case .threads(let app):
            if let app, apps[app] == nil { return Self.unknown(app) }
            return .threads(try threads(app))
        case .show(let id):
            guard let found = try find(NotificationID(rawValue: id)) else {
                return Self.gone(NotificationID(rawValue: id))
            }
            return .list([listed(found)])
        case .pending(let app, let last):
            if let app, try !isKnown(app) { return Self.unknown(app) }
            return try waiting(app, after: last)
        case .cancel(let app, let identifiers): return try cancel(identifiers, of: app)
        case .act(let id, let action, let text): return try act(NotificationID(rawValue: id), action, text)
        case .dismiss(let id): return try dismiss(NotificationID(rawValue: id))
        case .settings(Self.allApps): return .settings(choices())
        case .set(Self.allApps, let values): return setForAll(values)
        case .settings(let app):
            guard let installed = apps[app] else { return Self.unknown(app) }
            return .settings(installed.standing.choices(under: installed.manifest.authorization))
        case .set(let app, let values): return set(app, values)
        case .openSettings(let app): return openSettings(of: app)
        case .notify(let notification, let waits):
            return try notify(notification, Confirmation(connection: connection, request: request), waits: waits)
        }
    }

    static func unknown(_ app: String) -> ManagementAnswer {
        .failed(message: "no app \(app) is installed; `aldaba agent status` lists them")
    }

    private func status() throws -> AgentStatus {
        AgentStatus(
            process: getpid(), device: try store.read { try $0.identity() }.map { "\($0.device)" },
            isConnected: onLink { $0.isOpen } ?? false, hasServer: link != nil,
            hasScreen: parts.presenter.hasScreen,
            apps: try apps.sorted { $0.key < $1.key }.map { id, app in
                AgentStatus.App(
                    id: id, name: app.manifest.name, isConnected: app.connection != nil,
                    authorization: app.standing.authorization(under: app.manifest.authorization).rawValue,
                    listed: try store.read { try $0.listedCount(app: id) }, badge: app.standing.badge)
            })
    }

    private func threads(_ app: String?) throws -> [NotificationThread] {
        // Where one frame cannot carry all, the least relevant are left out.
        let threads = ThreadSummary.threads(try listed(app, limit: .max)) { app, category in
            apps[app]?.standing.category(category)?.categorySummaryFormat
        }
        return Self.fitting(threads.reversed()).reversed()
    }

    private func listed(_ app: String?, limit: Int = listLimit) throws -> [ListedNotification] {
        let names = app.map { [$0] } ?? apps.keys.sorted()
        return try names.flatMap { name in
            try store.read { try $0.listed(app: name, limit: limit) }.map { listed($0) }
        }.sorted { $0.notification.date < $1.notification.date }
    }

    private func listed(_ notification: WaitingNotification) -> ListedNotification {
        let app = notification.app
        let content = localized(notification.says, app: app)
        return ListedNotification(
            appName: apps[app]?.manifest.name ?? app, notification: notification.delivered, content: content,
            actions: actions(of: content, app: app))
    }

    func actions(of content: NotificationContent, app: String) -> [NotificationActionDescription] {
        guard content.actions.isEmpty else { return content.actions }
        return apps[app]?.standing.category(content.categoryIdentifier)?.actions ?? []
    }

    private func find(_ id: NotificationID) throws -> WaitingNotification? {
        try store.read { try $0.isListed(id) ? $0.notification(id) : nil }
    }

    private static func gone(_ id: NotificationID) -> ManagementAnswer {
        .failed(message: "no notification \(id.rawValue) is in the list; `aldaba notifications list` shows them")
    }

    private func act(_ id: NotificationID, _ action: String, _ text: String?) throws -> ManagementAnswer {
        guard let notification = try find(id) else { return Self.gone(id) }
        let actions = actions(of: notification.says, app: notification.app)
        guard action == NotificationAction.open || actions.contains(where: { $0.identifier == action }) else {
            let names = actions.map(\.identifier).joined(separator: ", ")
            return .failed(message: "it has no action \(action); it has: \(names.isEmpty ? "none" : names)")
        }
        withdraw(id)
        chose(notification, action, text, activationToken: nil)
        return .done
    }

    private func dismiss(_ id: NotificationID) throws -> ManagementAnswer {
        guard try find(id) != nil else { return Self.gone(id) }
        withdraw(id)
        handlePresenterEvent(.dismissed(id))
        return .done
    }

    private func choices() -> [ManagementAnswer.Setting] {
        [
            .init(
                name: QuietHours.name, value: surroundings.quietHours?.text ?? Self.off,
                allowed: [Self.off, "HH:MM-HH:MM, such as 22:00-07:00"])
        ]
    }

    private func setForAll(_ values: [String: String]) -> ManagementAnswer {
        for (name, value) in values {
            guard name == QuietHours.name else {
                return .failed(message: "there is no setting \(name) for all apps; there is: \(QuietHours.name)")
            }
            let hours = QuietHours(text: value)
            guard hours != nil || value == Self.off else {
                return .failed(message: "\(name) must be \(Self.off), or two times such as 22:00-07:00")
            }
            surroundings.quietHours = hours
            enqueue(.preference(name: name, value: value))
        }
        return durable()
    }

    /// Commits the batch, and answers whether the change is on the disk.
    func durable() -> ManagementAnswer {
        let isKeptAfterFailure = batch.holdsWhatIsKept
        guard !flush() else { return .done }
        return .failed(
            message: isKeptAfterFailure
                ? "the agent's store does not take it now; it goes on trying, see its log"
                : "the agent's store does not take it, so it was not done; see the agent's log")
    }

    private func set(_ app: String, _ values: [String: String]) -> ManagementAnswer {
        guard var standing = apps[app]?.standing else { return Self.unknown(app) }
        let policy = apps[app]?.manifest.authorization ?? .ask
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let fault = standing.set(name, to: value, under: policy) { return .failed(message: fault) }
        }
        change(app) { $0 = standing }
        if values["allowed"] != nil { settleQuestion(of: app) }
        return durable()
    }

    func notify(
        _ request: NotificationRequest, _ waiting: Confirmation, waits: Bool
    ) throws -> ManagementAnswer? {
        if let fault = try fault(of: request, waits: waits) { return .failed(message: fault) }
        if request.trigger != nil { return notifyLater(request) }
        failWaiter(request.identifier, "a later notification took its place")
        if waits { terminals.wait(waiting, for: request.identifier) }
        fire(request, as: nil, app: AppManifest.terminalID)
        return waits ? nil : durable()
    }

    /// What is wrong with a notification of the terminal's.
    private func fault(of request: NotificationRequest, waits: Bool) throws -> String? {
        guard request.content.showsText else { return "a notification needs a title or a body" }
        guard let size = try? request.size(), size <= Self.requestSize else {
            return "it says more than \(Self.requestSize) bytes"
        }
        if let trigger = request.trigger {
            guard !waits else { return "only what appears at once can be waited for" }
            return try fault(of: trigger, of: request.identifier, app: AppManifest.terminalID)
                ?? faultOfCount(with: request)
        }
        guard waits else { return nil }
        guard !terminals.isFull else {
            return "\(TerminalWaiters<Confirmation>.limit) terminals wait for an answer already"
        }
        guard showing(of: request.content, app: AppManifest.terminalID).contains(.screen) else {
            return "it would not come to the screen, so nobody could answer: see the settings (aldaba settings "
                + "\(AppManifest.terminalID)), the quiet hours (aldaba settings all) and its level"
        }
        return nil
    }

    /// Why a terminal may not have a further request wait; `nil` where it may. All terminals are one app, and the request
    /// of one does not take the place of another's.
    private func faultOfCount(with request: NotificationRequest) throws -> String? {
        flush()
        let others = try store.read { try $0.requests(app: AppManifest.terminalID) }.filter {
            $0.identifier != request.identifier
        }
        return others.count < ChangeApplier.requestLimit
            ? nil
            : "\(others.count) notifications of terminals wait already, which is as many as may; see "
                + "`aldaba notifications pending --app \(AppManifest.terminalID)`, and take some back"
    }

    /// A notification of the terminal's own that waits.
    private func notifyLater(_ request: NotificationRequest) -> ManagementAnswer {
        schedule(request, as: nil, app: AppManifest.terminalID)
        let answer = durable()
        // The request waits, also where it cannot be read to describe it.
        guard answer == .done, let waiting = try? store.read({ try $0.pending(app: AppManifest.terminalID) }).last,
            waiting.request.identifier == request.identifier
        else { return answer }
        return .pending([describe(waiting, scheduleSurroundings)], next: nil)
    }

    /// Tells the terminal that waits for an answer that there will be none.
    func failWaiter(of notification: WaitingNotification, _ reason: String) {
        guard notification.app == AppManifest.terminalID else { return }
        failWaiter(notification.identifier, "it could not be shown: \(reason)")
    }

    func failWaiter(_ identifier: String, _ reason: String) {
        guard let waiter = terminals.end(identifier) else { return }
        // A question without a terminal that waits must not appear later.
        enqueue(.unlisted(app: AppManifest.terminalID, identifiers: [identifier]))
        waiter.connection.send([.managed(request: waiter.request, .failed(message: reason))])
    }

    /// Tells the terminal that waits what a person did.
    ///
    /// - Returns: Whether the notification was a terminal's.
    func tellTerminal(_ notification: WaitingNotification, _ action: String, _ text: String?) -> Bool {
        guard notification.app == AppManifest.terminalID else { return false }
        if let waiter = terminals.end(notification.identifier) {
            waiter.connection.send([.managed(request: waiter.request, .answered(action: action, text: text))])
        }
        return true
    }
}

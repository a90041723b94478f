import AgentEngine
import AgentProtocol
import Foundation
import PushCore

/// Answers the commands of a person at a terminal: a value, made for one command from the present state.
///
/// Guarantees: it changes nothing. A command that changes something is returned as an ``ManagementOrder``, with all its faults
/// checked. Pending changes must be committed before it is called.
package struct ManagementCommandHandler {
    /// The outcome of a command.
    package enum Outcome: Sendable {
        /// There is nothing to do but to answer.
        case answer(ManagementAnswer)
        /// The agent is to do this, and to answer whether it is done.
        case order(ManagementOrder)
    }

    /// The present state of the agent and its connections.
    package struct AgentSnapshot: Sendable {
        /// Whether the agent is logged in at its server.
        package var isConnected: Bool
        /// Whether it has a server.
        package var hasServer: Bool
        /// Why the agent is not logged in there; `nil` where it is, or has not tried yet.
        package var serverFault: String?
        /// The apps that the server's register does not have.
        package var unknownApps: Set<BundleID> = []
        /// Whether there is a screen.
        package var hasScreen: Bool
        /// Why nothing can be seen on it now; `nil` where nothing is known to be wrong.
        package var screenFault: String?
        /// The quiet hours; `nil` for none.
        package var quietHours: QuietHours?
        /// The name of the source of positions; `nil` where there is none.
        package var positionSource: String?
        /// How notifications ended that waited for an app's service extension.
        package var extensions: @Sendable (BundleID) -> [AgentStatus.ExtensionVersion]
        /// The environment of the apps' device tokens.
        package var environment: PushEnvironment

        /// The circumstances of one command.
        package init(
            isConnected: Bool, hasServer: Bool, hasScreen: Bool, screenFault: String? = nil, quietHours: QuietHours?,
            positionSource: String?,
            extensions: @escaping @Sendable (BundleID) -> [AgentStatus.ExtensionVersion] = { _ in [] },
            environment: PushEnvironment = .production
        ) {
            self.isConnected = isConnected
            self.hasServer = hasServer
            self.hasScreen = hasScreen
            self.screenFault = screenFault
            self.quietHours = quietHours
            self.positionSource = positionSource
            self.extensions = extensions
            self.environment = environment
        }
    }

    /// The name of all apps in settings.
    private static let allApps: BundleID = "all"
    private static let off = "off"

    let registry: AppRegistry
    let store: AgentStore
    let schedule: RequestSchedule
    let scheduleContext: RequestSchedule.ScheduleContext
    let circumstances: AgentSnapshot

    /// A handler of one command.
    package init(
        registry: AppRegistry, store: AgentStore, schedule: RequestSchedule,
        scheduleContext: RequestSchedule.ScheduleContext, circumstances: AgentSnapshot
    ) {
        self.registry = registry
        self.store = store
        self.schedule = schedule
        self.scheduleContext = scheduleContext
        self.circumstances = circumstances
    }

    /// Takes a command.
    ///
    /// - Returns: `nil` for ``ManagementCommand/notify(_:waits:)``, which adds a request (``fault(of:waits:_:)``).
    /// - Throws: when the store cannot be read.
    package func take(_ command: ManagementCommand) throws -> Outcome? {
        switch command {
        case .status: .answer(.status(try status()))
        case .list(let app): .answer(try ifInstalled(app) { .list(AnswerLimits.fitting(try listed(app))) })
        case .threads(let app): .answer(try ifInstalled(app) { .threads(try threads(app)) })
        case .show(let id):
            .answer(
                try resolve(NotificationID(rawValue: id)).map { .list([listed($0)]) }
                    ?? Self.gone(NotificationID(rawValue: id)))
        case .pending(let app, let last): .answer(try pending(app, after: last))
        case .cancel(let app, let identifiers): try cancel(identifiers, of: app)
        case .act(let id, let action, let text):
            try act(NotificationID(rawValue: id), action: action, text: text)
        case .dismiss(let id): try dismiss(NotificationID(rawValue: id))
        case .settings(Self.allApps): .answer(.settings(choices()))
        case .set(Self.allApps, let values): setForAll(values)
        case .settings(let app): .answer(settings(of: app))
        case .set(let app, let values): set(app, values)
        case .openSettings(let app): openSettings(of: app)
        case .enter(let app, let state): enter(app, state)
        case .notify: nil
        }
    }

    private func enter(_ app: BundleID, _ state: AppState) -> Outcome {
        guard let installed = registry.apps[app] else { return .answer(Self.unknown(app)) }
        guard installed.manifest.lifecycle != .focus else {
            return .answer(
                .failed(
                    message: "the state of \(app) follows the focus of its window, as the lifecycle `focus` of its "
                        + "manifest says; only an app with another lifecycle can be moved"))
        }
        guard installed.connection != nil else {
            return .answer(.failed(message: "\(app) does not run; start it, and ask again"))
        }
        return .order(.enter(app: app, state))
    }

    static func unknown(_ app: BundleID) -> ManagementAnswer {
        .failed(message: "no app \(app) is installed; `aldaba agent status` lists them")
    }

    private func ifInstalled(_ app: BundleID?, _ answer: () throws -> ManagementAnswer) rethrows -> ManagementAnswer {
        if let app, registry.apps[app] == nil { return Self.unknown(app) }
        return try answer()
    }

    private func status() throws -> AgentStatus {
        AgentStatus(
            process: getpid(), device: try store.read { try $0.identity() }.map { "\($0.device)" },
            isConnected: circumstances.isConnected, hasServer: circumstances.hasServer,
            serverFault: circumstances.isConnected ? nil : circumstances.serverFault,
            hasScreen: circumstances.hasScreen, screenFault: circumstances.screenFault,
            apps: try registry.apps.sorted { $0.key < $1.key }.map { id, app in
                AgentStatus.App(
                    id: id, name: app.manifest.name, isConnected: app.connection != nil,
                    authorization: app.record.authorization(under: app.manifest.authorization).rawValue,
                    listed: try store.read { try $0.listedCount(app: id) }, badge: app.record.badge,
                    extensions: app.manifest.serviceExtension == nil ? nil : circumstances.extensions(id),
                    token: try token(of: id), tokenFault: tokenFault(of: app.manifest))
            },
            position: AgentStatus.Position(
                source: circumstances.positionSource, fault: schedule.positionFault,
                isKnown: schedule.regions.hasPosition),
            unifiedPush: try pushApps())
    }

    /// `nil` without a server: nothing is served by UnifiedPush then.
    private func pushApps() throws -> [AgentStatus.PushApp]? {
        guard circumstances.hasServer else { return nil }
        let apps = try store.pushRegistrations().map { registration, waiting in
            AgentStatus.PushApp(
                service: registration.service, description: registration.description, endpoint: registration.endpoint,
                waiting: waiting)
        }
        // The other half of the answer is left for the apps that have manifests.
        return AnswerLimits.fitting(
            apps.sorted { ($0.service, $0.description) < ($1.service, $1.description) }, bytes: AnswerLimits.bytes / 2)
    }

    private func tokenFault(of app: AppManifest) -> String? {
        guard circumstances.unknownApps.contains(app.id) else { return nil }
        return "the server's register does not have it for the team \(app.team); there: "
            + "aldaba app create \(app.id) --team \(app.team)"
    }

    private func token(of app: BundleID) throws -> String? {
        let registration = try store.read { try $0.registration(app: app, environment: circumstances.environment) }
        if case .token(let token) = registration { return token }
        return nil
    }

    // MARK: The list

    private func threads(_ app: BundleID?) throws -> [NotificationThread] {
        // Where one frame cannot carry all, the least relevant are left out.
        let threads = ThreadSummary.threads(try listed(app, limit: .max)) { app, category in
            registry.apps[app]?.record.category(category)?.categorySummaryFormat
        }
        return AnswerLimits.fitting(threads.reversed()).reversed()
    }

    private func listed(_ app: BundleID?, limit: Int = AnswerLimits.listed) throws -> [ListedNotification] {
        let names = app.map { [$0] } ?? registry.apps.keys.sorted()
        return try names.flatMap { name in
            try store.read { try $0.listed(app: name, limit: limit) }.map { listed($0) }
        }.sorted { $0.notification.date < $1.notification.date }
    }

    private func listed(_ notification: WaitingNotification) -> ListedNotification {
        let app = notification.app
        let content = registry.localized(notification.effectiveContent, app: app)
        return ListedNotification(
            appName: registry.apps[app]?.manifest.name ?? app.rawValue, notification: notification.delivered,
            content: content, actions: registry.actions(of: content, app: app))
    }

    private func resolve(_ id: NotificationID) throws -> WaitingNotification? {
        try store.read { try $0.isListed(id) ? $0.notification(id) : nil }
    }

    private static func gone(_ id: NotificationID) -> ManagementAnswer {
        .failed(message: "no notification \(id.rawValue) is in the list; `aldaba notifications list` shows them")
    }

    private func act(_ id: NotificationID, action: String, text: String?) throws -> Outcome {
        guard let notification = try resolve(id) else { return .answer(Self.gone(id)) }
        let actions = registry.actions(of: notification.effectiveContent, app: notification.app)
        guard action == NotificationAction.open || actions.contains(where: { $0.identifier == action }) else {
            let names = actions.map(\.identifier).joined(separator: ", ")
            return .answer(
                .failed(message: "it has no action \(action); it has: \(names.isEmpty ? "none" : names)"))
        }
        return .order(.act(notification, action: action, text: text))
    }

    private func dismiss(_ id: NotificationID) throws -> Outcome {
        try resolve(id) == nil ? .answer(Self.gone(id)) : .order(.dismiss(id))
    }

    // MARK: Settings

    private func choices() -> [ManagementAnswer.Setting] {
        [
            .init(
                name: QuietHours.name, value: circumstances.quietHours?.text ?? Self.off,
                allowed: [Self.off, "HH:MM-HH:MM, such as 22:00-07:00"])
        ]
    }

    private func setForAll(_ values: [String: String]) -> Outcome {
        if let unknown = values.keys.sorted().first(where: { $0 != QuietHours.name }) {
            return .answer(
                .failed(message: "there is no setting \(unknown) for all apps; there is: \(QuietHours.name)"))
        }
        guard let text = values[QuietHours.name] else { return .answer(.done) }
        let hours = QuietHours(text: text)
        guard hours != nil || text == Self.off else {
            return .answer(
                .failed(message: "\(QuietHours.name) must be \(Self.off), or two times such as 22:00-07:00"))
        }
        return .order(.setQuietHours(hours, text: text))
    }

    private func settings(of app: BundleID) -> ManagementAnswer {
        guard let installed = registry.apps[app] else { return Self.unknown(app) }
        return .settings(installed.record.choices(under: installed.manifest.authorization))
    }

    private func set(_ app: BundleID, _ values: [String: String]) -> Outcome {
        guard let installed = registry.apps[app] else { return .answer(Self.unknown(app)) }
        var record = installed.record
        for (name, value) in values.sorted(by: { $0.key < $1.key }) {
            if let fault = record.set(name, to: value, under: installed.manifest.authorization) {
                return .answer(.failed(message: fault))
            }
        }
        return .order(.settle(record, app: app, isDecision: values["allowed"] != nil))
    }

    private func openSettings(of app: BundleID) -> Outcome {
        guard let installed = registry.apps[app] else { return .answer(Self.unknown(app)) }
        guard installed.record.options & AuthorizationOption.providesAppNotificationSettings != 0 else {
            return .answer(
                .failed(
                    message:
                        "\(app) has not said that it shows settings of its own; `aldaba settings \(app)` shows what "
                        + "you can change"))
        }
        return .order(.openSettings(app: app))
    }
}

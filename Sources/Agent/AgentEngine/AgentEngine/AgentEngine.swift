import AgentProtocol
import Logging
import PushCore
import Scheduling

/// The state of an agent outside its store, and all its decisions: a value. Events enter as calls; the actions that
/// follow come out as ``AgentEffect``s, in order.
///
/// It combines the other engines: apps (`AppRegistry`), the schedule, questions to the person, terminals that wait,
/// presentations, and the batch of changes. Guarantees: no I/O, and no clock; an error of the store becomes the effect
/// ``AgentEffect/storeFailed(_:)``.
package struct AgentEngine: Sendable {
    /// The settings that stay the same as long as an agent runs.
    package struct Settings: Sendable {
        /// How long it waits, and how much it keeps.
        package var timing: AgentTiming
        /// The environment of the apps' device tokens.
        package var environment: PushEnvironment
        /// Whether there is a server.
        package var hasServer: Bool
        /// Whether there is a session bus that starts apps.
        package var hasActivator: Bool
        /// The rules of a time zone; `nil` for one that is not known here.
        package var zones: @Sendable (ZoneChoice) -> ZoneRules?
        /// The texts of an app in the person's language; `nil` where it has none.
        package var strings: @Sendable (AppManifest) -> AppStrings?

        /// The settings of one agent. Each parameter is the property of its name.
        package init(
            timing: AgentTiming = AgentTiming(), environment: PushEnvironment, hasServer: Bool, hasActivator: Bool,
            zones: @escaping @Sendable (ZoneChoice) -> ZoneRules?,
            strings: @escaping @Sendable (AppManifest) -> AppStrings?
        ) {
            self.timing = timing
            self.environment = environment
            self.hasServer = hasServer
            self.hasActivator = hasActivator
            self.zones = zones
            self.strings = strings
        }
    }

    /// The time, the store, the session and the screen at the moment of an event.
    package struct Context {
        /// The time.
        package var now: Timestamp
        /// The reading of the machine's clocks.
        package var clock: ClockReading
        /// The store, as the last commit left it.
        package var store: any AgentEngineStore
        /// The number of the session with the server; `nil` without one.
        package var session: Int?
        /// Whether the server took the login of that session.
        package var isConnected: Bool
        /// Whether there is a screen.
        package var hasScreen: Bool
        /// Whether there is a file at a path that can be read.
        package var hasFile: @Sendable (String) -> Bool
        /// Whether a process of this id is running.
        package var isRunning: @Sendable (Int32) -> Bool
        /// Whether the agent's own parent is this process's too.
        package var isSibling: @Sendable (Int32) -> Bool

        /// The context of one event. Each parameter is the property of its name.
        package init(
            now: Timestamp, clock: ClockReading, store: any AgentEngineStore, session: Int? = nil,
            isConnected: Bool = false, hasScreen: Bool = true, hasFile: @escaping @Sendable (String) -> Bool,
            isRunning: @escaping @Sendable (Int32) -> Bool = { _ in false },
            isSibling: @escaping @Sendable (Int32) -> Bool = { _ in false }
        ) {
            self.now = now
            self.clock = clock
            self.store = store
            self.session = session
            self.isConnected = isConnected
            self.hasScreen = hasScreen
            self.hasFile = hasFile
            self.isRunning = isRunning
            self.isSibling = isSibling
        }
    }

    let settings: Settings
    /// The installed apps, and whose their connections are.
    package var registry = AppRegistry()
    /// The lock of the screen, and the quiet hours.
    package var screenAndQuietHours: ScreenAndQuietHours
    /// The changes that are committed next.
    package var batch = ChangeBatch<Confirmation>()
    /// Requests that wait for their time or place.
    package var schedule = RequestSchedule()
    /// The open questions whether apps may send notifications.
    package var questions = AuthorizationQuestions<Confirmation>()
    /// The terminals that wait for what a person does.
    package var terminals = TerminalWaiters<Confirmation>()
    /// The connections that wait for answers to requests of the direct channel.
    var channelWaiters = ChannelWaiters<Confirmation>()
    /// When data messages that have expired are ended next.
    var expiry = ExpiryWatch()
    /// The apps of UnifiedPush.
    package private(set) var unifiedPush = UnifiedPushEngine()
    /// The Live Activities of apps.
    package private(set) var liveActivities = LiveActivitiesEngine()
    /// The connections that are told of their apps' Live Activities.
    var activityObservers: Set<AppConnectionID> = []
    /// The requests about Live Activities that are answered with the next commit.
    var activityAskers: [Confirmation] = []
    var presentations: PresentationFlow
    var pruning = PruningTrigger()
    /// The apps to which calls have come that are not stored yet.
    var called: Set<BundleID> = []
    /// The events of the presenter that wait for the store to be readable again; whether the log says that some are lost.
    var waitingEvents = (count: 0, areLost: false)
    private var effects: [AgentEffect] = []

    /// An engine that knows no apps.
    ///
    /// - Parameters:
    ///   - inherited: The notifications whose presentation an earlier run requested without getting the outcome.
    ///   - quietHours: The hours in which only urgent notifications appear on the screen; `nil` for none.
    package init(settings: Settings, inherited: Set<NotificationID> = [], quietHours: QuietHours? = nil) {
        self.settings = settings
        screenAndQuietHours = ScreenAndQuietHours(quietHours: quietHours)
        presentations = PresentationFlow(inherited: inherited)
    }

    /// Installed apps by bundle id.
    package var apps: [BundleID: InstalledApp] {
        get { registry.apps }
        _modify { yield &registry.apps }
    }

    var timing: AgentTiming { settings.timing }

    // MARK: Effects

    /// Returns what is to be done, in order; it is asked for once.
    package mutating func takeEffects() -> [AgentEffect] {
        defer { effects = [] }
        return effects
    }

    mutating func emit(_ effect: AgentEffect) { effects.append(effect) }

    /// Adds a change to the batch, which is committed after the work that is on the event loop already.
    package mutating func enqueue(_ change: StoreChange) {
        if batch.add(change) { emit(.commit) }
    }

    /// Passes an event to ``UnifiedPushEngine``, and follows its directives.
    package mutating func updateUnifiedPush(_ event: UnifiedPushEngine.Event, _ context: Context) {
        var directives = unifiedPush.handle(event)
        var next = 0
        while next < directives.count {
            defer { next += 1 }
            switch directives[next] {
            case .change(let change): enqueue(.unifiedPush(change, at: context.now))
            case .read(let service):
                do {
                    let first = try context.store.nextPushMessage(service: service, at: context.now)
                    directives += unifiedPush.handle(.read(first, service: service))
                } catch { fail(error) }
            case let directive: emit(.unifiedPush(directive))
            }
        }
    }

    mutating func send(_ messages: [AgentMessage], to connection: AppConnectionID, _ step: AgentStep? = nil) {
        if !messages.isEmpty { emit(.send(messages, connection, step)) }
    }

    /// Sends messages to an app, where it is connected.
    mutating func sendMessages(to app: BundleID, _ messages: [AgentMessage], step: AgentStep? = nil) {
        if let connection = apps[app]?.connection { send(messages, to: connection, step) }
    }

    mutating func refuse(_ connection: AppConnectionID, code: String, _ message: String) {
        emit(.refuse(connection, code: code, message: message))
    }

    mutating func fail(_ error: any Error) { emit(.storeFailed(error)) }

    mutating func log(_ level: Logger.Level, _ message: String, metadata: Logger.Metadata = [:]) {
        emit(.log(level, message, metadata: metadata))
    }

    // MARK: Confirmations

    /// Confirms a command once it is durable; at once where nothing waits for a commit.
    package mutating func confirm(_ confirmation: Confirmation) {
        batch.wait(confirmation)
        if batch.isEmpty { sendConfirmations() }
    }

    /// Confirms the commands that are durable now.
    mutating func sendConfirmations() {
        for waiting in batch.takeWaiting() {
            send([.centerAnswered(request: waiting.request, .done)], to: waiting.connection, .answerRequest)
        }
    }
}

/// Live Activities; ``LiveActivitiesEngine`` decides.
extension AgentEngine {
    /// Passes an event to ``LiveActivitiesEngine``, and follows its directives.
    package mutating func updateActivities(
        _ event: LiveActivitiesEngine.Event, _ context: Context
    ) throws(LiveActivitiesEngine.Refusal) {
        for directive in try liveActivities.handle(event, now: context.now) {
            switch directive {
            case .store(let record): enqueue(.liveActivity(record))
            case .delete(let record): enqueue(.liveActivityDismissed(record))
            case .show(let record, let alert): show(record, alert: alert, context)
            case .hide(let record): enqueue(.unlisted(app: record.app, identifiers: [record.identifier]))
            case .follow(let channel, let joins, let app):
                guard settings.hasServer, let name = LiveActivityTarget.channel(channel).collapseID else { break }
                requestToken(app)
                enqueue(.topicChangeRequested(name, joins: joins, app: app, waiter: 0))
            case .launch(let app): startForRelay(app)
            case .wait(let moment):
                let pause = max(0, moment.rawValue - context.now.rawValue)
                emit(.wait(.milliseconds(pause), then: .liveActivities(moment)))
            }
        }
    }

    /// Passes an event that is never refused to ``LiveActivitiesEngine``.
    package mutating func settleActivities(_ event: LiveActivitiesEngine.Event, _ context: Context) {
        do { try updateActivities(event, context) } catch {
            log(.error, "A Live Activity could not be changed.", metadata: [LogKey.error: "\(error.sentence)"])
        }
    }

    private mutating func show(_ record: LiveActivityRecord, alert: LiveActivityAlert?, _ context: Context) {
        guard let installed = apps[record.app] else { return }
        let request = LiveActivityNotification(record).request(
            installed.manifest.liveActivities[record.activity.attributesType], appName: installed.manifest.name,
            alert: alert)
        // Live Activities need no authorization; a person who has denied notifications sees none either.
        var shows: PresentationOptions = [.screen, .list, .sound]
        switch installed.record.authorization(under: installed.manifest.authorization) {
        case .denied: return
        case .authorized:
            let received = ReceivedNotification(content: request.content, source: .app)
            shows = planned(received, for: record.app, context)?.showing ?? shows
        default: break
        }
        enqueue(.fired(app: record.app, request, as: nil, isAsked: false, shows: shows, at: context.now))
    }

    /// Shows activities of an app again.
    mutating func showActivities(
        of app: BundleID, _ context: Context, where isMeant: (LiveActivityRecord) -> Bool
    ) {
        for record in liveActivities.activities(of: app) where isMeant(record) { show(record, alert: nil, context) }
    }

    // MARK: Apps

    /// Handles a command of an app.
    ///
    /// - Throws: when the store cannot be read.
    mutating func handle(
        _ command: ActivityCommand, from app: BundleID, connection: AppConnectionID, context: Context
    ) throws {
        let asked: (request: Int64, event: LiveActivitiesEngine.Event)
        switch command {
        case .observe:
            activityObservers.insert(connection)
            let token = try deviceToken(of: app, context)
            if token == nil, settings.hasServer { requestToken(app) }
            let activities = liveActivities.activities(of: app).map { described($0, token) }
            let start = token.flatMap { LiveActivityTarget.start.token(ofApp: $0) }
            return send([.activity(.all(activities, startToken: start))], to: connection)
        case .start(let request, let activity, let pushes): asked = (request, .start(activity, pushes, app: app))
        case .update(let request, let id, let content, let alert):
            asked = (request, .update(id: id, content, alert, app: app))
        case .end(let request, let id, let content, let dismissal):
            asked = (request, .end(id: id, content, dismissal, app: app))
        }
        do throws(LiveActivitiesEngine.Refusal) {
            if case .start = asked.event, isDenied(app) {
                throw LiveActivitiesEngine.Refusal(
                    code: ActivityFault.denied, sentence: "the person does not allow notifications of \(app)")
            }
            try updateActivities(asked.event, context)
            activityAskers.append(Confirmation(connection: connection, request: asked.request))
            if batch.isEmpty { sendActivityAnswers() }
        } catch {
            send(
                [.activity(.refused(request: asked.request, code: error.code, message: error.sentence))],
                to: connection)
        }
    }

    private func isDenied(_ app: BundleID) -> Bool {
        apps[app].map { $0.record.authorization(under: $0.manifest.authorization) == .denied } ?? true
    }

    private func deviceToken(of app: BundleID, _ context: Context) throws -> String? {
        guard case .token(let token) = try context.store.registration(app: app, environment: settings.environment)
        else { return nil }
        return token
    }

    /// An activity as its app sees it, with its push token.
    private func described(_ record: LiveActivityRecord, _ token: String?) -> LiveActivity {
        var activity = record.activity
        if record.pushes == .token {
            activity.pushToken = token.flatMap { LiveActivityTarget.activity(activity.id).token(ofApp: $0) }
        }
        return activity
    }

    /// Answers the requests that are durable now.
    mutating func sendActivityAnswers() {
        let askers = activityAskers
        activityAskers = []
        for asker in askers { send([.activity(.accepted(request: asker.request))], to: asker.connection) }
    }

    private mutating func sendActivities(_ events: [ActivityEvent], to app: BundleID) {
        guard let connection = apps[app]?.connection, activityObservers.contains(connection) else { return }
        send(events.map { .activity($0) }, to: connection)
    }

    /// Tells an app of a change that is durable.
    mutating func sendActivity(_ record: LiveActivityRecord, _ context: Context) {
        do {
            sendActivities([.changed(described(record, try deviceToken(of: record.app, context)))], to: record.app)
        } catch { fail(error) }
    }

    /// Tells an app the tokens of its activities, which contain its device token.
    mutating func sendActivityTokens(_ token: String, to app: BundleID) {
        let start = LiveActivityTarget.start.token(ofApp: token).map { [ActivityEvent.startToken($0)] } ?? []
        let changed = liveActivities.activities(of: app).filter { $0.pushes == .token }
        sendActivities(start + changed.map { .changed(described($0, token)) }, to: app)
    }

    // MARK: Pushes

    /// Applies a push to the activities that it is for.
    ///
    /// - Throws: when the store cannot be read.
    mutating func activityDisposition(
        of notification: OutgoingNotification, _ context: Context
    ) throws -> PlannedNotification.Disposition {
        let id = String(UInt64(bitPattern: notification.id.rawValue), radix: 16)
        guard try !isDuplicate(notification.id, context) else { return .ends(.presented, note: nil) }
        let target = LiveActivityTarget(collapseID: notification.collapseID)
        do throws(LiveActivityPush.Fault) {
            let push = try LiveActivityPush(payload: notification.payload)
            if case .start = push.event, isDenied(BundleID(notification.topic)) {
                return .ends(.suppressed(.settings), note: nil)
            }
            do throws(LiveActivitiesEngine.Refusal) {
                try updateActivities(
                    .push(
                        push, target, app: BundleID(notification.topic),
                        id: String(repeating: "0", count: 32 - id.utf8.count) + id), context)
            } catch { return .ends(.failed(error.code), note: error.sentence) }
        } catch { return .ends(.failed("badPayload"), note: error.sentence) }
        return isDenied(BundleID(notification.topic))
            ? .ends(.suppressed(.settings), note: nil) : .ends(.presented, note: "a Live Activity shows it")
    }
}

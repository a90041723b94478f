import AgentEngine
import AgentProtocol
import Logging
import NIOCore
import NIOPosix
import Networking
import Platform
import PushCore
import RelayAgent
import Scheduling

/// An agent: the end of the delivery path on the device, for one user session.
///
/// It runs on an event loop of its own, which alone uses the store. The connections of the apps and the one to the
/// server are on the same loop, so that a message on its path wakes one thread. Their events take effect in the order
/// in which they came.
package actor Agent {
    /// The event loop of all agents of a process. Its thread lives as long as the process.
    static let ownLoops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    nonisolated let loop: any EventLoop
    /// The executor of the agent's event loop: what is isolated to the agent runs on that loop's thread.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    nonisolated let configuration: AgentConfiguration
    nonisolated let parts: AgentDependencies
    nonisolated let timing: AgentTiming
    nonisolated let logger: Logger
    nonisolated let events: @Sendable (AgentEvent) -> Void
    private var data: AgentData

    /// The link to the server; `nil` without one.
    nonisolated let link: ServerLink?

    /// Decides about every event.
    var engine: AgentEngine
    /// The open connections of apps, their companions and terminals.
    var connections: [AppConnectionID: AppConnection] = [:]
    /// The messages of all connections, and the order in which they are handled.
    var conversations = AppConversations()
    /// The task that waits until the desktop reports whether the screen is locked.
    var screenWaiter: CheckedContinuation<Void, Never>?
    /// The notifications queued for service extensions, and the extensions' processes.
    lazy var extensions = ServiceExtensions(parts.extensions, media: parts.media) { [weak self] event in
        self?.enter { $0.updateExtensions(event) }
    }
    /// Relaying between this person's devices.
    nonisolated let relay: DeviceRelay

    let storeFailure = RepeatedMessage("The agent's store failed; all connections are opened anew.")
    /// Why the store cannot be used any more.
    private var damage: String?

    var store: AgentStore { data.store }
    var attachments: AttachmentStore { data.attachments }

    var registry: AppRegistry {
        get { engine.registry }
        _modify { yield &engine.registry }
    }
    /// Installed apps by bundle id.
    var apps: [BundleID: InstalledApp] { engine.apps }
    var questions: AuthorizationQuestions<Confirmation> {
        get { engine.questions }
        _modify { yield &engine.questions }
    }

    /// Opens the data folder: makes it where it is missing, locks it, and opens the store in it. An agent that was
    /// created must be run: only that releases its resources.
    ///
    /// - Parameters:
    ///   - presenter: Shows notifications.
    ///   - activator: Brings to the front the apps that the session bus starts; `nil` without a session bus.
    ///   - distributor: Serves apps of UnifiedPush on the session bus; `nil` without one.
    ///   - focus: Reports the process whose window has the focus; `nil` without a screen.
    ///   - clock: Reads the system's clocks, and signals due times.
    ///   - positions: Reports the machine's position; `nil` for no source: then no request fires at a place.
    ///   - events: Receives the agent's events on its thread; must not block.
    /// - Throws: ``AgentStartError``, or why the authorities' file cannot be used. The presenter is stopped then.
    package init(
        configuration: AgentConfiguration, presenter: any Presenter, activator: (any AppActivator)? = nil,
        distributor: (any PushDistributor)? = nil, focus: (any WindowFocusSource)? = nil, clock: any AlarmClock,
        positions: (any PositionSource)? = nil,
        logger: Logger,
        events: @escaping @Sendable (AgentEvent) -> Void
    ) throws {
        do {
            try self.init(
                configuration: configuration, timing: AgentTiming(), logger: logger, events: events,
                parts: {
                    var parts = try AgentDependencies.production(
                        configuration, presenter: presenter, activator: activator, focus: focus, clock: clock,
                        positions: positions, logger: logger)
                    parts.distributor = distributor
                    return parts
                })
        } catch {
            presenter.stop()
            throw error
        }
    }

    /// - Parameter parts: Called when nothing after it can fail, since parts must be closed.
    init(
        configuration: AgentConfiguration, timing: AgentTiming, logger: Logger,
        events: @escaping @Sendable (AgentEvent) -> Void, parts: () throws -> AgentDependencies
    ) throws {
        self.configuration = configuration
        self.timing = timing
        self.logger = logger
        self.events = events
        loop = Self.ownLoops.next()
        data = try AgentData(configuration, now: AgentDependencies.systemTime(), logger: logger)
        let relaySettings = try RelaySettingsFile(dataFolder: configuration.dataFolder).loadOrCreate()
        let store = data.store
        let inherited = Set(try store.read { try $0.wantedIDs() })
        let identity = try store.read { try $0.identity() }
        let quietHours = try store.read { try $0.preference(QuietHours.name) }.flatMap(QuietHours.init)
        let parts = try parts()
        self.parts = parts
        engine = AgentEngine(
            settings: AgentEngine.Settings(
                timing: timing, environment: configuration.environment, hasServer: parts.hasServer,
                hasActivator: parts.activator != nil, zones: parts.zones,
                strings: { AppStrings.read($0, logger: logger) }),
            inherited: inherited, quietHours: quietHours)
        relay = DeviceRelay(
            settings: relaySettings, dataFolder: configuration.dataFolder, loop: loop, parts: parts.relay,
            logger: logger)
        link = parts.link(store: store).map { [loop] link in
            ServerLink(
                loop: loop,
                settings: ServerLinkSettings(environment: configuration.environment, backOff: configuration.backOff),
                identity: identity, parts: link, logger: logger)
        }
    }

    /// Runs until its task is cancelled. Then it closes everything, and stores the pending changes.
    ///
    /// - Throws: ``AgentStartError`` when apps cannot be given a socket; an error that says where the store was put aside when
    ///   it was found damaged.
    package func run() async throws {
        do {
            try await work()
        } catch {
            await end()
            throw error
        }
        await end()
        if let damage { throw try store.putAside(damagedBy: damage, at: parts.now()) }
    }

    private func work() async throws {
        onLink { [self] link in link.setDelegate(self) }
        onRelay { [self] relay in relay.setDelegate(self) }
        try loadApps()
        try startLiveActivities()
        // A running app gets time to reconnect before it is started again.
        decide { engine, _ in
            for app in engine.apps.keys { engine.startReconnectTimer(of: app) }
        }
        parts.presenter.start(
            shown: try shownBefore(), events: { [weak self] event in self?.enter { $0.handlePresenterEvent(event) } })
        await loadScreenState()
        let socket = try await AppSocket.listen(
            path: configuration.socketPath, group: loop, delegate: AppSocketHandler(agent: self),
            program: parts.peerCheck.executable)
        events(.listening(socketPath: configuration.socketPath))
        resumeWhatWaits()
        try startUnifiedPush()
        if link == nil { logger.notice("There is no server: only the apps' own notifications are shown.") }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.link?.run() }
            group.addTask { await self.runRelay() }
            group.addTask { await self.runPruningLoop() }
            for await reason in store.damage {
                damage = reason
                break
            }
            if damage != nil { group.cancelAll() }
        }
        await socket.close()
        for id in apps.values.flatMap(\.allConnections) { connections[id]?.close() }
    }

    private func end() async {
        // No agent would take the answer to a question that stays on the screen.
        decide { engine, _ in engine.withdrawQuestions() }
        extensions.end()
        onRelay { $0.writeLog() }
        parts.presenter.stop()
        parts.distributor?.stop()
        parts.focus?.stop()
        parts.clock.stop()
        parts.positions?.stop()
        await parts.close()
        flush()
        data.unlock()
    }

    /// Runs a closure on the agent's loop, after everything that entered before it. Called from any thread.
    nonisolated func enter(_ body: @escaping @Sendable (isolated Agent) -> Void) {
        loop.execute { self.assumeIsolated { body($0) } }
    }

    /// Runs a closure on the agent's loop after a while.
    nonisolated func enter(after delay: Duration, _ body: @escaping @Sendable (isolated Agent) -> Void) {
        loop.scheduleTask(in: TimeAmount(delay)) { [weak self] in self?.assumeIsolated { body($0) } }
    }

    /// The notifications that an earlier run left on the screen.
    private func shownBefore() throws -> [ShownPresentation] {
        let shown = try store.read { try $0.shown(limit: 200) }
        return try decide { engine, context in
            try engine.inheritedQuestions(context)
                + shown.compactMap { notification in
                    notification.handle.map {
                        ShownPresentation(
                            presentation: engine.presentation(of: notification, context), handle: $0)
                    }
                }
        }
    }

    /// Takes up what the last run left: badges, intents, requests, and responses that waited for the screen to be
    /// unlocked.
    private func resumeWhatWaits() {
        decide { engine, context in
            for (id, app) in engine.apps where app.shownBadge > 0 { engine.showBadge(of: id) }
            engine.sendPresentations(context)
        }
        parts.clock.start { [weak self] event in self?.enter { $0.handleClockEvent(event) } }
        loadSchedule()
        loadExtending()
        decide { $0.resumeExpiry($1) }
        // Without a source that reports a lock there is no unlocking to wait for.
        if !engine.screenAndQuietHours.isScreenLocked { enqueue(.released) }
    }

    private func runPruningLoop() async {
        while !Task.isCancelled {
            let mayHaveMore = prune(nil)
            if !mayHaveMore { data.sweep(now: parts.now(), logger) }
            try? await parts.sleep(mayHaveMore ? .milliseconds(100) : .seconds(3600))
        }
    }

    /// Prunes in steps; other work runs between them.
    func pruneInSteps(of apps: Set<BundleID>) {
        if prune(apps) { enter { $0.pruneInSteps(of: apps) } }
    }

    /// - Returns: Whether there may be more to delete.
    private func prune(_ apps: Set<BundleID>?) -> Bool {
        let (ended, mayHaveMore) = data.prune(timing.limits, of: apps, now: parts.now(), logger)
        for id in ended { withdraw(id) }
        if !ended.isEmpty { onLink { $0.receiptsCommitted() } }
        return mayHaveMore
    }
}

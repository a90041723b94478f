import AgentEngine
import AgentProtocol
import Platform
import PushCore

/// The service extensions of one agent: the queue, its processes and their connections.
///
/// What concerns processes is done here; what concerns the store and the person is left to the agent, as ``Directive``.
package struct ServiceExtensions: Sendable {
    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable {
        /// Send a notification of the store to a process; see ``send(_:to:)``.
        case extend(NotificationID, process: Int)
        /// A notification waits no longer: check the report, store it as it appears, and send `settled`.
        case finish(NotificationID, app: BundleID, ExtensionReport, after: Duration)
    }

    /// A message of an extension's connection that the agent has to handle.
    package enum Request: Sendable {
        /// An event for the queue.
        case event(ExtensionQueue.Event)
        /// A command for the app's notification center.
        case center(NotificationCenterCommand, request: Int64, app: BundleID)
        /// A request for the app's notification settings.
        case settings(request: Int64, app: BundleID)
        /// The connection was refused.
        case refused
        /// A message without an answer.
        case nothing
    }

    private let launcher: any ExtensionLauncher
    /// Receives the events of processes, on any thread.
    private let events: @Sendable (ExtensionQueue.Event) -> Void
    private var queue = ExtensionQueue()
    private var processes = ExtensionProcesses<AppConnection>()
    /// How notifications ended since the agent began.
    package private(set) var counts = ExtensionCounts()
    /// The extensions of the apps whose notifications arrived last, as their manifests named them.
    private var known: [BundleID: ServiceExtensionManifest?] = [:]
    /// Whether the store is to be read for what waits.
    package var isToBeLoaded = false
    private let media: ExtensionMedia
    /// The current or last notification of a process, and whether its app allows `http`.
    private var current: [Int: (id: NotificationID?, allowsHTTP: Bool)] = [:]
    private var armed: Duration?
    private var isOver = false

    /// Creates an empty queue without processes. Files that an earlier run of the agent left are deleted.
    ///
    /// - Parameter media: Fetches files for extensions; `nil` without fetching.
    package init(
        _ launcher: any ExtensionLauncher, media: MediaFetcher?,
        events: @escaping @Sendable (ExtensionQueue.Event) -> Void
    ) {
        self.launcher = launcher
        self.media = ExtensionMedia(media)
        self.events = events
        launcher.clear()
    }

    /// Passes an event to the queue, and does what concerns processes.
    ///
    /// - Parameters:
    ///   - now: Of a clock that does not go back.
    ///   - socketPath: Where processes connect.
    ///   - manifest: The manifest of an app; `nil` where it is not installed.
    package mutating func handle(
        _ event: ExtensionQueue.Event, now: Duration, socketPath: String, manifest: (BundleID) -> AppManifest?
    ) -> [Directive] {
        guard !isOver else { return [] }
        var left: [Directive] = []
        var events = [event]
        if case .arrived(_, let app) = event {
            let named = manifest(app)?.serviceExtension
            if let last = known.updateValue(named, forKey: app), last != named {
                events.insert(.changed(app: app), at: 0)
            }
        }
        var next = 0
        while next < events.count {
            if case .settled(let id) = events[next] { media.end(id) }
            for directive in queue.handle(events[next], now: now) {
                switch directive {
                case .start(let number, let app):
                    do {
                        try start(number, of: app, manifest: manifest(app), socketPath: socketPath)
                    } catch {
                        events.append(.notStarted(number, reason: "\(error)"))
                    }
                case .extend(let number, let id):
                    media.begin(id)
                    current[number]?.id = id
                    left.append(.extend(id, process: number))
                case .expire(let number, let id): send(.expire(notification: id.rawValue), to: number)
                case .kill(let number): processes.kill(number)
                case .clear(let number):
                    current[number] = nil
                    processes.clear(number)
                case .finish(let id, let app, let result, let duration):
                    let report = ExtensionReport(result: result, mediaFailures: media.failures(of: id))
                    left.append(.finish(id, app: app, report, after: duration))
                }
            }
            next += 1
        }
        return left
    }

    /// Returns whether a timer for reading the store must be set; it counts as set from now on.
    package mutating func schedulesLoad() -> Bool {
        defer { isToBeLoaded = true }
        return !isToBeLoaded
    }

    /// The queue's next deadline, for which a timer must be set; `nil` where that timer is set already, or nothing has
    /// a deadline.
    package mutating func deadlineToArm() -> Duration? {
        guard armed != queue.nextDeadline else { return nil }
        armed = queue.nextDeadline
        return armed
    }

    /// A timer has come.
    ///
    /// - Returns: Whether it is the one that was armed last.
    package mutating func takeTimer(_ deadline: Duration) -> Bool {
        guard armed == deadline else { return false }
        armed = nil
        return true
    }

    /// Sends a notification to a process.
    package func send(_ notification: DeliveredNotification, to process: Int) {
        AgentStep.extend.take { send(.extend(notification), to: process) }
    }

    /// Counts how a notification ended, under the version of the extension that it waited for.
    package mutating func count(_ outcome: ExtensionOutcome, of app: BundleID) {
        counts.count(outcome, of: app, version: known[app]??.version ?? "")
    }

    /// The version of the extension that an app's notifications wait for; `nil` where its manifest has no version.
    package func version(of app: BundleID) -> String? { known[app]??.version }

    /// Kills all processes at the agent's end, and ignores further events. The next agent sends their notifications to
    /// new processes.
    package mutating func end() {
        isOver = true
        processes.killAll()
    }

    private func send(_ message: AgentMessage, to process: Int) {
        processes.connection(of: process)?.send([message])
    }

    private mutating func start(
        _ number: Int, of app: BundleID, manifest: AppManifest?, socketPath: String
    ) throws {
        guard let manifest else { throw MachineError(what: app.rawValue, reason: "the app is not installed") }
        let running = try AgentStep.startExtension.take {
            try launcher.start(
                of: manifest, variables: ["ALDABA_AGENT_SOCKET": socketPath],
                events: { [events] event in
                    switch event {
                    case .grewTooLarge(let bytes): events(.grewTooLarge(number, bytes: bytes))
                    case .ended(let end): events(.ended(number, how: end.description))
                    }
                })
        }
        processes.started(number, of: app, running)
        current[number] = (nil, manifest.allowsHTTP)
    }
}

// MARK: - Connections

extension ServiceExtensions {
    /// Accepts the connection of an extension that the agent started; its process id, which the kernel reports, proves
    /// it.
    ///
    /// - Returns: The event for the queue; `nil` for a process that the agent did not start.
    package mutating func open(
        _ connection: AppConnection, of app: BundleID, user: UInt32
    ) -> ExtensionQueue.Event? {
        guard connection.peer.user == user else { return nil }
        return processes.connect(connection, process: connection.peer.process, of: app).map { .connected($0) }
    }

    /// The role of a connection; `nil` for one that is no extension's which the agent started.
    package func role(of connection: AppConnection) -> AppRole? {
        processes.process(of: connection).map { AppRole(app: $0.app, role: .serviceExtension) }
    }

    /// Handles a message of a connection.
    ///
    /// - Returns: `nil` when the connection is not an extension's.
    package func take(_ message: AppMessage, from connection: AppConnection) -> Request? {
        guard let (number, app) = processes.process(of: connection) else { return nil }
        switch message {
        case .extended(let id, let content):
            let answer = content.map(ExtensionAnswer.changed) ?? .unchanged
            return .event(.answered(number, NotificationID(rawValue: id), answer))
        case .extensionFailed(let id, let reason):
            let answer = ExtensionAnswer.unsendable(reason: String(reason.prefix(200)))
            return .event(.answered(number, NotificationID(rawValue: id), answer))
        case .center(let request, let command): return .center(command, request: request, app: app)
        case .getSettings(let request): return .settings(request: request, app: app)
        case .fetch(let request, let wanted):
            let known = current[number]
            media.fetch(
                wanted, request, for: known?.id, of: app, allowsHTTP: known?.allowsHTTP ?? false, to: connection)
            return .nothing
        case .hello, .unknown: return .nothing
        default:
            connection.refuse(
                code: "notThisRole",
                message: "the service extension of \(app) answers for notifications, and asks its notification centre")
            return .refused
        }
    }

    /// A connection has ended.
    ///
    /// - Returns: The event for the queue; `nil` when it was no extension's.
    package mutating func close(_ connection: AppConnection) -> ExtensionQueue.Event? {
        processes.disconnect(connection).map { .disconnected($0) }
    }
}

import AgentEngine
import Glibc
import Logging
import Networking
import Platform
import PushCore

/// Performs the directives of the notifications' state over the bus, and passes the bus's messages to it; used on its thread only.
final class BusWorker {
    /// How many may wait for the outcome of one presentation.
    static let completionLimit = 64
    /// How long an app may take to be started and to answer, and the bus at the start: libdbus' own limit for calls.
    static let longTimeout = Duration.seconds(25)
    /// The pause before reconnecting to a bus that has gone.
    static let reconnectPause = Duration.seconds(1)

    static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    static let bus = "org.freedesktop.DBus"

    enum Call {
        case notify(ticket: UInt64)
        case capabilities(ticket: UInt64)
        case information(capabilities: [String], ticket: UInt64)
        case owner
        /// The names for which the bus can start a program.
        case activatable
        case close
        /// Whether a screen saver is active.
        case active(ScreenSaver)
        case activate((AppActivationOutcome) -> Void)
    }

    private let address: String
    private let loginPlace: LoginPlace?
    private let queue: CommandQueue
    /// Records whether a notification server can be reached.
    let fault: ScreenFault
    let logger: Logger
    private var connection: BusConnection?
    private var nextAttempt: ContinuousClock.Instant
    /// How long to leave a bus alone that could not be reached.
    private var backOff = BackOff(base: reconnectPause)
    var notificationState = DesktopNotificationState()
    var calls = BusCalls<Call>()
    private var login: LoginWatch?
    var lock = LockState()
    /// The callbacks for the outcome of a presentation: one that is requested again meanwhile is shown once.
    private var completions: [NotificationID: [@Sendable (PresentationOutcome) -> Void]] = [:]
    var events: (@Sendable (PresenterEvent) -> Void)?
    private let player = SoundPlayer()
    private var isStopped = false
    /// Whether the state of the screen's lock was reported.
    private var isLockTold = false

    init(address: String, login: LoginPlace?, queue: CommandQueue, fault: ScreenFault, logger: Logger) {
        self.address = address
        loginPlace = login
        self.queue = queue
        self.fault = fault
        self.logger = logger
        nextAttempt = .now
    }

    // MARK: The thread

    /// Opens the connection where it is missing, at most once in a while.
    ///
    /// - Parameter timeout: How long to wait for the bus's first reply. Without it, later calls have limits of their
    ///   own.
    /// - Returns: Whether there is a connection now.
    func connect(timeout: Duration? = nil) -> Bool {
        if connection != nil { return true }
        guard ContinuousClock.now >= nextAttempt else { return false }
        do {
            let opened = try BusConnection(address: address, timeout: timeout)
            opened.subscribe("type='signal',sender='\(Self.name)',interface='\(Self.name)'")
            opened.subscribe(
                "type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.name)'")
            for rule in ScreenSaver.allCases.flatMap(\.rules) { opened.subscribe(rule) }
            connection = opened
            backOff.reset()
            if events != nil { queryInitialState() }
            return true
        } catch {
            if backOff.attempts == 0 {
                logger.warning("The session bus cannot be reached.", metadata: [LogKey.error: "\(error)"])
            }
            nextAttempt = backOff.deadline()
            return false
        }
    }

    /// Runs until it is stopped. Open calls then stay unanswered: it is unknown whether they are shown, and a later run
    /// asks again.
    func run() {
        login = loginPlace.map { place in
            LoginWatch(place: place, logger: logger) { [unowned self] in lockChanged($0, from: .login) }
        }
        while !isStopped {
            sleep()
            for command in queue.take() { carryOut(command) }
            if connection == nil, events != nil { _ = connect() }
            readBus()
            login?.work()
            for call in calls.takeLate() { failed(call, Self.lateness(of: call)) }
            tellLockOnce()
        }
        (connection, login) = (nil, nil)
    }

    /// Waits for the buses, the queue or the next deadline.
    private func sleep() {
        func interest(_ hasMessagesToSend: Bool?) -> Int16 {
            hasMessagesToSend == true ? Int16(POLLIN) | Int16(POLLOUT) : Int16(POLLIN)
        }
        var descriptors = [
            pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection?.descriptor ?? -1, events: interest(connection?.hasMessagesToSend), revents: 0),
            pollfd(fd: login?.descriptor ?? -1, events: interest(login?.hasMessagesToSend), revents: 0),
        ]
        let attempt = connection == nil && events != nil ? nextAttempt : nil
        let deadlines = [calls.deadline, login?.deadline, attempt].compactMap { $0 }
        Pause.poll(&descriptors, until: deadlines.min())
    }

    private func carryOut(_ command: CommandQueue.Command) {
        switch command {
        case .start(let shown, let events):
            self.events = events
            notificationState = DesktopNotificationState(inherited: shown)
            if lock.isLocked { tellLock() }
            if connection != nil { queryInitialState() }
        case .present(let presentation, let complete):
            let waiting = completions[presentation.notification]?.count ?? 0
            guard waiting < Self.completionLimit else {
                return complete(.failed(reason: "it was asked for \(waiting) times without an answer"))
            }
            completions[presentation.notification, default: []].append(complete)
            if waiting == 0 { perform(notificationState.handle(.present(presentation))) }
        case .update(let presentation): perform(notificationState.handle(.update(presentation)))
        case .withdraw(let id): perform(notificationState.handle(.withdraw(id)))
        case .badge(let count, let desktopEntry): signal(LauncherBadge(count, desktopEntry: desktopEntry))
        case .play(let sound, let volume): player.play(sound, volume: volume)
        case .activate(let activation, let complete): activate(activation, complete)
        case .stop: isStopped = true
        }
    }

    /// Reports the lock of the screen for the first time, as soon as all services that were asked have answered.
    private func tellLockOnce() {
        guard !isLockTold, login?.isAsking != true,
            !calls.contains(where: { if case .active = $0 { true } else { false } })
        else { return }
        tellLock()
    }

    func tellLock() {
        guard let events else { return }
        isLockTold = true
        events(.locked(lock.isLocked))
    }

    private func readBus() {
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        if !connection.isConnected { lose("the session bus is gone") }
    }

    private func lose(_ reason: String) {
        connection = nil
        nextAttempt = .now + Self.reconnectPause
        fault.set(reason)
        for call in calls.takeAll() { if case .activate = call { failed(call, reason) } }
        changeLock { $0.lostSavers() }
        perform(notificationState.handle(.disconnected(reason: reason)))
    }

    // MARK: Directives of the state

    func perform(_ directives: [DesktopNotificationState.Directive]) {
        for directive in directives {
            switch directive {
            case .notify(let message, let ticket): call(.notify(ticket: ticket), "Notify", message.arguments)
            case .close(let serverID): call(.close, "CloseNotification", [.uint32(serverID)])
            case .askFeatures(let ticket): call(.capabilities(ticket: ticket), "GetCapabilities", [])
            case .answer(let id, let outcome):
                for complete in completions.removeValue(forKey: id) ?? [] { complete(outcome) }
            case .tell(let event): events?(event)
            case .play(let sound, let volume): player.play(sound, volume: volume)
            }
        }
    }

    /// Asks for the states that signals report only when they change.
    private func queryInitialState() {
        call(.owner, "GetNameOwner", [.string(Self.name)], destination: Self.bus, path: "/org/freedesktop/DBus")
        for saver in ScreenSaver.allCases { ask(saver) }
    }

    func call(
        _ call: Call, _ method: String, _ arguments: [BusValue], destination: String = name, path: String = path
    ) {
        guard connect(), let connection else { return failed(call, "the session bus cannot be reached") }
        guard let message = BusMessage(destination: destination, path: path, interface: destination, method: method),
            message.append(arguments), let serial = connection.send(message)
        else { return failed(call, "the call could not be written") }
        calls.add(call, serial: serial)
    }

    /// Asks whether the bus could start a notification server, since none owns the name.
    func askWhatIsActivatable() {
        call(.activatable, "ListActivatableNames", [], destination: Self.bus, path: "/org/freedesktop/DBus")
    }

    /// A screen saver that does not run is not started for a question.
    func ask(_ saver: ScreenSaver) {
        guard let connection,
            let message = BusMessage(
                destination: saver.name, path: saver.path, interface: saver.name, method: "GetActive")
        else { return }
        message.disableAutoStart()
        if let serial = connection.send(message) { calls.add(.active(saver), serial: serial) }
    }

    /// The bus starts the app where it does not run.
    private func activate(_ activation: AppActivation, _ complete: @escaping (AppActivationOutcome) -> Void) {
        guard connect(), let connection else {
            return complete(.notStarted(reason: "the session bus cannot be reached"))
        }
        let platformData = activation.token.map { token -> [String: BusValue] in
            let token = BusValue.string(BusValue.plain(token))
            return ["activation-token": token, "desktop-startup-id": token]
        }
        guard BusName.isValid(activation.busName),
            let message = BusMessage(
                destination: activation.busName, path: activation.path, interface: "org.freedesktop.Application",
                method: "Activate"),
            message.append([.dictionary(platformData ?? [:])]), let serial = connection.send(message)
        else { return complete(.notStarted(reason: "the call could not be written")) }
        calls.add(.activate(complete), serial: serial, timeout: Self.longTimeout)
    }

    /// Sends a signal for a badge. Signals have no reply; without a bus the badge is dropped.
    private func signal(_ badge: LauncherBadge) {
        guard connect(), let connection,
            let message = BusMessage(path: badge.path, interface: LauncherBadge.interface, signal: "Update"),
            message.append(badge.arguments)
        else { return }
        _ = connection.send(message)
    }
}

extension NotifyMessage {
    /// The arguments in the order of the specification: `susssasa{sv}i`.
    fileprivate var arguments: [BusValue] {
        let hints = hints.mapValues { hint -> BusValue in
            switch hint {
            case .string(let text): .string(text)
            case .byte(let number): .byte(number)
            case .boolean(let truth): .boolean(truth)
            case .int32(let number): .int32(number)
            }
        }
        return [
            .string(appName), .uint32(replaces), .string(icon), .string(summary), .string(body), .strings(actions),
            .dictionary(hints), .int32(expiresAfter),
        ]
    }
}

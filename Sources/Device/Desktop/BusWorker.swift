import AgentCore
import Glibc
import Logging
import Observability
import PushModel

/// The thread's own: carries out what the board says over the bus, and tells the board what the bus says.
final class BusWorker {
    /// How long a call may stay unanswered.
    static let patience = Duration.seconds(5)
    /// How many may wait for the outcome of one presentation.
    static let completionLimit = 64
    /// How long to leave a bus alone that could not be reached.
    static let reconnectPause = Duration.seconds(1)

    private static let name = "org.freedesktop.Notifications"
    private static let path = "/org/freedesktop/Notifications"
    private static let bus = "org.freedesktop.DBus"
    /// Who says whether the screen is locked, each under its own name.
    private static let screenSavers = ["freedesktop", "gnome", "mate", "cinnamon", "xfce"].map {
        "org.\($0).ScreenSaver"
    }

    private enum Call {
        case notify(ticket: UInt64)
        case capabilities(ticket: UInt64)
        case information(capabilities: [String], ticket: UInt64)
        case owner
        case close
    }

    private let address: String
    private let queue: CommandQueue
    private let logger: Logger
    private var connection: BusConnection?
    private var nextAttempt: ContinuousClock.Instant
    private var board = Board()
    private var calls: [UInt32: (call: Call, deadline: ContinuousClock.Instant)] = [:]
    /// Who waits for the outcome of a presentation: one that is asked for again meanwhile is shown once.
    private var completions: [NotificationID: [@Sendable (PresentationOutcome) -> Void]] = [:]
    private var events: (@Sendable (PresenterEvent) -> Void)?
    private var isStopped = false

    init(address: String, queue: CommandQueue, logger: Logger) {
        self.address = address
        self.queue = queue
        self.logger = logger
        nextAttempt = .now
    }

    // MARK: The thread

    /// Opens the connection where it is missing, once in a while.
    ///
    /// - Returns: Whether there is one now.
    func connect() -> Bool {
        if connection != nil { return true }
        guard ContinuousClock.now >= nextAttempt else { return false }
        do {
            let opened = try BusConnection(address: address)
            opened.subscribe("type='signal',sender='\(Self.name)',interface='\(Self.name)'")
            opened.subscribe(
                "type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.name)'")
            for saver in Self.screenSavers {
                opened.subscribe("type='signal',sender='\(saver)',interface='\(saver)',member='ActiveChanged'")
            }
            connection = opened
            if events != nil { askOwner() }
            return true
        } catch {
            nextAttempt = .now + Self.reconnectPause
            logger.warning("The session bus cannot be reached.", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }

    /// Works until it is told to stop. What is not answered then stays so: nobody knows whether it is shown, and
    /// a later run asks again.
    func run() {
        while !isStopped {
            sleep()
            for command in queue.take() { carryOut(command) }
            readBus()
            expireCalls()
        }
        connection = nil
    }

    /// Waits for the bus, the queue or the next deadline.
    private func sleep() {
        var interest = Int16(POLLIN)
        if connection?.hasMessagesToSend == true { interest |= Int16(POLLOUT) }
        var descriptors = [
            pollfd(fd: queue.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection?.descriptor ?? -1, events: interest, revents: 0),
        ]
        poll(&descriptors, nfds_t(descriptors.count), milliseconds(until: calls.values.map(\.deadline).min()))
    }

    private func milliseconds(until deadline: ContinuousClock.Instant?) -> Int32 {
        guard let deadline else { return -1 }
        let rest = max(.zero, deadline - .now).components
        // Deadlines lie at most `patience` ahead, so the sum is small; rounded up, not to wake too early.
        return Int32(clamping: rest.seconds * 1000 + rest.attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func carryOut(_ command: CommandQueue.Command) {
        switch command {
        case .start(let shown, let events):
            self.events = events
            board = Board(inherited: shown)
            if connection != nil { askOwner() }
        case .present(let presentation, let complete):
            let waiting = completions[presentation.notification]?.count ?? 0
            guard waiting < Self.completionLimit else {
                return complete(.failed(reason: "it was asked for \(waiting) times without an answer"))
            }
            completions[presentation.notification, default: []].append(complete)
            if waiting == 0 { perform(board.handle(.present(presentation))) }
        case .withdraw(let id): perform(board.handle(.withdraw(id)))
        case .badge(let count, let desktopEntry): signal(LauncherBadge(count, desktopEntry: desktopEntry))
        case .stop: isStopped = true
        }
    }

    private func readBus() {
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { took(message) }
        if !connection.isConnected { lose("the session bus is gone") }
    }

    private func lose(_ reason: String) {
        connection = nil
        calls = [:]
        nextAttempt = .now + Self.reconnectPause
        // Nobody would say any more that the screen was unlocked.
        events?(.locked(false))
        perform(board.handle(.disconnected(reason: reason)))
    }

    private func expireCalls() {
        let now = ContinuousClock.now
        for (serial, waiting) in calls where waiting.deadline <= now {
            calls[serial] = nil
            failed(waiting.call, "the notification server did not answer within \(Self.patience.components.seconds) s")
        }
    }

    // MARK: What the board says

    private func perform(_ directives: [Board.Directive]) {
        for directive in directives {
            switch directive {
            case .notify(let message, let ticket): call(.notify(ticket: ticket), "Notify", message.arguments)
            case .close(let serverID): call(.close, "CloseNotification", [.uint32(serverID)])
            case .askFeatures(let ticket): call(.capabilities(ticket: ticket), "GetCapabilities", [])
            case .answer(let id, let outcome):
                for complete in completions.removeValue(forKey: id) ?? [] { complete(outcome) }
            case .tell(let event): events?(event)
            }
        }
    }

    private func askOwner() {
        call(.owner, "GetNameOwner", [.string(Self.name)], destination: Self.bus, path: "/org/freedesktop/DBus")
    }

    private func call(
        _ call: Call, _ method: String, _ arguments: [BusValue], destination: String = name, path: String = path
    ) {
        guard connect(), let connection else { return failed(call, "the session bus cannot be reached") }
        guard let message = BusMessage(destination: destination, path: path, interface: destination, method: method),
            message.append(arguments), let serial = connection.send(message)
        else { return failed(call, "the call could not be written") }
        calls[serial] = (call, .now + Self.patience)
    }

    /// Nobody answers a signal; without a bus there is nobody to hear it.
    private func signal(_ badge: LauncherBadge) {
        guard connect(), let connection,
            let message = BusMessage(path: badge.path, interface: LauncherBadge.interface, signal: "Update"),
            message.append(badge.arguments)
        else { return }
        _ = connection.send(message)
    }

    // MARK: What the bus says

    private func took(_ message: borrowing BusMessage) {
        let arguments = message.arguments
        if message.isReply || message.isError {
            guard let waiting = calls.removeValue(forKey: message.answers) else { return }
            if message.isError { return failed(waiting.call, Self.words(message.errorName)) }
            return answered(waiting.call, arguments)
        }
        switch (arguments.first, arguments.dropFirst().first, arguments.dropFirst(2).first) {
        case (.uint32(let id), .string(let key), _) where message.isSignal(Self.name, "ActionInvoked"):
            perform(board.handle(.actionInvoked(serverID: id, key: key)))
        case (.uint32(let id), .string(let text), _) where message.isSignal(Self.name, "NotificationReplied"):
            perform(board.handle(.replied(serverID: id, text: text)))
        case (.uint32(let id), .string(let token), _) where message.isSignal(Self.name, "ActivationToken"):
            perform(board.handle(.activationToken(serverID: id, token: token)))
        case (.uint32(let id), .uint32(let reason), _) where message.isSignal(Self.name, "NotificationClosed"):
            perform(board.handle(.closed(serverID: id, reason: reason)))
        case (.boolean(let isActive), _, _)
        where Self.screenSavers.contains { message.isSignal($0, "ActiveChanged") }:
            events?(.locked(isActive))
        case (.string(Self.name), _, .string(let owner)) where message.isSignal(Self.bus, "NameOwnerChanged"):
            perform(board.handle(.ownerChanged(owner.isEmpty ? nil : owner)))
        default: break
        }
    }

    private func answered(_ call: Call, _ arguments: [BusValue]) {
        switch (call, arguments.first) {
        case (.notify(let ticket), .uint32(let serverID)):
            perform(board.handle(.notified(ticket: ticket, serverID: serverID)))
        case (.capabilities(let ticket), .strings(let capabilities)):
            self.call(.information(capabilities: capabilities, ticket: ticket), "GetServerInformation", [])
        case (.information(let capabilities, let ticket), .string(let server)):
            var features = ServerFeatures(name: server, capabilities: Set(capabilities))
            if case .string(let version)? = arguments.dropFirst(2).first { features.name += " \(version)" }
            logger.info("The notification server is \(features.name).")
            perform(board.handle(.features(features, ticket: ticket)))
        case (.owner, .string(let owner)): perform(board.handle(.ownerChanged(owner)))
        case (.close, _): break
        default: failed(call, "the notification server's answer has another form than the specification's")
        }
    }

    private func failed(_ call: Call, _ reason: String) {
        switch call {
        case .notify(let ticket): perform(board.handle(.notifyFailed(ticket: ticket, reason: reason)))
        case .capabilities(let ticket), .information(_, let ticket):
            perform(board.handle(.featuresFailed(ticket: ticket, reason: reason)))
        case .owner, .close: break
        }
    }

    private static func words(_ error: String) -> String {
        switch error {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            "no notification server runs in this session"
        default: "the notification server answered \(error)"
        }
    }
}

extension NotifyMessage {
    /// In the order of the specification: `susssasa{sv}i`.
    fileprivate var arguments: [BusValue] {
        let hints = hints.mapValues { hint -> BusValue in
            switch hint {
            case .string(let text): .string(text)
            case .byte(let number): .byte(number)
            case .boolean(let truth): .boolean(truth)
            }
        }
        return [
            .string(appName), .uint32(replaces), .string(icon), .string(summary), .string(body), .strings(actions),
            .dictionary(hints), .int32(expiresAfter),
        ]
    }
}

import Foundation
import Glibc
import Logging
import Networking
import PushCore

/// The system bus and session id with which the login manager is asked about the user session.
package struct LoginPlace: Hashable, Sendable {
    /// The address of the system bus.
    package var busAddress: String
    /// The session's own id; `nil` for a program outside of sessions.
    package var sessionID: String?

    /// `DBUS_SYSTEM_BUS_ADDRESS`, else the well-known socket of the D-Bus specification; and `XDG_SESSION_ID`.
    package init(environment: [String: String]) {
        busAddress = SystemBus.address(environment: environment)
        sessionID = environment["XDG_SESSION_ID"].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// Performs the directives of `LoginSession` over the system bus; used on its thread only.
///
/// A system bus that goes unlocks nothing: the last report stays until the bus is back. Reconnecting is tried after
/// pauses. On a machine without a system bus nothing is done.
final class LoginWatch {
    private static let name = "org.freedesktop.login1"
    private static let path = "/org/freedesktop/login1"
    private static let manager = "org.freedesktop.login1.Manager"
    private static let bus = "org.freedesktop.DBus"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let place: LoginPlace
    private let logger: Logger
    private let tell: (Bool) -> Void
    private var connection: BusConnection?
    private var session: LoginSession
    private var calls = BusCalls<LoginSession.Question>()
    /// When to look for the bus again.
    private var nextAttempt: ContinuousClock.Instant?
    /// When the session's pause is over.
    private var endOfRest: ContinuousClock.Instant?

    /// Begins to ask; without a system bus there are no reports.
    ///
    /// - Parameter tell: Called on the caller's thread with the session's hint, also when it is unchanged.
    init(place: LoginPlace, logger: Logger, tell: @escaping (Bool) -> Void) {
        self.place = place
        self.logger = logger
        self.tell = tell
        session = LoginSession(id: place.sessionID)
        do throws(BusError) {
            try connect()
        } catch {
            logger.debug(
                "The login manager is not asked about locks.", metadata: [LogKey.error: "\(error.description)"])
        }
    }

    private func connect() throws(BusError) {
        let opened = try BusConnection(address: place.busAddress)
        opened.subscribe("type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(Self.name)'")
        opened.subscribe("type='signal',sender='\(Self.name)',interface='\(Self.manager)'")
        opened.subscribe(
            "type='signal',sender='\(Self.name)',path_namespace='\(Self.path)/session',"
                + "interface='\(Self.properties)',member='PropertiesChanged'")
        connection = opened
        perform(session.handle(.started))
    }

    /// The descriptor to poll; -1 without a connection.
    var descriptor: Int32 { connection?.descriptor ?? -1 }
    var hasMessagesToSend: Bool { connection?.hasMessagesToSend ?? false }
    var deadline: ContinuousClock.Instant? { [calls.deadline, nextAttempt, endOfRest].compactMap { $0 }.min() }
    /// Whether an answer is awaited.
    var isAsking: Bool { calls.deadline != nil }

    /// Reads and writes what is possible without waiting.
    func work() {
        let now = ContinuousClock.now
        if let nextAttempt, nextAttempt <= now { connectAgain() }
        if let endOfRest, endOfRest <= now {
            self.endOfRest = nil
            perform(session.handle(.rested))
        }
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        for question in calls.takeLate() { perform(session.handle(.answered(question, .silence))) }
        if !connection.isConnected { lose() }
    }

    private func connectAgain() {
        nextAttempt = nil
        do throws(BusError) {
            try connect()
            logger.info("The system bus is back.")
        } catch {
            nextAttempt = .now + BusWorker.reconnectPause
        }
    }

    private func lose() {
        logger.warning("The system bus is gone; nobody says meanwhile that the screen was unlocked.")
        (connection, endOfRest) = (nil, nil)
        calls = BusCalls()
        session = LoginSession(id: place.sessionID)
        nextAttempt = .now + BusWorker.reconnectPause
    }

    private func perform(_ directives: [LoginSession.Directive]) {
        for directive in directives {
            switch directive {
            case .ask(let question): ask(question)
            case .rest(let pause): endOfRest = .now + pause
            case .tell(let isLocked): tell(isLocked)
            }
        }
    }

    private func ask(_ question: LoginSession.Question) {
        guard let call = Self.call(question), call.append(Self.arguments(of: question)) else {
            return perform(session.handle(.answered(question, .nothing)))
        }
        call.disableAutoStart()
        guard let serial = connection?.send(call) else {
            return perform(session.handle(.answered(question, .silence)))
        }
        calls.add(question, serial: serial)
    }

    private static func call(_ question: LoginSession.Question) -> BusMessage? {
        func call(_ path: String, interface: String, method: String) -> BusMessage? {
            BusMessage(destination: name, path: path, interface: interface, method: method)
        }
        return switch question {
        case .session: call(path, interface: manager, method: "GetSession")
        case .sessionOfProcess: call(path, interface: manager, method: "GetSessionByPID")
        case .user: call(path, interface: manager, method: "GetUser")
        case .display(let user): call(user, interface: properties, method: "Get")
        case .lockedHint(let session): call(session, interface: properties, method: "Get")
        }
    }

    private static func arguments(of question: LoginSession.Question) -> [BusValue] {
        switch question {
        case .session(let id): [.string(BusValue.plain(id))]
        case .sessionOfProcess: [.uint32(UInt32(getpid()))]
        case .user: [.uint32(getuid())]
        case .display: [.string("\(name).User"), .string("Display")]
        case .lockedHint: [.string("\(name).Session"), .string("LockedHint")]
        }
    }

    private func handleMessage(_ message: borrowing BusMessage) {
        if message.isReply || message.isError {
            guard let question = calls.take(message.answers) else { return }
            let answer = message.isError ? Self.refusal(message.errorName) : Self.answer(message.arguments.first)
            return perform(session.handle(.answered(question, answer)))
        }
        if message.isSignal(Self.properties, "PropertiesChanged") {
            perform(session.handle(.changed(session: message.path)))
        } else if message.isSignal(Self.manager, "SessionNew") || message.isSignal(Self.manager, "SessionRemoved") {
            perform(session.handle(.sessionsChanged))
        } else if message.isSignal(Self.bus, "NameOwnerChanged"),
            case .string(let owner)? = message.arguments.dropFirst(2).first, !owner.isEmpty
        {
            perform(session.handle(.sessionsChanged))
        }
    }

    /// Without a login manager nothing is known; when it comes, it is asked again.
    private static func refusal(_ error: String) -> LoginSession.Answer {
        switch error {
        case "\(bus).Error.ServiceUnknown", "\(bus).Error.NameHasNoOwner": .unknown
        case "\(bus).Error.NoReply": .silence
        default: .nothing
        }
    }

    private static func answer(_ value: BusValue?) -> LoginSession.Answer {
        switch value {
        case .path(let path)?: .path(path)
        case .boolean(let isLocked)?: .locked(isLocked)
        // `Display`: an id, empty where there is no session, and a path.
        case .structure(let members)?:
            if case (.string(let id)?, .path(let path)?) = (members.first, members.last) {
                id.isEmpty ? .nothing : .path(path)
            } else {
                .unknown
            }
        default: .unknown
        }
    }
}

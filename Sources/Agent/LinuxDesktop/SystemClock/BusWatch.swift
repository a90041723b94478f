import AgentEngine
import Glibc
import Platform

/// Receives over the system bus that the machine has slept (login1) or that its zone was set (timedate1); used on its
/// thread only.
///
/// Signals are not trusted: the receiver reads the clock and the zone again. A signal counts when the service itself
/// sent it; the bus vouches for the sender. A bus that goes is reconnected after growing pauses. On a machine without a
/// system bus nothing is done.
final class BusWatch {
    private static let bus = "org.freedesktop.DBus"
    private static let properties = "org.freedesktop.DBus.Properties"

    /// A service whose signals are watched.
    private enum Service: String, CaseIterable {
        case login = "org.freedesktop.login1"
        case time = "org.freedesktop.timedate1"

        /// The match rule for the service's signals.
        var rule: String {
            switch self {
            case .login:
                "type='signal',sender='\(rawValue)',interface='\(rawValue).Manager',member='PrepareForSleep'"
            case .time:
                "type='signal',sender='\(rawValue)',path='/org/freedesktop/timedate1',interface='\(properties)',"
                    + "member='PropertiesChanged'"
            }
        }
    }

    private let address: String
    private let tell: @Sendable (AlarmClockEvent) -> Void
    private var connection: BusConnection?
    private var questions = BusCalls<Service>()
    /// The unique names of the services that run.
    private var owners: [Service: String] = [:]
    /// Whether signals may have been missed since the last bus went.
    private var isBehind = false
    private var backOff = BackOff()
    /// How long a question may stay unanswered.
    private var timeout = BusCalls<Service>.timeout
    private static let longestTimeout = Duration.seconds(600)
    private var nextAttempt: ContinuousClock.Instant?

    init(address: String, tell: @escaping @Sendable (AlarmClockEvent) -> Void) {
        self.address = address
        self.tell = tell
    }

    /// Works until the end is signalled; not at all where there is no bus. Connecting may take as long as the bus
    /// likes.
    func run(until end: WakeUp, waiting: ClockWait) {
        var waiting = waiting
        connection = open()
        while connection != nil || nextAttempt != nil {
            let events = connection?.hasMessagesToSend == true ? POLLIN | POLLOUT : POLLIN
            waiting.wait(
                for: [(end.descriptor, POLLIN), (connection?.descriptor ?? -1, events)],
                until: [nextAttempt, questions.deadline].compactMap { $0 }.min())
            if end.isSignalled { return }
            work()
        }
    }

    /// Reads and writes what is possible without waiting.
    private func work() {
        if let nextAttempt, nextAttempt <= .now { connectAgain() }
        guard let connection else { return }
        connection.transfer()
        while let message = connection.next() { handleMessage(message) }
        if !connection.isConnected { return lose() }
        // A slow bus is asked again: signals are ignored while their service's owner is unknown.
        let late = questions.takeLate()
        if !late.isEmpty { timeout = min(timeout * 2, Self.longestTimeout) }
        for service in late { ask(connection, whoIs: service) }
        catchUp()
    }

    private func open() -> BusConnection? {
        guard let opened = try? BusConnection(address: address) else { return nil }
        for service in Service.allCases {
            opened.subscribe("type='signal',sender='\(Self.bus)',member='NameOwnerChanged',arg0='\(service.rawValue)'")
            opened.subscribe(service.rule)
            ask(opened, whoIs: service)
        }
        opened.transfer()
        return opened
    }

    private func ask(_ connection: BusConnection, whoIs service: Service) {
        guard
            let question = BusMessage(
                destination: Self.bus, path: "/org/freedesktop/DBus", interface: Self.bus, method: "GetNameOwner"),
            question.append([.string(service.rawValue)]), let serial = connection.send(question)
        else { return }
        questions.add(service, serial: serial, timeout: timeout)
    }

    private func connectAgain() {
        connection = open()
        nextAttempt = connection == nil ? backOff.deadline() : nil
    }

    /// Has possibly missed changes checked, once a new bus has answered: from then on it forwards signals.
    private func catchUp() {
        guard isBehind, !questions.contains(where: { _ in true }) else { return }
        isBehind = false
        tell(.wallClockChanged)
        tell(.zoneChanged)
    }

    private func lose() {
        connection = nil
        questions = BusCalls()
        owners = [:]
        isBehind = true
        nextAttempt = backOff.deadline()
    }

    private func handleMessage(_ message: borrowing BusMessage) {
        if message.isReply || message.isError {
            guard let service = questions.take(message.answers) else { return }
            // It works, and not only takes connections.
            backOff.reset()
            timeout = BusCalls<Service>.timeout
            if message.isReply, case .string(let owner)? = message.arguments.first { owners[service] = owner }
        } else if message.isSignal(Self.bus, "NameOwnerChanged"), message.sender == Self.bus {
            guard case (.string(let name)?, .string(let owner)?) = (message.arguments.first, message.arguments.last),
                let service = Service(rawValue: name)
            else { return }
            owners[service] = owner.isEmpty ? nil : owner
        } else if message.isSignal("\(Service.login.rawValue).Manager", "PrepareForSleep") {
            if isFrom(.login, message), message.arguments == [.boolean(false)] { tell(.wallClockChanged) }
        } else if message.isSignal(Self.properties, "PropertiesChanged") {
            if isFrom(.time, message) { tell(.zoneChanged) }
        }
    }

    private func isFrom(_ service: Service, _ message: borrowing BusMessage) -> Bool {
        guard let owner = owners[service] else { return false }
        return message.sender == owner
    }
}

/// The state of an app's process and of its connection: a state machine.
///
/// Guarantees: an app is started only from ``stopped``, so that it never runs twice by the agent's doing; what ends
/// late (a timer, a process of an earlier run) changes nothing.
package enum AppRun<Connection: Sendable>: Sendable {
    /// The app does not run, as far as the agent knows.
    case stopped
    /// The agent started this process, which is not connected.
    case started(process: Int32)
    /// The session bus is bringing it to the front.
    case activating
    /// The agent is starting its program.
    case launching
    /// The app is not connected and may connect until a deadline; `process` is the one that the agent started.
    case reconnecting(deadline: Int, process: Int32?)
    /// The app is connected; `process` is the one that the agent started.
    case connected(Connection, process: Int32?)

    /// The open connection.
    package var connection: Connection? {
        guard case .connected(let connection, _) = self else { return nil }
        return connection
    }

    /// Whether it may be started.
    package var isStopped: Bool {
        guard case .stopped = self else { return false }
        return true
    }

    /// Whether the agent started a process that is not connected yet, or is about to.
    package var isStarting: Bool {
        switch self {
        case .started, .launching: true
        case .stopped, .activating, .reconnecting, .connected: false
        }
    }

    /// The process that the agent started and that has not ended.
    private var process: Int32? {
        switch self {
        case .stopped, .activating, .launching: nil
        case .started(let process): process
        case .reconnecting(_, let process), .connected(_, let process): process
        }
    }

    /// A connection proved to be the app's; it takes the place of an earlier one.
    package mutating func connect(_ connection: Connection) { self = .connected(connection, process: process) }

    /// The connection is not the app's any more, and no other one is expected.
    package mutating func disconnect() {
        guard case .connected = self else { return }
        self = process.map { .started(process: $0) } ?? .stopped
    }

    /// The app is given time to connect.
    ///
    /// - Parameter deadline: Names the deadline; no two have one name.
    package mutating func awaitReconnect(deadline: Int) { self = .reconnecting(deadline: deadline, process: process) }

    /// A deadline has passed.
    ///
    /// - Returns: Whether the app was expected until this one; it counts as gone then.
    package mutating func deadlinePassed(_ deadline: Int) -> Bool {
        guard case .reconnecting(deadline, let process) = self else { return false }
        self = process.map { .started(process: $0) } ?? .stopped
        return true
    }

    /// Whether the app is expected until this deadline.
    package func isAwaited(deadline: Int) -> Bool {
        if case .reconnecting(deadline, _) = self { true } else { false }
    }

    /// The app counts as gone before its deadline, where the process that the agent started has ended too.
    ///
    /// - Returns: Whether it counts as gone.
    package mutating func awaitNoLonger(isRunning: (Int32) -> Bool) -> Bool {
        guard case .reconnecting(_, let process) = self, process.map(isRunning) != true else { return false }
        self = .stopped
        return true
    }

    /// The session bus was asked to bring it to the front.
    package mutating func activate() {
        if isStopped { self = .activating }
    }

    /// The session bus does not bring it.
    ///
    /// - Returns: Whether it was still waited for.
    package mutating func activationFailed() -> Bool {
        guard case .activating = self else { return false }
        self = .stopped
        return true
    }

    /// The agent is about to start its program: it is not started a second time meanwhile.
    package mutating func launch() {
        if isStopped { self = .launching }
    }

    /// Notes that the app's program could not be started.
    package mutating func launchFailed() {
        if case .launching = self { self = .stopped }
    }

    /// The agent started a process of it.
    package mutating func start(process: Int32) {
        launchFailed()
        if isStopped { self = .started(process: process) }
    }

    /// A process that the agent started has ended.
    ///
    /// - Returns: Whether it was this run's.
    package mutating func processEnded(_ ended: Int32) -> Bool {
        guard process == ended else { return false }
        switch self {
        case .stopped, .activating, .launching: return false
        case .started: self = .stopped
        case .reconnecting(let deadline, _): self = .reconnecting(deadline: deadline, process: nil)
        case .connected(let connection, _): self = .connected(connection, process: nil)
        }
        return true
    }
}

import AgentProtocol
import CLinux
import Foundation
import Platform

/// The shell around ``AppSession``: the process's one connection to the agent, on a queue of its own.
///
/// Nothing here waits for the main thread: answers to the app's requests come while that thread is blocked. The app's
/// handlers are called on the main actor, by ``receivers``. What is asked from any thread is done in the order of the
/// calls.
package actor AppHost {
    /// The host of this process. It does nothing until ``start()``.
    package static let shared = AppHost(configuration: .current())
    /// Sets how the process prints, once. The output of an app that the agent started goes to a file, and should be
    /// there line by line.
    package static let printsByLines: Void = aldaba_print_by_lines()

    private nonisolated let queue = QueueExecutor(label: "aldaba.host")
    /// The parts of the app that receive notifications, responses and messages.
    package nonisolated let receivers = AppReceivers()
    private let configuration: AppHostConfiguration
    private var session: AppSession
    private var events: [AppSession.Event] = []
    private var isHandlingEvents = false
    private var isStarted = false
    private var isStopped = false
    private var connection: AgentConnection?
    /// The connection whose thread waits to read on.
    private var heldConnection: AgentConnection?
    private var timer: Duration?
    /// The callbacks that wait for the agent's answers, by the numbers of their requests.
    var answers = AnswerHandlers()
    /// The request of the app itself for its device token; decides whether its own handler gets an answer.
    var tokenWish = AppTokenWish()
    private let clock = ContinuousClock()
    private let origin = ContinuousClock.now

    /// Makes a host that has not begun. An app has one, ``shared``; tests make others.
    package init(configuration: AppHostConfiguration) {
        self.configuration = configuration
        session = AppSession(
            app: configuration.app, role: configuration.role, run: UUID().uuidString, place: configuration.socketPath,
            launchTimeout: configuration.launchTimeout)
    }

    /// The queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { queue.asUnownedSerialExecutor() }

    /// Begins to connect, once; does nothing when called again.
    package nonisolated func start() {
        Self.printsByLines
        AppDefaults.keep()
        post { host in
            guard !host.isStarted else { return }
            host.isStarted = true
            if host.configuration.isSupervised { SupervisorWatch.begin() }
            host.handle(.started)
        }
    }

    /// Ends the connection for good.
    package nonisolated func stop() {
        post { host in
            host.isStopped = true
            host.connection?.close()
            host.heldConnection = nil
        }
    }

    /// Does something on the host's queue, after what was posted before it.
    nonisolated func post(_ work: @escaping @Sendable (isolated AppHost) -> Void) {
        queue.async { self.assumeIsolated(work) }
    }

    /// Feeds the session, after what was posted before it.
    nonisolated func postEvent(_ event: AppSession.Event) { post { $0.handle(event) } }

    /// Does something with the app's receivers on the main actor, after what was passed to it before.
    package nonisolated func onMain(_ work: @escaping @MainActor @Sendable (AppReceivers) -> Void) {
        DispatchQueue.main.async { MainActor.assumeIsolated { work(self.receivers) } }
    }
}

// MARK: - Events and directives

extension AppHost {
    /// Feeds the session. An event that comes while directives are followed waits until they are done.
    func handle(_ event: AppSession.Event) {
        guard !isStopped else { return }
        events.append(event)
        guard !isHandlingEvents else { return }
        isHandlingEvents = true
        while !events.isEmpty {
            for directive in session.handle(events.removeFirst(), now: clock.now - origin) { perform(directive) }
        }
        isHandlingEvents = false
        scheduleTimer()
        if !session.isFull, let held = heldConnection {
            heldConnection = nil
            held.readOn()
        }
    }

    /// Whether an agent has welcomed the app.
    var isConnected: Bool { !isStopped && session.connection.link == .welcomed }

    private func perform(_ directive: AppSession.Directive) {
        switch directive {
        case .connect(let delay): connect(after: delay)
        case .disconnect: connection?.close()
        case .send(let message): send(message)
        // A terminal that is gone is no reason to end the app.
        case .report(let text): try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(text)\n".utf8))
        case .answerAuthorization, .answerSettings, .answerMedia, .answerOpening, .answerCenter, .answerChannel,
            .answerActivity, .tellActivities, .failRequest:
            answers.answer(directive)
        default:
            let isForApp = tokenWish.isAnswered(by: directive)
            onMain { $0.perform(directive, of: self, answersApp: isForApp) }
        }
    }

    private func scheduleTimer() {
        guard let deadline = session.nextDeadline, timer.map({ deadline < $0 }) ?? true else { return }
        timer = deadline
        after(deadline - (clock.now - origin)) { host in
            if host.timer == deadline { host.timer = nil }
            host.handle(.timePassed)
        }
    }

    private func after(_ delay: Duration, _ work: @escaping @Sendable (isolated AppHost) -> Void) {
        let milliseconds = Int(max(0, min(delay, .seconds(1_000_000_000)).milliseconds)) + 1
        queue.async(after: .milliseconds(milliseconds)) { self.assumeIsolated(work) }
    }
}

// MARK: - The connection

extension AppHost {
    private func connect(after delay: Duration) {
        guard delay > .zero else { return open() }
        after(delay) { $0.open() }
    }

    private func open() {
        guard !isStopped else { return }
        let role = configuration.role
        AgentConnection.open(path: configuration.socketPath) { [self] notice in
            // Without its agent a service extension has nothing to do, and its main thread may be busy.
            if role == .serviceExtension, case .ended = notice { _exit(0) }
            post { $0.noticed(notice) }
        }
    }

    private func noticed(_ notice: AgentConnection.Notice) {
        switch notice {
        case .opened(let connection):
            guard !isStopped else { return connection.close() }
            self.connection = connection
            handle(.connected)
        case .received(let messages, let connection):
            heldConnection = connection
            for message in messages { events.append(.received(message)) }
            handle(.timePassed)
        case .ended(let report):
            connection = nil
            heldConnection = nil
            answers.delayActivities()
            handle(.disconnected(reason: report, jitter: .random(in: 0..<1)))
        }
    }

    private func send(_ message: AppMessage) {
        // A message that may be long was measured when it was requested. An id that is too long has the agent
        // refuse the app, and does not end the app.
        guard let frame = frame(of: message) else { return }
        connection?.send(frame)
    }

    private func frame(of message: AppMessage) -> [UInt8]? {
        if case .center(let request, _) = message, let asked = answers.centers[request] { return asked.frame }
        return try? AgentFrame.encode(message)
    }
}

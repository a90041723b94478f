import AgentProtocol
import CLinux
import Foundation
import Platform

/// The shell around ``AppSession``: the process's one connection to the agent, on the main actor.
@MainActor
package final class AppHost {
    /// The host of this process. It does nothing until ``start()``.
    package nonisolated static let shared = AppHost(configuration: .current())

    private let configuration: AppHostConfiguration
    private(set) var session: AppSession
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
    private let clock = ContinuousClock()
    private let origin = ContinuousClock.now

    /// Takes the questions how to present a notification, and the responses.
    package var notificationReceiver: (any NotificationReceiver)?
    /// Takes what belongs to the app's life cycle.
    package var applicationReceiver: (any ApplicationReceiver)?
    /// Takes the notifications to change, in a service extension's process.
    package var extensionReceiver: (any ExtensionReceiver)?

    /// Receives data messages, and the events of the app's other handlers. Data messages wait until it is set.
    package weak var messagingReceiver: (any MessagingReceiver)?
    /// Whether the app itself asked for its device token: then its own handler gets it.
    private var appAsksForToken = false

    /// Receives deletions on the server. Until it is set, they are kept here and by the agent.
    package var deletionReceiver: ((MessageDeletion) -> Void)? {
        didSet { tellDeletions() }
    }
    /// The deletions that no receiver has taken yet; the agent reports at most one for each environment and lane.
    private var untoldDeletions: [MessageDeletion] = []

    /// Makes a host that has not begun. An app has one, ``shared``; tests make others.
    package nonisolated init(configuration: AppHostConfiguration) {
        self.configuration = configuration
        session = AppSession(
            app: configuration.app, role: configuration.role, run: UUID().uuidString, place: configuration.socketPath,
            launchTimeout: configuration.launchTimeout)
    }

    /// Begins to connect, once; does nothing when called again.
    package func start() {
        guard !isStarted else { return }
        isStarted = true
        // The output of an app that the agent started goes to a file, and should be there line by line.
        aldaba_print_by_lines()
        if configuration.isSupervised { SupervisorWatch.begin() }
        handle(.started)
    }

    /// Ends the connection for good.
    package func stop() {
        isStopped = true
        connection?.close()
        heldConnection = nil
    }

    /// Does something on the main actor, after what was posted before it.
    package nonisolated func post(_ work: @escaping @MainActor @Sendable (AppHost) -> Void) {
        DispatchQueue.main.async { MainActor.assumeIsolated { work(self) } }
    }

    /// Waits for the welcome (at most a second), then launches the app through ``applicationReceiver``.
    package func beginLaunch() { handle(.launchBegan) }

    /// Reports that the app has launched and accepts notifications from now on.
    package func finishLaunch() { handle(.launchFinished) }

    /// Sets whether the app has a receiver of responses.
    package func setRespondent(exists: Bool) { handle(.respondentChanged(exists: exists)) }

    /// Asks for authorization. The answer comes on any thread; `nil` when it cannot be asked for.
    package func requestAuthorization(options: UInt, answer: @escaping @Sendable (Bool?) -> Void) {
        answers.lastRequest += 1
        answers.authorizations[answers.lastRequest] = answer
        handle(.authorizationRequested(request: answers.lastRequest, options: options))
    }

    /// Asks for the settings. The answer comes on any thread; `nil` when they cannot be asked for.
    package func requestSettings(answer: @escaping @Sendable (NotificationSettings?) -> Void) {
        answers.lastRequest += 1
        answers.settings[answers.lastRequest] = answer
        handle(.settingsRequested(request: answers.lastRequest))
    }

    /// Has the agent fetch a file, in a service extension. The answer comes once, on any thread.
    package func requestMedia(_ request: MediaRequest, answer: @escaping @Sendable (MediaAnswer) -> Void) {
        answers.lastRequest += 1
        answers.media[answers.lastRequest] = answer
        handle(.mediaRequested(request: answers.lastRequest, request))
    }

    /// Asks something of the notification centre. The answer comes on any thread.
    package func requestCenter(
        _ command: CenterCommand, answer: @escaping @Sendable (Result<CenterAnswer, CenterError>) -> Void
    ) {
        answers.lastRequest += 1
        do {
            let frame = try AgentFrame.encode(AppMessage.center(request: answers.lastRequest, command))
            answers.centers[answers.lastRequest] = CenterRequest(frame: frame, answer: answer)
            handle(.centerRequested(request: answers.lastRequest, command, size: frame.count))
        } catch {
            answer(.failure(.unsendable(error)))
        }
    }

    /// Why the notification centre was not asked.
    package enum CenterError: Error {
        /// No message can carry it.
        case unsendable(AgentFrameError)
        /// The app has no id, another process is the app now, or too much waits already.
        case untaken
    }

    /// Declares the app's state, for an app that the agent cannot observe.
    package func declare(_ state: AppState) { handle(.stateDeclared(state)) }

    /// Asks for the device token, now and on every later connection.
    package func registerForRemoteNotifications() {
        appAsksForToken = true
        registerForMessaging()
    }

    /// Asks for the device token without calling the app's own handler.
    func registerForMessaging() { handle(.registrationRequested(request: nextRequest())) }

    /// A number for another request.
    func nextRequest() -> Int64 {
        answers.lastRequest += 1
        return answers.lastRequest
    }

    /// Gives the device token back.
    package func unregisterForRemoteNotifications() {
        answers.lastRequest += 1
        handle(.unregistrationRequested(request: answers.lastRequest))
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
            for directive in session.handle(events.removeFirst(), now: clock.now - origin) { follow(directive) }
        }
        isHandlingEvents = false
        scheduleTimer()
        if !session.isFull, let held = heldConnection {
            heldConnection = nil
            held.readOn()
        }
    }

    private func follow(_ directive: AppSession.Directive) {
        switch directive {
        case .connect(let delay): connect(after: delay)
        case .disconnect: connection?.close()
        case .send(let message): send(message)
        case .launch(let state, let notification):
            applicationReceiver?.launch(state: state, notification: notification)
        case .enter(let state):
            applicationReceiver?.enter(state)
            messagingReceiver?.entered(state)
        case .handBackground(let notification): handBackground(notification)
        case .askPresentation(let notification): askPresentation(notification)
        case .handResponse(let response): handResponse(response)
        case .offerOpening(let response):
            notifyMessaging(response.notification, .response)
            offerOpening(of: response) { .openingAnswered(id: response.id, isTaken: $0) }
        case .extend(let notification): extend(notification)
        case .expire(let notification): extensionReceiver?.expire(notification)
        case .openSettings(let notification): notificationReceiver?.openSettings(for: notification)
        case .answerAuthorization(let request, let granted):
            answers.authorizations.removeValue(forKey: request)?(granted)
        case .answerSettings(let request, let values): answers.settings.removeValue(forKey: request)?(values)
        case .answerMedia(let request, let answer): answers.media.removeValue(forKey: request)?(answer)
        case .answerCenter(let request, let answer):
            answers.centers.removeValue(forKey: request)?.answer(.success(answer))
        case .failRequest(let request):
            answers.centers.removeValue(forKey: request)?.answer(.failure(.untaken))
            answers.authorizations.removeValue(forKey: request)?(nil)
            answers.settings.removeValue(forKey: request)?(nil)
            answers.channelAnswers.removeValue(forKey: request)?(nil)
            answers.media.removeValue(forKey: request)?(
                .failed(MediaFailure(.busy, "too much waits for the agent already, or this process is no app's")))
        case .announceToken(let token):
            if appAsksForToken { applicationReceiver?.registered(token: token) }
            messagingReceiver?.tokenChanged(token)
        case .announceRegistrationFailure(let code, let message):
            if appAsksForToken { applicationReceiver?.registrationFailed(code: code, message: message) }
            messagingReceiver?.tokenFailed(code: code, message: message)
        case .handData(let message):
            // Without a receiver the channel is not wanted; the agent sends it again in another run.
            guard let messagingReceiver else { break }
            messagingReceiver.receiveData(message)
            handle(.dataHandled(id: message.id))
        case .tellChannel(let isConnected): messagingReceiver?.channelChanged(isConnected: isConnected)
        case .answerChannel(let request, let answer): answers.channelAnswers.removeValue(forKey: request)?(answer)
        case .tellEnd(let end):
            guard let messagingReceiver else { break }
            messagingReceiver.upstreamEnded(end)
            handle(.endTaken(number: end.number))
        case .tellDeletion(let deletion):
            untoldDeletions.removeAll { $0.since == deletion.since }
            untoldDeletions.append(deletion)
            tellDeletions()
        // A terminal that is gone is no reason to end the app.
        case .report(let text): try? FileHandle.standardError.write(contentsOf: Data("aldaba: \(text)\n".utf8))
        }
    }

    private func tellDeletions() {
        guard let deletionReceiver else { return }
        let deletions = untoldDeletions
        untoldDeletions = []
        for deletion in deletions {
            deletionReceiver(deletion)
            handle(.deletionTaken(id: deletion.id))
        }
    }

    private func handBackground(_ notification: DeliveredNotification) {
        notifyMessaging(notification, .background)
        guard let applicationReceiver else {
            return handle(.backgroundHandled(id: notification.id, .noData))
        }
        applicationReceiver.receiveInBackground(notification) { [self] result in
            post { $0.handle(.backgroundHandled(id: notification.id, result)) }
        }
    }

    /// Passes a remote notification to messaging before the app's own handlers get it.
    private func notifyMessaging(_ notification: DeliveredNotification, _ occasion: HandoverReason) {
        if notification.isRemote { messagingReceiver?.willHand(notification, as: occasion) }
    }

    private func askPresentation(_ notification: DeliveredNotification) {
        notifyMessaging(notification, .foreground)
        guard let notificationReceiver else {
            return handle(.presentationUnasked(id: notification.id))
        }
        notificationReceiver.present(notification) { [self] options in
            post { host in
                host.handle(
                    options.map { .presentationAnswered(id: notification.id, options: $0) }
                        ?? .presentationUnasked(id: notification.id))
            }
        }
    }

    private func extend(_ notification: DeliveredNotification) {
        let id = notification.id
        guard let extensionReceiver else {
            return handle(.extensionAnswered(.extended(notification: id, content: nil)))
        }
        extensionReceiver.extend(notification) { [self] answer in
            post { $0.handle(.extensionAnswered(Self.message(answer, of: id))) }
        }
    }

    private static func message(_ answer: ExtensionAnswer, of id: Int64) -> AppMessage {
        switch answer {
        case .changed(let content):
            let message = AppMessage.extended(notification: id, content: content)
            do {
                _ = try AgentFrame.encode(message)
                return message
            } catch {
                return .extensionFailed(notification: id, message: "its content cannot be sent: \(error)")
            }
        case .unchanged: return .extended(notification: id, content: nil)
        case .unsendable(let reason): return .extensionFailed(notification: id, message: reason)
        }
    }

    private func handResponse(_ response: DeliveredResponse) {
        notifyMessaging(response.notification, .response)
        guard let notificationReceiver else { return handle(.responseHandled(id: response.id)) }
        notificationReceiver.respond(response) { [self] isTaken in
            post { host in
                guard !isTaken else { return host.handle(.responseHandled(id: response.id)) }
                host.offerOpening(of: response) { _ in .responseHandled(id: response.id) }
            }
        }
    }

    /// Passes the remote notification that opened the app to the application's own handler. The session then receives
    /// the event for whether it was taken.
    private func offerOpening(
        of response: DeliveredResponse, event: @escaping @Sendable (Bool) -> AppSession.Event
    ) {
        guard response.opensApp, response.notification.isRemote, let applicationReceiver else {
            return handle(event(false))
        }
        applicationReceiver.receiveOpening(response.notification) { [self] isTaken in
            post { $0.handle(event(isTaken)) }
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

    private func after(_ delay: Duration, _ work: @escaping @MainActor @Sendable (AppHost) -> Void) {
        let milliseconds = Int(max(0, min(delay, .seconds(1_000_000_000)).milliseconds)) + 1
        DispatchQueue.main.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { [self] in
            MainActor.assumeIsolated { work(self) }
        }
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

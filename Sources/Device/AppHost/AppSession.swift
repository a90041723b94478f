import AgentWire

/// The rules of one app's conversation with the agent: a value, events in and directives out.
///
/// `now` is any clock that does not go back. Notifications reach the app in the order in which they came, and
/// only after its launch; responses, only when somebody takes them.
package struct AppSession: Sendable {
    /// How long a handler of the app has for its answer.
    package static let handlerLimit = Duration.seconds(30)
    static let shortestBackOff = Duration.milliseconds(50)
    static let longestBackOff = Duration.seconds(2)
    /// Notifications, and responses, that are with the app's handlers at one time.
    static let inProgressLimit = 64
    /// Notifications that may wait before the session says ``isFull``; and responses, of which the oldest goes.
    static let waitingLimit = 256
    /// Answers that an agent may leave unconfirmed, and requests that may wait for one.
    static let unconfirmedLimit = 10_000
    static let requestLimit = 1_000
    /// Failed connections before the person at the terminal is told.
    static let quietFailures = 5

    private enum Link { case closed, opened, welcomed }

    private enum Launch {
        case notBegun
        case waiting(until: Duration)
        case running
        case finished
    }

    private enum Registration { case untouched, wanted(request: Int64), unwanted(request: Int64) }

    private struct Delivery: Sendable {
        var notification: DeliveredNotification
        var kind: DeliveryKind
        /// Whether the background handler is still to answer.
        var isInBackgroundHandler: Bool
        var deadline: Duration
    }

    private struct Reply: Sendable {
        var response: DeliveredResponse
        var deadline: Duration
    }

    private let app: String?
    private let place: String
    private let launchPatience: Duration
    private var link = Link.closed
    private var failures = 0
    private var isSlow = false
    /// Whether another process of this app took its place: then nothing is ever connected again.
    private var isSuperseded = false
    private var reports: Set<String> = []
    private var launch = Launch.notBegun
    private var state = AppState.active
    /// What opening started the app, until its launch is told.
    private var launchNotification: DeliveredNotification?
    private var respondentExists = false
    private var registration = Registration.untouched
    private var tokenIsAwaited = false
    private var token: String?
    private var requests: [(request: Int64, message: AppMessage)] = []
    private var deliveries = HandoverLedger<Delivery, HandledOutcome>()
    private var replies = HandoverLedger<Reply, Void>()
    private var directives: [Directive] = []

    /// - Parameters:
    ///   - app: The bundle id; `nil` when none was found, and then nothing is ever connected.
    ///   - place: The socket's path, for what is said to people.
    ///   - launchPatience: How long a launch waits for the agent's welcome.
    package init(app: String?, place: String, launchPatience: Duration = .seconds(1)) {
        self.launchPatience = launchPatience
        self.app = app
        self.place = place
    }

    /// Whether so much waits that nothing more should be read from the agent.
    package var isFull: Bool { deliveries.waitingCount >= Self.waitingLimit }

    /// When ``Event/timePassed`` is due.
    package var nextDeadline: Duration? {
        var deadlines = deliveries.inProgress.values.map(\.deadline) + replies.inProgress.values.map(\.deadline)
        if case .waiting(let until) = launch { deadlines.append(until) }
        return deadlines.min()
    }

    /// Takes an event and says what is to be done.
    package mutating func handle(_ event: Event, now: Duration) -> [Directive] {
        switch event {
        case .started: start()
        case .connected: connected()
        case .disconnected(let reason, let jitter): disconnected(reason, jitter)
        case .received(let message): received(message, now)
        case .launchBegan: beginLaunch(now)
        case .launchFinished: finishLaunch(now)
        case .respondentChanged(let exists):
            respondentExists = exists
            pump(now)
        case .authorizationRequested(let request, let options):
            ask(request, .requestAuthorization(request: request, options: options))
        case .settingsRequested(let request): ask(request, .getSettings(request: request))
        case .registrationRequested(let request): register(request)
        case .unregistrationRequested(let request): unregister(request)
        case .backgroundHandled(let id, let result): backgroundHandled(id, result, now)
        case .presentationAnswered(let id, let options): presentationAnswered(id, options, now)
        case .responseHandled(let id): responseHandled(id, now)
        case .timePassed: timePassed(now)
        }
        defer { directives = [] }
        return directives
    }

    private mutating func send(_ message: AppMessage) {
        if link == .welcomed { directives.append(.send(message)) }
    }

    private mutating func report(_ text: String) {
        if reports.count < 100, reports.insert(text).inserted { directives.append(.report(text)) }
    }
}

// MARK: - The connection

extension AppSession {
    private mutating func start() {
        guard app == nil else { return directives.append(.connect(after: .zero)) }
        report(
            "this app has no id: set ALDABA_APP_ID, or put a file named like the executable with `.aldaba.json` "
                + #"added beside it, holding {"id": "com.example.app"}. Until then no notification reaches it."#)
    }

    private mutating func connected() {
        guard let app else { return }
        link = .opened
        directives.append(.send(.hello(version: AgentFrame.version, app: app, secret: nil)))
    }

    private mutating func disconnected(_ reason: String?, _ jitter: Double) {
        link = .closed
        if let reason { report(reason) }
        failures = min(failures + 1, 30)
        if failures == Self.quietFailures {
            report("no agent answers at \(place); start one with `aldaba agent` or `aldaba up`. It is tried for ever.")
        }
        let grown = Self.shortestBackOff * (1 << min(failures - 1, 10))
        let delay = isSlow ? Self.longestBackOff : min(grown, Self.longestBackOff) * (0.5 + jitter / 2)
        isSlow = false
        if !isSuperseded { directives.append(.connect(after: delay)) }
    }

    private mutating func received(_ message: AgentMessage, _ now: Duration) {
        switch (message, link) {
        case (_, .closed): break
        case (.refused(_, AgentMessage.superseded, let text), _): superseded(text)
        case (.refused(_, let code, let text), _):
            report("the agent refused this app (\(code)): \(text)")
            leave(slowly: true)
        case (.welcome(let welcome), .opened): welcomed(welcome, now)
        case (_, .opened):
            report("the agent at \(place) spoke before it welcomed this app; it is not an agent of this version.")
            leave(slowly: true)
        case (_, .welcomed): receivedInside(message, now)
        }
    }

    /// Connecting again would take the app from the process that has it, which would take it back, and so on.
    private mutating func superseded(_ text: String) {
        isSuperseded = true
        report("another process of this app took its place: \(text). End one of the two.")
        leave(slowly: false)
        for (request, _) in requests { directives.append(.failRequest(request: request)) }
        requests = []
        if tokenIsAwaited, case .wanted = registration {
            tokenIsAwaited = false
            directives.append(.announceRegistrationFailure(code: AgentMessage.superseded, message: text))
        }
    }

    private mutating func leave(slowly: Bool) {
        link = .closed
        isSlow = slowly
        directives.append(.disconnect)
    }

    private mutating func welcomed(_ welcome: AgentMessage.Welcome, _ now: Duration) {
        guard welcome.version == AgentFrame.version else {
            report(
                "the agent speaks version \(welcome.version) of the app protocol, this app version "
                    + "\(AgentFrame.version): build both from one release.")
            return leave(slowly: true)
        }
        link = .welcomed
        failures = 0
        sendEverythingAgain()
        switch launch {
        case .notBegun:
            state = welcome.state
            launchNotification = welcome.launchNotification
        case .waiting: runLaunch(welcome.state, welcome.launchNotification)
        case .running, .finished: break
        }
    }

    /// What the agent must know on a new connection; `ready` comes last, so that deliveries follow the answers.
    private mutating func sendEverythingAgain() {
        for (id, outcome) in deliveries.unconfirmed { send(.handled(notification: id, outcome: outcome)) }
        for (id, _) in replies.unconfirmed { send(.responseHandled(response: id)) }
        switch registration {
        case .untouched: break
        case .wanted(let request): send(.registerForRemoteNotifications(request: request))
        case .unwanted(let request): send(.unregisterForRemoteNotifications(request: request))
        }
        for (_, message) in requests { send(message) }
        if case .finished = launch { sendReady() }
    }

    private mutating func sendReady() {
        send(.stateChanged(state))
        send(.ready)
    }
}

// MARK: - Launch and state

extension AppSession {
    private mutating func beginLaunch(_ now: Duration) {
        guard case .notBegun = launch else { return }
        if app == nil || link == .welcomed {
            runLaunch(state, launchNotification)
            launchNotification = nil
        } else {
            launch = .waiting(until: now + launchPatience)
        }
    }

    private mutating func runLaunch(_ state: AppState, _ notification: DeliveredNotification?) {
        self.state = state
        launch = .running
        directives.append(.launch(state: state, notification: notification))
    }

    private mutating func finishLaunch(_ now: Duration) {
        if case .finished = launch { return }
        launch = .finished
        directives.append(.enter(state))
        sendReady()
        pump(now)
    }

    private mutating func enter(_ state: AppState) {
        guard self.state != state else { return }
        self.state = state
        directives.append(.enter(state))
        send(.stateChanged(state))
    }
}

// MARK: - Requests and registration

extension AppSession {
    private mutating func ask(_ request: Int64, _ message: AppMessage) {
        guard app != nil, !isSuperseded, requests.count < Self.requestLimit else {
            return directives.append(.failRequest(request: request))
        }
        requests.append((request, message))
        send(message)
    }

    /// Whether the request waited for this answer; answers that are sent again are dropped.
    private mutating func answered(_ request: Int64) -> Bool {
        guard let place = requests.firstIndex(where: { $0.request == request }) else { return false }
        requests.remove(at: place)
        return true
    }

    private mutating func register(_ request: Int64) {
        guard app != nil else {
            return directives.append(
                .announceRegistrationFailure(code: "noAppID", message: "this app has no id; set ALDABA_APP_ID"))
        }
        guard !isSuperseded else {
            return directives.append(
                .announceRegistrationFailure(
                    code: AgentMessage.superseded, message: "another process of this app took its place"))
        }
        registration = .wanted(request: request)
        tokenIsAwaited = true
        send(.registerForRemoteNotifications(request: request))
    }

    private mutating func unregister(_ request: Int64) {
        registration = .unwanted(request: request)
        tokenIsAwaited = false
        token = nil
        send(.unregisterForRemoteNotifications(request: request))
    }

    private mutating func registered(_ request: Int64?, _ token: String) {
        guard case .wanted(let wanted) = registration, request == nil || request == wanted else { return }
        guard tokenIsAwaited || token != self.token else { return }
        tokenIsAwaited = false
        self.token = token
        directives.append(.announceToken(token))
    }

    private mutating func registrationFailed(_ request: Int64, _ code: String, _ message: String) {
        guard tokenIsAwaited, case .wanted(request) = registration else { return }
        tokenIsAwaited = false
        directives.append(.announceRegistrationFailure(code: code, message: message))
    }
}

// MARK: - Notifications and responses

extension AppSession {
    private mutating func receivedInside(_ message: AgentMessage, _ now: Duration) {
        switch message {
        case .deliver(let notification, let kind): arrived(notification, kind, now)
        case .respond(let id, let notification, let action, let userText):
            arrived(DeliveredResponse(id: id, notification: notification, action: action, userText: userText), now)
        case .handledConfirmed(let ids): deliveries.confirm(ids)
        case .responsesConfirmed(let ids): replies.confirm(ids)
        case .authorizationAnswered(let request, let granted):
            if answered(request) { directives.append(.answerAuthorization(request: request, granted: granted)) }
        case .settings(let request, let settings):
            if answered(request) { directives.append(.answerSettings(request: request, settings)) }
        case .registered(let request, let token): registered(request, token)
        case .registrationFailed(let request, let code, let text): registrationFailed(request, code, text)
        case .welcome, .refused, .centerAnswered, .enter, .openSettings, .managed, .unknown: break
        }
    }

    private mutating func arrived(_ notification: DeliveredNotification, _ kind: DeliveryKind, _ now: Duration) {
        let delivery = Delivery(
            notification: notification, kind: kind, isInBackgroundHandler: kind != .foreground, deadline: .zero)
        switch deliveries.arrive(notification.id, delivery) {
        case .new: pump(now)
        case .pending: break
        case .answered(let outcome): send(.handled(notification: notification.id, outcome: outcome))
        }
    }

    private mutating func arrived(_ response: DeliveredResponse, _ now: Duration) {
        switch replies.arrive(response.id, Reply(response: response, deadline: .zero)) {
        case .new:
            if replies.waitingCount > Self.waitingLimit { replies.dropOldestWaiting() }
            pump(now)
        case .pending: break
        case .answered: send(.responseHandled(response: response.id))
        }
    }

    /// Hands to the app what waits, as far as it is ready for it.
    private mutating func pump(_ now: Duration) {
        guard case .finished = launch else { return }
        while deliveries.inProgress.count < Self.inProgressLimit, let (id, item) = deliveries.begin() {
            deliveries.inProgress[id]?.deadline = now + Self.handlerLimit
            directives.append(
                item.isInBackgroundHandler
                    ? .handBackground(item.notification) : .askPresentation(item.notification))
        }
        guard respondentExists else { return }
        while replies.inProgress.count < Self.inProgressLimit, let (id, item) = replies.begin() {
            replies.inProgress[id]?.deadline = now + Self.handlerLimit
            if item.response.action == NotificationAction.open { enter(.active) }
            directives.append(.handResponse(item.response))
        }
    }

    private mutating func backgroundHandled(_ id: Int64, _ result: BackgroundResult, _ now: Duration) {
        guard let delivery = deliveries.inProgress[id], delivery.isInBackgroundHandler else { return }
        guard delivery.kind == .foregroundAndBackground else { return handled(id, .background(result), now) }
        deliveries.inProgress[id]?.isInBackgroundHandler = false
        deliveries.inProgress[id]?.deadline = now + Self.handlerLimit
        directives.append(.askPresentation(delivery.notification))
    }

    private mutating func presentationAnswered(_ id: Int64, _ options: UInt, _ now: Duration) {
        guard let delivery = deliveries.inProgress[id], !delivery.isInBackgroundHandler else { return }
        handled(id, options == 0 ? .notPresented : .presented(options: options), now)
    }

    private mutating func handled(_ id: Int64, _ outcome: HandledOutcome, _ now: Duration) {
        guard deliveries.answer(id, outcome) else { return }
        send(.handled(notification: id, outcome: outcome))
        checkConfirmations()
        pump(now)
    }

    private mutating func responseHandled(_ id: Int64, _ now: Duration) {
        guard replies.answer(id, ()) else { return }
        send(.responseHandled(response: id))
        checkConfirmations()
        pump(now)
    }

    /// An agent that confirms nothing would fill the memory: on a new connection it hears every answer again.
    private mutating func checkConfirmations() {
        guard link == .welcomed, deliveries.answeredCount + replies.answeredCount > Self.unconfirmedLimit else {
            return
        }
        report("the agent confirms nothing that this app has handled; it is called again.")
        leave(slowly: true)
    }

    private mutating func timePassed(_ now: Duration) {
        if case .waiting(let until) = launch, until <= now { runLaunch(.active, nil) }
        for (id, delivery) in deliveries.inProgress.sorted(by: { $0.key < $1.key }) where delivery.deadline <= now {
            if delivery.isInBackgroundHandler {
                backgroundHandled(id, .failed, now)
            } else {
                presentationAnswered(id, 0, now)
            }
        }
        for (id, reply) in replies.inProgress.sorted(by: { $0.key < $1.key }) where reply.deadline <= now {
            responseHandled(id, now)
        }
    }
}

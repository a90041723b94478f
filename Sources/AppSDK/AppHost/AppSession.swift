import AgentProtocol
import Platform

/// The protocol between one app and the agent: a value, events in and directives out.
///
/// `now` is any clock that does not go back. Notifications reach the app in the order in which they came, and only
/// after its launch; responses, only when the app has a receiver for them.
package struct AppSession: Sendable {
    /// How long a handler of the app has for its answer.
    package static let handlerLimit = Duration.seconds(30)
    static let longestBackOff = Duration.seconds(2)
    /// Notifications, and responses, that are with the app's handlers at one time.
    static let inProgressLimit = 64
    /// The most notifications that are queued before the session reports ``isFull``; and the most responses, of which
    /// the oldest is dropped.
    static let waitingLimit = 256
    /// Answers that an agent may leave unconfirmed, and requests that may wait for one.
    static let unconfirmedLimit = 10_000
    static let requestLimit = 1_000
    /// Bytes that all waiting requests may have together: they are sent at once on a new connection, whose
    /// unwritten bytes are bounded.
    static let requestSizeLimit = 2 << 20
    /// Failed connections before the person at the terminal is notified.
    static let quietFailures = 5

    enum Link { case closed, opened, welcomed }

    enum Launch {
        case notBegun
        case waiting(until: Duration)
        case running
        case finished
    }

    enum Registration { case untouched, wanted(request: Int64), unwanted(request: Int64) }

    struct Delivery: Sendable {
        var notification: DeliveredNotification
        var kind: DeliveryKind
        var stage: Stage
        var deadline: Duration
    }

    /// The handler of the app that has a notification.
    enum Stage {
        case background
        case presentation
        /// The background handler, since no receiver chose the presentation.
        case unasked
    }

    struct Reply: Sendable {
        var response: DeliveredResponse
        /// Whether it was offered to the application delegate, since the app has no receiver of responses.
        var isOffered = false
        var deadline: Duration
    }

    let app: BundleID?
    let role: ConnectionRole
    let run: String
    let place: String
    let launchTimeout: Duration
    /// The connection to the agent.
    var connection = AppConnectionState()
    /// The device token, and what the app asked about it.
    var tokens = DeviceTokenState()
    var launch = Launch.notBegun
    var state = AppState.active
    /// The notification whose opening started the app, until its launch is reported.
    var launchNotification: DeliveredNotification?
    var respondentExists = false
    /// Whether the app has a receiver of the person's answers to calls.
    var receivesCalls = false
    var requests: [(request: Int64, message: AppMessage, size: Int)] = []
    /// The request to see the app's own settings, until a receiver takes it; of several the last.
    var settingsWish: SettingsWish?
    var deliveries = HandoverLedger<Delivery, HandledOutcome>()
    var replies = HandoverLedger<Reply, Void>()
    /// The ids of deletions that the app has taken; the newest of them.
    var takenDeletions: [Int64] = []
    /// The direct channel, and what it brings.
    var channel = ChannelSession()
    var directives: [Directive] = []

    /// A request to show the app's own settings, and the notification that it came from.
    struct SettingsWish: Sendable {
        var notification: DeliveredNotification?
    }

    /// A session that has not begun; it waits for ``Event/started``.
    ///
    /// - Parameters:
    ///   - app: The bundle id; `nil` when none was found, and then no connection is ever made.
    ///   - role: The role of this process.
    ///   - run: A name of this run of the app.
    ///   - place: The socket's path, for messages to people.
    ///   - launchTimeout: How long a launch waits for the agent's welcome.
    package init(
        app: BundleID?, role: ConnectionRole = .app, run: String, place: String, launchTimeout: Duration = .seconds(1)
    ) {
        self.launchTimeout = launchTimeout
        self.app = app
        self.role = role
        self.run = run
        self.place = place
    }

    /// Whether so much waits that nothing more should be read from the agent.
    package var isFull: Bool { deliveries.waitingCount + channel.messages.waitingCount >= Self.waitingLimit }

    /// When ``Event/timePassed`` is due.
    package var nextDeadline: Duration? {
        var deadlines = deliveries.inProgress.values.map(\.deadline) + replies.inProgress.values.map(\.deadline)
        if case .waiting(let until) = launch { deadlines.append(until) }
        return deadlines.min()
    }

    /// Handles an event, and returns the directives that follow.
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
        case .callsReceived:
            receivesCalls = true
            pump(now)
        case .authorizationRequested(let request, let options):
            ask(request, .requestAuthorization(request: request, options: options))
        case .settingsRequested(let request): ask(request, .getSettings(request: request))
        case .mediaRequested(let number, let media): ask(number, .fetch(request: number, media))
        case .openingRequested(let request, let url, let isTrial):
            ask(request, .open(request: request, url: url, isTrial: isTrial))
        case .centerRequested(let request, let command, let size):
            ask(request, .center(request: request, command), size: size)
        case .stateDeclared(let state): enter(state)
        case .registrationRequested(let request): register(request)
        case .unregistrationRequested(let request): unregister(request)
        case .tokenEndAsked(let request): endToken(request)
        case .backgroundHandled(let id, let result): backgroundHandled(id, result: result, at: now)
        case .presentationAnswered(let id, let options): presentationAnswered(id, options: options, at: now)
        case .presentationUnasked(let id): presentationUnasked(id, now)
        case .responseHandled(let id): responseHandled(id, now)
        case .openingAnswered(let id, let isTaken): openingAnswered(id, isTaken: isTaken, at: now)
        case .deletionTaken(let id): acknowledgeDeletion(id)
        case .extensionAnswered(let message): send(message)
        case .channelWanted(let isWanted): wantChannel(isWanted, now)
        case .channelAsked(let request, let command, let size): ask(request, .channel(command), size: size)
        case .activitiesObserved: observeActivities()
        case .activityAsked(let request, let command, let size): ask(request, .activity(command), size: size)
        case .dataHandled(let id): dataHandled(id)
        case .endTaken(let number): endTaken(number)
        case .timePassed: timePassed(now)
        }
        defer { directives = [] }
        return directives
    }

    mutating func send(_ message: AppMessage) {
        if connection.link == .welcomed { directives.append(.send(message)) }
    }

    mutating func report(_ text: String) {
        if connection.reports.count < 100, connection.reports.insert(text).inserted { directives.append(.report(text)) }
    }
}

// MARK: - The connection

extension AppSession {
    mutating func start() {
        guard app == nil else { return directives.append(.connect(after: .zero)) }
        report(
            "this app has no id: set ALDABA_APP_ID, or put a file named like the executable with `.aldaba.json` "
                + #"added beside it, holding {"id": "com.example.app"}. Until then no notification reaches it."#)
    }

    mutating func connected() {
        guard let app else { return }
        connection.link = .opened
        directives.append(.send(.hello(version: AgentFrame.version, app: app, secret: nil, run: run, role: role)))
    }

    mutating func disconnected(_ reason: String?, _ jitter: Double) {
        connection.link = .closed
        channelIs(connected: false)
        channel.endsBeingTold = []
        failOpenings()
        if let reason { report(reason) }
        let longest = Duration.milliseconds(connection.backOff.next())
        if connection.backOff.attempts == Self.quietFailures {
            report("no agent answers at \(place); start one with `aldaba agent` or `aldaba up`. It is tried for ever.")
        }
        let delay = connection.isSlow ? Self.longestBackOff : longest * (0.5 + jitter / 2)
        connection.isSlow = false
        if !connection.isSuperseded { directives.append(.connect(after: delay)) }
    }

    mutating func received(_ message: AgentMessage, _ now: Duration) {
        switch (message, connection.link) {
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

    /// Connecting again would take the app from the process that has it, which would then take it back, without
    /// end.
    mutating func superseded(_ text: String) {
        connection.isSuperseded = true
        report("another process of this app took its place: \(text). End one of the two.")
        leave(slowly: false)
        for (request, _, _) in requests { directives.append(.failRequest(request: request)) }
        requests = []
        if tokens.tokenIsAwaited, case .wanted = tokens.registration {
            tokens.tokenIsAwaited = false
            directives.append(.announceRegistrationFailure(code: AgentMessage.superseded, message: text))
        }
    }

    mutating func leave(slowly: Bool) {
        connection.link = .closed
        connection.isSlow = slowly
        directives.append(.disconnect)
    }

    mutating func welcomed(_ welcome: AgentMessage.Welcome, _ now: Duration) {
        guard welcome.version == AgentFrame.version else {
            report(
                "the agent speaks version \(welcome.version) of the app protocol, this app version "
                    + "\(AgentFrame.version): build both from one release.")
            return leave(slowly: true)
        }
        connection.link = .welcomed
        connection.backOff.reset()
        sendEverythingAgain()
        switch launch {
        case .notBegun:
            state = welcome.state
            launchNotification = welcome.launchNotification
        case .waiting: runLaunch(welcome.state, welcome.launchNotification)
        case .running, .finished: break
        }
    }

    /// Sends the state that the agent needs on a new connection. `ready` is last, so that deliveries begin after the
    /// answers.
    mutating func sendEverythingAgain() {
        for (id, outcome) in deliveries.unconfirmed { send(.handled(notification: id, outcome: outcome)) }
        for (id, _) in replies.unconfirmed { send(.responseHandled(response: id)) }
        for (id, _) in channel.messages.unconfirmed { send(.channel(.taken(message: id))) }
        // A token that is wanted after one that ends is another one: so the end is asked for first.
        for (_, message, _) in requests where message.endsToken { send(message) }
        switch tokens.registration {
        case .untouched: break
        case .wanted(let request): send(.registerForRemoteNotifications(request: request))
        case .unwanted(let request): send(.unregisterForRemoteNotifications(request: request))
        }
        for (_, message, _) in requests where !message.endsToken { send(message) }
        observeActivitiesAgain()
        if case .finished = launch { sendReady() }
    }

    mutating func sendReady() {
        send(.stateChanged(state))
        send(.ready)
        reopenChannel()
    }
}

// MARK: - Launch and state

extension AppSession {
    mutating func beginLaunch(_ now: Duration) {
        guard case .notBegun = launch else { return }
        if app == nil || connection.link == .welcomed {
            runLaunch(state, launchNotification)
            launchNotification = nil
        } else {
            launch = .waiting(until: now + launchTimeout)
        }
    }

    mutating func runLaunch(_ state: AppState, _ notification: DeliveredNotification?) {
        self.state = state
        launch = .running
        directives.append(.launch(state: state, notification: notification))
    }

    mutating func finishLaunch(_ now: Duration) {
        if case .finished = launch { return }
        launch = .finished
        directives.append(.enter(state))
        sendReady()
        pump(now)
        pumpData()
    }

    /// The app has entered this state, by its own declaration or the agent's. An app that is still launching enters it
    /// when it has launched.
    mutating func enter(_ state: AppState) {
        guard self.state != state else { return }
        self.state = state
        guard case .finished = launch else { return }
        directives.append(.enter(state))
        send(.stateChanged(state))
    }

    /// The agent sets the app's state. It is always answered, so that the agent knows that the app received it.
    mutating func directed(_ state: AppState) {
        if self.state == state, case .finished = launch { return send(.stateChanged(state)) }
        enter(state)
    }

    /// Brings the app to the front, and performs a directive between the background and the active state.
    mutating func bringToFront(_ directive: Directive) {
        if state == .background {
            state = .inactive
            directives.append(.enter(.inactive))
        }
        directives.append(directive)
        enter(.active)
    }
}

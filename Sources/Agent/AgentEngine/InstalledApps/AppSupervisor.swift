import AgentProtocol
import PushCore

/// Decides when one app is started, woken, expected and given up: a value, events in and directives out.
///
/// Guarantees: an app is started only while it does not run, as far as is known. For notifications without visible
/// content it is woken as often as its ``BackgroundBudget`` allows. For the same responses it is started again
/// ``startLimit`` times at most.
package struct AppSupervisor<Connection: Sendable>: Sendable {
    /// How often an app that ends without answering is started again for the same responses.
    package static var startLimit: Int { 3 }

    /// The effect of a response on the app that gets it.
    package enum Effect: Hashable, Sendable {
        /// The app stays where it is.
        case none
        /// A button brings the app to the front.
        case foreground
        /// The notification was opened: the app comes to the front by itself.
        case opened
    }

    /// An event of the app, its program or its store.
    package enum Event: Hashable, Sendable {
        /// The time to reconnect has passed; the deadline is that of ``AppRun/awaitReconnect(deadline:)``.
        case returnLimitPassed(deadline: Int)
        /// It is time to see whether the process of the lost connection has ended: then the app is waited for no
        /// longer.
        case endLookDue(deadline: Int, process: Int32)
        /// Whether responses wait for the app is to be read again.
        case responsesRequired
        /// The answer to ``Directive/readResponses``.
        case responsesRead(areWaiting: Bool)
        /// Responses were stored. The effect is that of the last one, and the token lets the app take the focus.
        case responded(Effect, activationToken: String?)
        /// The app has answered.
        case responseHandled
        /// Notifications were stored for the app, which may wake it.
        case stored
        /// A call was stored for the app, which starts it without regard to its budget.
        case called
        /// The answer to ``Directive/readWaking``.
        case wakingRead(isWaiting: Bool)
        /// There is no answer to ``Directive/readWaking`` before this time has passed.
        case wakingUnreadable(pause: Duration)
        /// The time of ``Directive/wakeLater(_:)`` has passed.
        case wakePauseEnded
        /// A person wants to see the app's own settings.
        case settingsWished
        /// The app takes what it is given.
        case ready
        /// The outcome of ``Directive/activate(token:)``.
        case activation(AppActivationOutcome)
        /// The time to answer an activation has passed without an answer.
        case activationLimitPassed(reason: String)
        /// The program of ``Directive/launch(token:)`` runs.
        case launched(process: Int32)
        /// A process that was started has ended.
        case ended(process: Int32)
        /// The time to connect has passed for an app that was started.
        case launchLimitPassed
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Hashable, Sendable {
        /// Show what waits for the app without its answer, as far as that may be.
        case showUnhandled
        /// See whether responses wait for the app, and answer with ``Event/responsesRead(areWaiting:)``.
        case readResponses
        /// See whether something waits that wakes the app, and answer with ``Event/wakingRead(isWaiting:)`` or
        /// ``Event/wakingUnreadable(pause:)``.
        case readWaking
        /// Notify the app, which is connected, of its state.
        case enter(AppState)
        /// Hand over the responses that wait.
        case handResponses
        /// Have the app, which is connected, show its settings.
        case openSettings
        /// Have the session bus bring it to the front, and answer with ``Event/activation(_:)``.
        case activate(token: String?)
        /// Send ``Event/activationLimitPassed(reason:)`` when an app may count as gone.
        case awaitActivation(reason: String)
        /// Give it time to connect.
        case awaitReturn
        /// Send ``Event/endLookDue(deadline:process:)`` soon.
        case lookForEnd(deadline: Int, process: Int32)
        /// Start its program, and answer with ``Event/launched(process:)`` where that succeeds.
        case launch(token: String?)
        /// Answer with ``Event/launchLimitPassed`` when responses have waited long enough.
        case awaitLaunch
        /// Store that what wakes the app waits for its budget.
        case deferWaking
        /// Answer with ``Event/wakePauseEnded`` after this time.
        case wakeLater(Duration)
        /// Give up the responses that wait.
        case dropResponses
        /// Log a notice for the operator.
        case log(Notice)
    }

    /// A notice for the machine's operator.
    package enum Notice: Hashable, Sendable {
        /// The session bus brought it to the front.
        case activated
        /// The app is connected, and did not answer its activation.
        case activationUnanswered(reason: String)
        /// The session bus did not bring it: its program is started.
        case launchedInstead(reason: String)
        /// The app ended too often without answering.
        case startedTooOften
        /// The app's background budget is spent; it is woken later.
        case wokenLater
    }

    /// The facts about the app and the system at the moment of an event.
    package struct Conditions: Sendable {
        /// The app's manifest.
        package var manifest: AppManifest
        /// Whether the app may show notifications.
        package var mayShow: Bool
        /// Whether there is a session bus that starts apps.
        package var hasActivator: Bool
        /// The time.
        package var now: Timestamp
        /// Whether a process of this id is running.
        package var isRunning: @Sendable (Int32) -> Bool

        /// The conditions of one event.
        package init(
            manifest: AppManifest, mayShow: Bool, hasActivator: Bool, now: Timestamp,
            isRunning: @escaping @Sendable (Int32) -> Bool
        ) {
            self.manifest = manifest
            self.mayShow = mayShow
            self.hasActivator = hasActivator
            self.now = now
            self.isRunning = isRunning
        }
    }

    /// Whether it runs, and over which connection.
    package var run: AppRun<Connection>
    /// The app's state while it is connected.
    package private(set) var state = AppState.active
    /// The state of the app when the process that was started last connects.
    private var nextState = AppState.active
    private var budget = BackgroundBudget()
    /// Whether it is woken when its budget allows that again.
    private var isToBeWoken = false
    /// Whether a call waits for the app to be started, or to connect.
    private var isCalled = false
    /// Whether something was stored while the process that was started last had not connected.
    private var isWakeDue = false
    /// The XDG activation token of the last tap, until the app has answered a response.
    private var activationToken: String?
    /// Whether it is being started to show its own settings.
    private var opensSettings = false
    /// Whether the program that keeps the agent running keeps the app running too, and may start it again by itself.
    package var isKeptByOther = false
    /// How often it was started again for responses since it last answered one.
    private var startsForResponses = 0

    /// Supervises an app from now on. What runs of an app with the same name, whose manifest had another program, runs
    /// on without its connection.
    package init(replacing known: AppSupervisor? = nil) {
        run = known?.run ?? .stopped
        run.disconnect()
        activationToken = known?.activationToken
    }

    // MARK: The app's state

    /// Whether it is connected and in front of the person.
    package func isInFront(_ lifecycle: AppManifest.Lifecycle) -> Bool {
        run.connection != nil && (lifecycle == .always || state != .background)
    }

    /// The app has another state now.
    package mutating func enter(_ new: AppState) { state = new }

    /// The app has connected. The focus decides its state, else the reason for which it was started.
    package mutating func setInitialState(byFocus: AppState?) {
        state = byFocus ?? nextState
        nextState = .active
        isCalled = false
    }

    // MARK: Events

    /// Takes an event.
    ///
    /// - Returns: The directives that follow; empty for an event that comes too late.
    package mutating func handle(_ event: Event, _ conditions: Conditions) -> [Directive] {
        switch event {
        case .returnLimitPassed(let deadline):
            return run.deadlinePassed(deadline) ? gone(conditions) : []
        case .endLookDue(let deadline, let process):
            guard run.isAwaited(deadline: deadline) else { return [] }
            guard !conditions.isRunning(process), run.awaitNoLonger(isRunning: conditions.isRunning) else {
                return [.lookForEnd(deadline: deadline, process: process)]
            }
            return gone(conditions)
        case .responsesRequired: return [.readResponses]
        case .responsesRead(let areWaiting):
            return areWaiting || opensSettings ? startAgain(conditions) : wakeOrAnswer(conditions)
        case .responded(let effect, let token): return responded(effect, token: token, conditions: conditions)
        case .responseHandled: (startsForResponses, activationToken) = (0, nil)
        case .stored:
            isWakeDue = run.isStarting
            return wake(conditions)
        case .called:
            isCalled = run.connection == nil
            return startForCall(conditions)
        case .wakingRead(let isWaiting): return isWaiting ? startForWaking(conditions) : []
        case .wakingUnreadable(let pause): return wakeLater(pause)
        case .wakePauseEnded:
            isToBeWoken = false
            return wake(conditions)
        case .settingsWished:
            guard run.connection == nil else { return [.openSettings] }
            (opensSettings, nextState) = (true, .active)
            return start(conditions)
        case .ready:
            guard opensSettings else { return [] }
            (opensSettings, startsForResponses) = (false, 0)
            return [.openSettings]
        case .activation(let outcome): return activated(outcome)
        case .activationLimitPassed(let reason): return launchInstead(reason)
        case .launched(let process): run.start(process: process)
        case .ended(let process): return handleExit(of: process, conditions)
        case .launchLimitPassed:
            guard run.isStopped else { return [] }
            opensSettings = false
            return [.dropResponses]
        }
        return []
    }

    private func gone(_ conditions: Conditions) -> [Directive] {
        (conditions.mayShow ? [.showUnhandled] : []) + [.readResponses]
    }

    // MARK: Responses

    private mutating func responded(
        _ effect: Effect, token: String?, conditions: Conditions
    ) -> [Directive] {
        activationToken = token
        guard run.connection != nil else {
            nextState = effect == .none ? .background : .active
            return [.handResponses] + start(conditions)
        }
        // For an opened notification the app itself keeps Apple's order of calls. It does not know whether a
        // category's button brings it to the front. So the order is kept here: inactive, the response, active.
        let isBrought = effect == .foreground && !isInFront(conditions.manifest.lifecycle)
        return isBrought ? [.enter(.inactive), .handResponses, .enter(.active)] : [.handResponses]
    }

    /// An app that ended ``startLimit`` times with the same responses gets them when it next runs.
    private mutating func startAgain(_ conditions: Conditions) -> [Directive] {
        guard startsForResponses < Self.startLimit else {
            opensSettings = false
            return [.log(.startedTooOften)]
        }
        startsForResponses += 1
        return start(conditions)
    }

    // MARK: Waking

    /// Starts an app that does not run for notifications that wake it, where its manifest and its budget allow that.
    private func wake(_ conditions: Conditions) -> [Directive] {
        guard run.isStopped, conditions.manifest.backgroundModes.contains(AppManifest.remoteNotifications) else {
            return []
        }
        return [.readWaking]
    }

    private mutating func startForCall(_ conditions: Conditions) -> [Directive] {
        guard isCalled, run.isStopped else { return [] }
        (isCalled, nextState) = (false, .background)
        return start(conditions)
    }

    private mutating func wakeOrAnswer(_ conditions: Conditions) -> [Directive] {
        isCalled && run.isStopped ? startForCall(conditions) : wake(conditions)
    }

    private mutating func startForWaking(_ conditions: Conditions) -> [Directive] {
        guard budget.take(at: conditions.now) else {
            return [.log(.wokenLater), .deferWaking] + wakeLater(budget.pause(at: conditions.now))
        }
        nextState = .background
        return start(conditions)
    }

    /// A process that ended without connecting is not started again for the same reason, but for later ones.
    private mutating func handleExit(of process: Int32, _ conditions: Conditions) -> [Directive] {
        guard run.processEnded(process), run.connection == nil else { return [] }
        nextState = .active
        if isCalled { return startForCall(conditions) }
        guard isWakeDue else { return [] }
        isWakeDue = false
        return wake(conditions)
    }

    private mutating func wakeLater(_ pause: Duration) -> [Directive] {
        guard !isToBeWoken else { return [] }
        isToBeWoken = true
        return [.wakeLater(pause)]
    }

    // MARK: Starting

    /// Starts the app, unless it runs, is starting, or may be reconnecting. For the foreground the session bus starts
    /// it, where its manifest allows that.
    private mutating func start(_ conditions: Conditions) -> [Directive] {
        guard run.isStopped else { return [] }
        guard conditions.manifest.dbusActivatable, nextState == .active, conditions.hasActivator else {
            isWakeDue = false
            return [.launch(token: activationToken), .awaitLaunch]
        }
        run.activate()
        return [.activate(token: activationToken), .awaitLaunch]
    }

    private mutating func activated(_ outcome: AppActivationOutcome) -> [Directive] {
        switch outcome {
        case .activated:
            // It runs, and is given the time to connect.
            guard case .activating = run else { return [.log(.activated)] }
            return [.log(.activated), .awaitReturn]
        case .notStarted(let reason): return launchInstead(reason)
        case .unanswered(let reason):
            // The app may run, and a second process would take its place: it is given the time to connect.
            return run.connection == nil
                ? [.awaitActivation(reason: reason)] : [.log(.activationUnanswered(reason: reason))]
        }
    }

    /// Starts the program of an app that the session bus did not start.
    private mutating func launchInstead(_ reason: String) -> [Directive] {
        guard run.activationFailed() else { return [] }
        isWakeDue = false
        return [.log(.launchedInstead(reason: reason)), .launch(token: activationToken)]
    }
}

import AgentEngine
import AgentProtocol
import PushCore
import Testing

@Suite struct AppSupervisorTests {
    private typealias Supervisor = AppSupervisor<String>

    private var supervisor = Supervisor()
    private var manifest = AppManifest(
        id: "com.example.todo", name: "Todo", team: "TEAM000001", executable: "/bin/todo")
    private var hasActivator = false
    private var mayShow = true
    private var running: Set<Int32> = []
    private var now = Timestamp(rawValue: 1_700_000_000_000)

    private mutating func handle(_ event: Supervisor.Event) -> [Supervisor.Directive] {
        supervisor.handle(
            event,
            Supervisor.Conditions(
                manifest: manifest, mayShow: mayShow, hasActivator: hasActivator, now: now,
                isRunning: { [running] in running.contains($0) }))
    }

    /// The app has gone, and the time to come back has passed.
    private mutating func goes(deadline: Int) -> [Supervisor.Directive] {
        supervisor.run.awaitReconnect(deadline: deadline)
        return handle(.returnLimitPassed(deadline: deadline))
    }

    @Test mutating func `a tap starts an app that does not run, once, with what lets it take the focus`() {
        #expect(
            handle(.responded(.opened, activationToken: "tap"))
                == [.handResponses, .launch(token: "tap"), .awaitLaunch])
        #expect(handle(.launched(process: 7)) == [])
        #expect(handle(.responded(.opened, activationToken: "tap")) == [.handResponses])
        supervisor.run.connect("it")
        supervisor.setInitialState(byFocus: nil)
        #expect(supervisor.state == .active)
    }

    @Test mutating func `an app that is started for a button stays in the background, and is elsewhere by the focus`() {
        _ = handle(.responded(.none, activationToken: nil))
        supervisor.run.connect("it")
        supervisor.setInitialState(byFocus: nil)
        #expect(supervisor.state == .background)
        supervisor.setInitialState(byFocus: nil)
        #expect(supervisor.state == .active, "it was started for that once")
        supervisor.setInitialState(byFocus: .background)
        #expect(supervisor.state == .background)
    }

    @Test mutating func `a button that brings a connected app to the front keeps Apple's order`() {
        supervisor.run.connect("it")
        #expect(handle(.responded(.foreground, activationToken: nil)) == [.handResponses], "it is in front")
        supervisor.enter(.background)
        #expect(
            handle(.responded(.foreground, activationToken: nil))
                == [.enter(.inactive), .handResponses, .enter(.active)])
        #expect(handle(.responded(.opened, activationToken: nil)) == [.handResponses])
        manifest.lifecycle = .always
        #expect(handle(.responded(.foreground, activationToken: nil)) == [.handResponses])
    }

    @Test mutating func `who comes back in time is not given up, and who does not is`() {
        supervisor.run.awaitReconnect(deadline: 1)
        supervisor.run.connect("it")
        #expect(handle(.returnLimitPassed(deadline: 1)) == [])
        #expect(goes(deadline: 2) == [.showUnhandled, .readResponses])
        mayShow = false
        #expect(goes(deadline: 3) == [.readResponses])
        #expect(handle(.responsesRead(areWaiting: false)) == [])
    }

    @Test mutating func `an app whose process has ended is not waited for`() {
        running = [7, 8]
        _ = handle(.launched(process: 7))
        supervisor.run.connect("it")
        supervisor.run.awaitReconnect(deadline: 1)
        let look = [Supervisor.Directive.lookForEnd(deadline: 1, process: 8)]
        #expect(handle(.endLookDue(deadline: 1, process: 8)) == look)
        running = [7]
        #expect(handle(.endLookDue(deadline: 1, process: 8)) == look, "the program that was started runs still")
        running = []
        #expect(handle(.endLookDue(deadline: 1, process: 8)) == [.showUnhandled, .readResponses])
        #expect(handle(.responsesRead(areWaiting: true)) == [.launch(token: nil), .awaitLaunch])
        #expect(handle(.returnLimitPassed(deadline: 1)) == [], "it is expected no more")
    }

    @Test mutating func `an app that is back, and one without a known process, is not looked for`() {
        supervisor.run.awaitReconnect(deadline: 1)
        supervisor.run.connect("it")
        #expect(handle(.endLookDue(deadline: 1, process: 8)) == [])
        supervisor.run.awaitReconnect(deadline: 2)
        #expect(handle(.endLookDue(deadline: 1, process: 8)) == [])
    }

    @Test mutating func `an app that ends without answering is started three times for the same responses`() {
        for deadline in 1...Supervisor.startLimit {
            _ = goes(deadline: deadline)
            #expect(handle(.responsesRead(areWaiting: true)) == [.launch(token: nil), .awaitLaunch])
        }
        _ = goes(deadline: 9)
        #expect(handle(.responsesRead(areWaiting: true)) == [.log(.startedTooOften)])
        #expect(handle(.responseHandled) == [])
        _ = goes(deadline: 10)
        #expect(handle(.responsesRead(areWaiting: true)) == [.launch(token: nil), .awaitLaunch])
    }

    @Test mutating func `only an app whose manifest says so is woken, as often as its budget allows`() {
        #expect(handle(.stored) == [])
        manifest.backgroundModes = [AppManifest.remoteNotifications]
        #expect(handle(.stored) == [.readWaking])
        #expect(handle(.wakingRead(isWaiting: false)) == [])
        for _ in 1...BackgroundBudget.capacity {
            #expect(handle(.wakingRead(isWaiting: true)) == [.launch(token: nil), .awaitLaunch])
        }
        let pause = Duration.seconds(20 * 60)
        #expect(handle(.wakingRead(isWaiting: true)) == [.log(.wokenLater), .deferWaking, .wakeLater(pause)])
        #expect(handle(.wakingRead(isWaiting: true)) == [.log(.wokenLater), .deferWaking], "one timer is enough")
        now = now.adding(milliseconds: 20 * 60_000)
        #expect(handle(.wakePauseEnded) == [.readWaking])
        #expect(handle(.wakingRead(isWaiting: true)) == [.launch(token: nil), .awaitLaunch])
        _ = handle(.launched(process: 7))
        #expect(handle(.stored) == [], "it runs")
    }

    @Test mutating func `a call starts an app without regard to its budget, once it does not run`() {
        for _ in 0...BackgroundBudget.capacity {
            #expect(handle(.called) == [.launch(token: nil), .awaitLaunch])
        }
        _ = handle(.launched(process: 7))
        #expect(handle(.called) == [], "it is starting")
        #expect(handle(.ended(process: 7)) == [.launch(token: nil), .awaitLaunch])
        supervisor.run.connect("it")
        #expect(handle(.called) == [], "it runs, and is given the call")
        supervisor.run.awaitReconnect(deadline: 1)
        #expect(handle(.called) == [])
        _ = handle(.returnLimitPassed(deadline: 1))
        #expect(handle(.responsesRead(areWaiting: false)) == [.launch(token: nil), .awaitLaunch])
    }

    @Test mutating func `an app that ends without a word is woken for what came while it was starting`() {
        manifest.backgroundModes = [AppManifest.remoteNotifications]
        _ = handle(.launched(process: 7))
        #expect(handle(.ended(process: 7)) == [])
        _ = handle(.launched(process: 8))
        #expect(handle(.stored) == [], "it is starting")
        #expect(handle(.ended(process: 8)) == [.readWaking])
        _ = handle(.launched(process: 9))
        #expect(handle(.ended(process: 9)) == [])
    }

    @Test mutating func `an app of which it cannot be read whether it is to be woken is looked at again`() {
        #expect(handle(.wakingUnreadable(pause: .seconds(1))) == [.wakeLater(.seconds(1))])
        #expect(handle(.wakingUnreadable(pause: .seconds(1))) == [])
    }

    @Test
    mutating func `the session bus brings to the front what may be, and the program is started where it does not`() {
        (manifest.dbusActivatable, hasActivator) = (true, true)
        #expect(
            handle(.responded(.opened, activationToken: "tap"))
                == [.handResponses, .activate(token: "tap"), .awaitLaunch])
        #expect(
            handle(.activation(.notStarted(reason: "no file"))) == [
                .log(.launchedInstead(reason: "no file")), .launch(token: "tap"),
            ])
        #expect(handle(.activation(.notStarted(reason: "no file"))) == [], "it is not waited for any more")
        #expect(
            handle(.responded(.none, activationToken: nil)) == [.handResponses, .launch(token: nil), .awaitLaunch],
            "what stays in the background is not brought to the front")
    }

    @Test mutating func `an activation without a word gives the app time before its program is started`() {
        (manifest.dbusActivatable, hasActivator) = (true, true)
        _ = handle(.responded(.opened, activationToken: nil))
        #expect(handle(.activation(.unanswered(reason: "late"))) == [.awaitActivation(reason: "late")])
        #expect(handle(.activationLimitPassed(reason: "late")).last == .launch(token: nil))
        _ = handle(.launched(process: 7))
        supervisor.run.connect("it")
        #expect(handle(.activation(.unanswered(reason: "late"))) == [.log(.activationUnanswered(reason: "late"))])
        #expect(handle(.activationLimitPassed(reason: "late")) == [])
    }

    @Test mutating func `who was activated has time to connect`() {
        (manifest.dbusActivatable, hasActivator) = (true, true)
        _ = handle(.responded(.opened, activationToken: nil))
        #expect(handle(.activation(.activated)) == [.log(.activated), .awaitReturn])
        supervisor.run.connect("it")
        #expect(handle(.activation(.activated)) == [.log(.activated)])
    }

    @Test mutating func `settings are shown at once by an app that runs, and by another when it is ready`() {
        #expect(handle(.settingsWished) == [.launch(token: nil), .awaitLaunch])
        supervisor.run.connect("it")
        #expect(handle(.ready) == [.openSettings])
        #expect(handle(.ready) == [])
        #expect(handle(.settingsWished) == [.openSettings])
    }

    @Test mutating func `an app that was started and does not connect is given up`() {
        _ = handle(.settingsWished)
        _ = handle(.launched(process: 7))
        #expect(handle(.launchLimitPassed) == [], "it runs")
        #expect(handle(.ended(process: 7)) == [])
        #expect(handle(.launchLimitPassed) == [.dropResponses])
        #expect(handle(.ready) == [], "nobody waits for its settings any more")
    }

    @Test mutating func `an app of the same name takes over what runs`() {
        _ = handle(.responded(.opened, activationToken: "tap"))
        _ = handle(.launched(process: 7))
        supervisor.run.connect("it")
        var next = Supervisor(replacing: supervisor)
        #expect(next.run.connection == nil && !next.run.isStopped)
        #expect(next.run.processEnded(7) == true)
    }
}

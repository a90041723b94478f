import AgentEngine
import Testing

@Suite struct AppRunTests {
    private typealias Run = AppRun<String>

    @Test func `an app is started from rest only`() {
        var run = Run.stopped
        run.activate()
        run.start(process: 7)
        #expect(!run.isStopped)
        #expect(run.processEnded(7) == false, "the session bus is bringing it")
        #expect(run.activationFailed() == true)
        run.start(process: 7)
        run.start(process: 8)
        #expect(run.processEnded(8) == false)
        #expect(run.processEnded(7) == true)
        #expect(run.isStopped)
    }

    @Test func `a lost connection is waited for, and no longer than its deadline`() {
        var run = Run.stopped
        run.connect("first")
        run.awaitReconnect(deadline: 1)
        #expect(run.connection == nil && !run.isStopped)
        run.connect("second")
        #expect(run.deadlinePassed(1) == false, "it came back")
        run.awaitReconnect(deadline: 2)
        #expect(run.deadlinePassed(1) == false)
        #expect(run.deadlinePassed(2) == true)
        #expect(run.isStopped)
    }

    @Test func `a process that runs is not started again when its connection is lost`() {
        var run = Run.stopped
        run.start(process: 7)
        run.connect("it")
        run.awaitReconnect(deadline: 1)
        #expect(run.deadlinePassed(1) == true)
        #expect(!run.isStopped)
        #expect(run.processEnded(7) == true)
        #expect(run.isStopped)
    }

    @Test func `a process that ends while its connection is open leaves the connection`() {
        var run = Run.stopped
        run.start(process: 7)
        run.connect("it")
        #expect(run.processEnded(7) == true)
        #expect(run.connection == "it")
        run.disconnect()
        #expect(run.isStopped)
    }

    @Test func `an activation that failed after the app connected changes nothing`() {
        var run = Run.stopped
        run.activate()
        run.connect("it")
        #expect(run.activationFailed() == false)
        #expect(run.connection == "it")
    }
}

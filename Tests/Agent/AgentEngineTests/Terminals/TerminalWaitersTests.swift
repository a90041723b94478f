import AgentEngine
import Testing

@Suite struct TerminalWaitersTests {
    @Test func `a terminal that has gone is not waited for`() {
        var waiters = TerminalWaiters<Int>()
        waiters.wait(1, for: "one")
        waiters.wait(2, for: "two")
        #expect(waiters.remove { $0 == 1 } == ["one"])
        #expect(!waiters.isAwaited("one") && waiters.isAwaited("two"))
        #expect(waiters.end("two") == 2)
        #expect(waiters.end("two") == nil)
    }

    @Test func `as many may wait as the limit says`() {
        var waiters = TerminalWaiters<Int>()
        for place in 0..<TerminalWaiters<Int>.limit {
            #expect(!waiters.isFull)
            waiters.wait(place, for: "\(place)")
        }
        #expect(waiters.isFull)
    }
}

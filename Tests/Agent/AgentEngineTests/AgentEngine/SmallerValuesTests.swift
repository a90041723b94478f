import PushCore
import Testing

@testable import AgentEngine

@Suite struct PruningTriggerTests {
    @Test func `the store is looked over after so many notifications, of the apps that got them`() {
        var trigger = PruningTrigger()
        for _ in 1..<PruningTrigger.interval { #expect(trigger.noteStored("a") == nil) }
        #expect(trigger.noteStored("b") == ["a", "b"])
        #expect(trigger.noteStored("c") == nil)
    }
}

@Suite struct ScreenAndQuietHoursTests {
    @Test func `a first word that the screen is open is no change`() {
        var screenAndQuietHours = ScreenAndQuietHours(quietHours: nil)
        #expect(!screenAndQuietHours.isScreenKnown)
        #expect(screenAndQuietHours.screenChanged(isLocked: false) == false)
        #expect(screenAndQuietHours.isScreenKnown)
        #expect(screenAndQuietHours.screenChanged(isLocked: true) == true)
        #expect(screenAndQuietHours.isScreenLocked)
    }
}

@Suite struct ExpiryWatchTests {
    private func at(_ milliseconds: Int64) -> Timestamp { Timestamp(rawValue: milliseconds) }

    @Test func `of all instants the earliest is waited for`() {
        var watch = ExpiryWatch()
        #expect(watch.watch(at(5_000), now: at(1_000)) == 4_000)
        #expect(watch.watch(at(6_000), now: at(1_000)) == nil)
        #expect(watch.watch(at(2_000), now: at(1_000)) == 1_000)
        #expect(watch.passed(at(5_000)) == false, "an earlier look has taken its place")
        #expect(watch.passed(at(2_000)) == true)
        #expect(watch.watch(at(5_000), now: at(2_000)) == 3_000)
    }

    @Test func `what has passed is looked at now, and what is far within the hour`() {
        var watch = ExpiryWatch()
        #expect(watch.watch(at(0), now: at(9)) == 0)
        var other = ExpiryWatch()
        #expect(other.watch(at(1 << 40), now: at(0)) == ExpiryWatch.longestPause)
    }
}

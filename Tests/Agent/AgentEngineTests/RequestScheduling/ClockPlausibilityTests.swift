import Foundation
import PushCore
import Scheduling
import Testing

@testable import AgentEngine

struct ClockPlausibilityTests {
    private static let day: Int64 = 86_400_000
    private static let limit = LocalSchedule.largestPlausibleStep
    private let boot = UUID()

    private func reading(_ sinceBoot: Int64, offset: Int64) -> ClockReading {
        ClockReading(wall: Timestamp(rawValue: sinceBoot + offset), boot: boot, sinceBoot: sinceBoot)
    }

    private func begun(offset: Int64 = 0) -> ClockPlausibility {
        var plausibility = ClockPlausibility()
        plausibility.begin(reading(1000, offset: offset), newest: nil)
        return plausibility
    }

    @Test(
        arguments: [
            (0, .trusted), (limit, .trusted), (-limit, .trusted), (limit + 1, .suspectAhead(until: 62_000)),
            (-limit - 1, .suspectBehind(until: 62_000)), (3650 * day, .suspectAhead(until: 62_000)),
            (-3650 * day, .suspectBehind(until: 62_000)),
        ] as [(Int64, ClockPlausibility.State)])
    func `a jump by more than 25 hours makes a clock suspect`(step: Int64, state: ClockPlausibility.State) {
        var plausibility = begun()
        #expect(plausibility.isTrusted)
        #expect(plausibility.observe(reading(2000, offset: step)) == (state != .trusted))
        #expect(plausibility.state == state && plausibility.isTrusted == (state == .trusted))
        #expect(plausibility.deadline == (state == .trusted ? nil : 62_000))
    }

    @Test(
        arguments: [
            (0, .trusted), (limit, .trusted), (limit + 1, .suspectBehind(until: 61_000)),
            (-limit - 1, .trusted), (-60 * day, .trusted), (-60 * day - 1, .suspectAhead(until: 61_000)),
        ] as [(Int64, ClockPlausibility.State)])
    func `at the beginning a clock is suspect that is behind the newest time in the store, or ahead by two months`(
        newest: Int64, state: ClockPlausibility.State
    ) {
        var plausibility = ClockPlausibility()
        let now = reading(1000, offset: 0)
        plausibility.begin(now, newest: now.wall.adding(milliseconds: newest))
        #expect(plausibility.state == state)
    }

    @Test func `the first reading is trusted where nothing is stored`() {
        #expect(begun(offset: 3650 * Self.day).isTrusted)
    }

    @Test(arguments: [9 * day, -9 * day])
    func `a suspect clock is trusted when it has stood for a minute, not before`(step: Int64) {
        var plausibility = begun()
        #expect(plausibility.observe(reading(2000, offset: step)) == true)
        // Two readings of an unchanged clock differ a little.
        #expect(plausibility.observe(reading(30_000, offset: step + 999)) == false)
        #expect(plausibility.observe(reading(40_000, offset: 2 * step)) == false, "it was set again")
        #expect(plausibility.deadline == 100_000)
        #expect(plausibility.observe(reading(99_999, offset: 2 * step)) == false)
        #expect(plausibility.observe(reading(100_000, offset: 2 * step)) == true)
        #expect(plausibility.isTrusted)
        #expect(
            plausibility.observe(reading(101_000, offset: 2 * step + Self.limit)) == false, "this is where it is now")
    }

    @Test(arguments: [9 * day, -9 * day], [0, limit, -limit])
    func `a clock that is set back to where it was is trusted at once`(step: Int64, error: Int64) {
        var plausibility = begun()
        #expect(plausibility.observe(reading(2000, offset: step)) == true)
        #expect(plausibility.observe(reading(3000, offset: error)) == true)
        #expect(plausibility.isTrusted && plausibility.deadline == nil)
    }

    @Test func `no clock is too far away`() {
        var plausibility = begun(offset: .min / 2)
        #expect(plausibility.observe(reading(1000, offset: .max / 2)) == true)
        #expect(plausibility.observe(reading(2000, offset: .min / 2)) == true)
        plausibility.begin(reading(.max, offset: .min / 2), newest: .distantFuture)
        #expect(plausibility.state == .suspectBehind(until: .max))
    }
}

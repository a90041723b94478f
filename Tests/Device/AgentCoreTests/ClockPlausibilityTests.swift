import Foundation
import LocalSchedule
import Testing

@testable import AgentCore
@testable import DeviceStore

struct ClockPlausibilityTests {
    private static let day: Int64 = 86_400_000
    private let boot = UUID()

    private func moment(_ sinceBoot: Int64, ahead: Int64) -> ClockReading {
        ClockReading(wall: Instant(milliseconds: sinceBoot + ahead), boot: boot, sinceBoot: sinceBoot)
    }

    @Test(arguments: [
        (0, true), (day, true), (day + 3_600_000, true), (day + 3_600_001, false), (3650 * day, false), (-day, true),
    ])
    func `a clock that is set ahead by more than a zone explains is doubted`(step: Int64, isBelieved: Bool) {
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(1000, ahead: 0), newest: nil) == .believed)
        #expect(trust.clockChanged(moment(2000, ahead: step)) == (isBelieved ? .believed : .doubted(number: 1)))
        #expect(trust.isDoubted == !isBelieved)
    }

    @Test func `the first that is heard of is believed`() {
        var trust = ClockPlausibility()
        #expect(trust.clockChanged(moment(1000, ahead: 3650 * Self.day)) == .believed)
    }

    @Test func `a doubted clock is believed when it has stood for a while, not before, and no other`() {
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(1000, ahead: 0), newest: nil) == .believed)
        #expect(trust.clockChanged(moment(2000, ahead: 9 * Self.day)) == .doubted(number: 1))
        // A sleep, or a word of the bus: the clock is as it was.
        #expect(trust.clockChanged(moment(3000, ahead: 9 * Self.day + 10)) == .stillDoubted)
        #expect(trust.clockChanged(moment(4000, ahead: 8 * Self.day)) == .doubted(number: 2))
        #expect(trust.confirm(1, moment(62_000, ahead: 8 * Self.day)) == false)
        #expect(trust.isDoubted)
        #expect(trust.confirm(2, moment(64_000, ahead: 8 * Self.day)) == true)
        #expect(!trust.isDoubted)
        #expect(trust.confirm(2, moment(65_000, ahead: 8 * Self.day)) == false)
        #expect(trust.clockChanged(moment(66_000, ahead: 8 * Self.day)) == .believed)
    }

    @Test func `a clock that is put right is believed at once`() {
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(1000, ahead: 0), newest: nil) == .believed)
        #expect(trust.clockChanged(moment(2000, ahead: 9 * Self.day)) == .doubted(number: 1))
        #expect(trust.clockChanged(moment(3000, ahead: 0)) == .believed)
        #expect(trust.confirm(1, moment(62_000, ahead: 0)) == false)
    }

    @Test func `a clock that is behind what has been is believed when it was set, or after a while`() {
        let newest = Instant(milliseconds: 100 * Self.day)
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(1000, ahead: 99 * Self.day), newest: newest) == .believed)
        #expect(trust.begin(moment(1000, ahead: 0), newest: newest) == .behind(number: 1))
        #expect(trust.isBehind && !trust.isDoubted)
        #expect(trust.clockChanged(moment(2000, ahead: 50 * Self.day)) == .stillDoubted)
        #expect(trust.isBehind)
        #expect(trust.clockChanged(moment(3000, ahead: 4000 * Self.day)) == .believed, "it was off for a while")
        #expect(!trust.isBehind)
        #expect(trust.clockChanged(moment(4000, ahead: 5000 * Self.day)) == .doubted(number: 2))
        var other = ClockPlausibility()
        #expect(other.begin(moment(1000, ahead: 0), newest: newest) == .behind(number: 1))
        #expect(other.confirm(1, moment(601_000, ahead: 0)) == true)
        #expect(!other.isBehind)
    }

    @Test func `a clock that is set back by more than a day may be behind until it is put right, or has stood`() {
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(1000, ahead: 100 * Self.day), newest: nil) == .believed)
        #expect(trust.clockChanged(moment(2000, ahead: 0)) == .behind(number: 1))
        #expect(trust.isBehind && !trust.isDoubted)
        #expect(trust.clockChanged(moment(3000, ahead: 10)) == .stillDoubted)
        #expect(trust.clockChanged(moment(4000, ahead: 100 * Self.day)) == .believed)
        #expect(!trust.isBehind)
        #expect(trust.confirm(1, moment(62_000, ahead: 100 * Self.day)) == false)
        #expect(trust.clockChanged(moment(63_000, ahead: 0)) == .behind(number: 2))
        #expect(trust.confirm(2, moment(123_000, ahead: 0)) == true)
        #expect(!trust.isBehind)
    }

    @Test func `no clock is too far away`() {
        var trust = ClockPlausibility()
        #expect(trust.begin(moment(0, ahead: .min / 2), newest: nil) == .believed)
        #expect(trust.clockChanged(moment(0, ahead: .max / 2)) == .doubted(number: 1))
        #expect(trust.clockChanged(moment(0, ahead: .min / 2)) == .believed, "as it was")
    }
}

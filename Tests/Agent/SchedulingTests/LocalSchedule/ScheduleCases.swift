import CoreValues
import Foundation
import Scheduling
import Testing

/// What the suites of the schedule have in common.
protocol ScheduleCases {}

/// Clocks that go on, are set, and start anew.
struct Clocks {
    var wall: Int64
    var boot = UUID()
    var sinceBoot: Int64 = 1_000_000

    init(_ text: String) throws { wall = try at(text).rawValue }

    var now: ClockReading { ClockReading(wall: Timestamp(rawValue: wall), boot: boot, sinceBoot: sinceBoot) }

    mutating func pass(seconds: Double) {
        wall += Int64(seconds * 1000)
        sinceBoot += Int64(seconds * 1000)
    }

    mutating func step(seconds: Double) { wall += Int64(seconds * 1000) }

    mutating func restart(after seconds: Double) {
        pass(seconds: seconds)
        boot = UUID()
        sinceBoot = 5000
    }
}

extension ScheduleCases {
    func interval(_ seconds: Double, repeats: Bool = false) throws -> LocalSchedule.Trigger {
        .interval(try #require(IntervalPattern(seconds: seconds, repeats: repeats)))
    }

    func daily(hour: Int, minute: Int? = nil, repeats: Bool = true, zone: ZoneRules? = nil)
        -> LocalSchedule.Trigger
    {
        .calendar(CalendarPattern(DateComponents(hour: hour, minute: minute)), zone: zone, repeats: repeats)
    }

    func fire(_ key: RequestKey, _ text: String, lateBy: Int64 = 0, isLast: Bool = false) throws
        -> LocalSchedule.Directive
    {
        .fire(key: key, occurrence: try at(text), lateBy: lateBy, isLast: isLast)
    }

    func missed(_ key: RequestKey, _ text: String, isLast: Bool = false) throws -> LocalSchedule.Directive {
        .missed(key: key, occurrence: try at(text), isLast: isLast)
    }
}

import CoreValues
import Scheduling
import Testing

/// Seconds since 1970 of a date and time as if it were UTC, on the days at which Berlin changes its clocks.
private let springDay: Int64 = 1_774_742_400  // 2026-03-29
private let autumnDay: Int64 = 1_792_886_400  // 2026-10-25

private func berlin() throws -> ZoneRules { try ZoneRules(posix: "CET-1CEST,M3.5.0,M10.5.0/3") }

private func at(_ second: Int64) -> Timestamp { Timestamp(seconds: second) }

@Test func `a local time is once, never or twice`() throws {
    let zone = try berlin()
    let hour: Int64 = 3600
    #expect(zone.match(local: springDay + 9 * hour) == .once(at(springDay + 7 * hour)))
    #expect(zone.match(local: springDay + hour) == .once(at(springDay)))
    // 02:30 is skipped: the gap ends at 01:00 UTC, and half an hour into it shifted is 03:30 there.
    #expect(
        zone.match(local: springDay + 5 * hour / 2)
            == .skipped(end: at(springDay + hour), shifted: at(springDay + 3 * hour / 2)))
    #expect(
        zone.match(local: springDay + 2 * hour) == .skipped(end: at(springDay + hour), shifted: at(springDay + hour)))
    #expect(zone.match(local: springDay + 3 * hour) == .once(at(springDay + hour)))
    #expect(
        zone.match(local: autumnDay + 5 * hour / 2)
            == .twice(first: at(autumnDay + hour / 2), second: at(autumnDay + 3 * hour / 2)))
    #expect(zone.match(local: autumnDay + 3 * hour) == .once(at(autumnDay + 2 * hour)))
}

@Test func `a local time of a fixed zone is once, however far away it is`() {
    let zone = ZoneRules.fixed(secondsFromGMT: 14 * 3600)
    #expect(zone.match(local: 0) == .once(at(-14 * 3600)))
    for extreme in [Int64.min, .max] {
        guard case .once = zone.match(local: extreme) else {
            Issue.record("it is not once")
            return
        }
    }
}

@Test(arguments: ["CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"])
func `every local time that is found is that local time, and none is missed`(text: String) throws {
    let zone = try ZoneRules(posix: text)
    for second in stride(from: springDay - 86_400 * 200, to: springDay + 86_400 * 300, by: 1800) {
        let local = second + Int64(zone.offset(at: at(second)))
        let found: [Timestamp] =
            switch zone.match(local: local) {
            case .once(let instant): [instant]
            case .twice(let first, let second): [first, second]
            case .skipped: []
            }
        #expect(found.contains(at(second)))
        for instant in found {
            #expect(instant.rawValue / 1000 + Int64(zone.offset(at: instant)) == local)
        }
    }
}

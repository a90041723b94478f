import AldabaTestSupport
import CoreValues
import Foundation
import Scheduling
import Testing

struct ZoneRulesTests {
    @Test(arguments: [
        ("New York", "2026-03-08T06:59:59Z", -18_000), ("New York", "2026-03-08T07:00:00Z", -14_400),
        ("New York", "2026-11-01T05:59:59Z", -14_400), ("New York", "2026-11-01T06:00:00Z", -18_000),
        ("Lord Howe", "2026-01-01T00:00:00Z", 39_600), ("Lord Howe", "2026-06-01T00:00:00Z", 37_800),
        ("Dublin", "2026-07-01T00:00:00Z", 3600), ("Dublin", "2026-01-01T00:00:00Z", 0),
        ("Nuuk", "2026-03-29T00:59:59Z", -7200), ("Nuuk", "2026-03-29T01:00:00Z", -3600),
        ("Kathmandu", "2026-01-01T00:00:00Z", 20_700),
        ("<-03>3<-02>,J60/0,J300", "2028-02-29T12:00:00Z", -10_800),
        ("<-03>3<-02>,J60/0,J300", "2028-03-01T03:00:00Z", -7200),
        ("XXX0YYY,59,300", "2028-02-29T02:00:00Z", 3600), ("XXX0YYY,59,300", "2027-02-28T03:00:00Z", 0),
        ("XXX3EDT4,0/0,J365/23", "2027-01-01T03:00:00Z", -14_400), ("AAA5BBB", "2026-07-01T00:00:00Z", -14_400),
        ("XXX-24:59:59", "2026-01-01T00:00:00Z", 89_999),
    ])
    func `a TZ string tells the offset at any time`(zone: String, time: String, offset: Int) throws {
        #expect(try Zones.named(zone).offset(at: at(time)) == offset)
    }

    @Test(arguments: [
        "", "A", "AB1", "ABC", "ABC25", "ABC1:60", "<AB>1", "<ABC1", "ABC1DEF,", "ABC1DEF,M1.1.1",
        "ABC1DEF,M13.1.1,M1.1.1",
        "ABC1DEF,M1.6.1,M1.1.1", "ABC1DEF,M1.1.7,M1.1.1", "ABC1DEF,J0,J1", "ABC1DEF,366,1", "ABC1DEF,1/168,1", "ABC1 ",
        "ABC1DEF,1,2x", "ABC1DEF2:", "Ä BC1", String(repeating: "A", count: 300) + "1",
    ])
    func `what is no TZ string is refused`(text: String) {
        #expect(throws: ZoneRules.Unreadable.self) { try ZoneRules(posix: text) }
    }

    @Test(arguments: Zones.rules.keys.sorted())
    func `every instant is found by what clocks show then, the first of two`(name: String) throws {
        let zone = try Zones.named(name)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<500 {
            let instant = Timestamp(seconds: .random(in: 1_700_000_000...1_900_000_000, using: &generator))
            let shown = instant.adding(milliseconds: Int64(zone.offset(at: instant)) * 1000)
            let fields = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: shown.date)
            let earlier = instant.adding(milliseconds: -86_400_000)
            let found = try #require(CalendarPattern(fields).nextFire(in: zone, after: earlier))
            #expect(found <= instant)
            #expect(found.adding(milliseconds: Int64(zone.offset(at: found)) * 1000) == shown)
        }
    }

    @Test(arguments: [0, 50, 51, 52] as [UInt8])
    func `zone files of all versions are read`(version: UInt8) throws {
        let zone = try ZoneRules(
            file: ZoneFile(
                version: version, transitions: [(-100, 1), (0, 0), (1000, 1)], offsets: [3600, 7200],
                footer: "CET-1CEST,M3.5.0,M10.5.0/3"
            ).bytes)
        #expect(
            [-101, -100, -1, 0, 999].map { zone.offset(at: Timestamp(seconds: $0)) } == [3600, 7200, 7200, 3600, 3600])
        #expect(zone.offset(at: try at("2026-12-01T00:00:00Z")) == (version == 0 ? 7200 : 3600))
    }

    @Test func `a change far away, and one that changes nothing, does not count`() throws {
        let zone = try ZoneRules(
            file: ZoneFile(
                transitions: [(.min, 1), (.min + 1, 0), (0, 0), (5, 1), (.max, 0)], offsets: [0, 60], footer: ""
            ).bytes)
        #expect(try zone == ZoneRules(file: ZoneFile(transitions: [(5, 1)], offsets: [0, 60], footer: "").bytes))
        #expect(
            [Timestamp.distantPast, Timestamp(seconds: 4), Timestamp(seconds: 5), .distantFuture].map(zone.offset) == [
                0, 0, 60, 60,
            ])
    }

    private static let whole = ZoneFile(
        transitions: [(0, 1), (100, 0)], offsets: [3600, 7200], footer: "CET-1CEST,M3.5.0,M10.5.0/3"
    ).bytes

    @Test func `a file that is cut off anywhere is refused`() throws {
        _ = try ZoneRules(file: Self.whole)
        for count in Self.whole.indices {
            #expect(throws: ZoneRules.Unreadable.self) { try ZoneRules(file: Array(Self.whole[..<count])) }
        }
    }

    @Test func `a file with any byte changed is read or refused`() {
        for place in Self.whole.indices {
            for byte: UInt8 in [0, 1, 0x7F, 0x80, 0xFF] {
                var bytes = Self.whole
                bytes[place] = byte
                guard let zone = try? ZoneRules(file: bytes) else { continue }
                _ = CalendarPattern(DateComponents(hour: 9)).nextFire(in: zone, after: Timestamp(seconds: 50))
            }
        }
    }

    @Test(arguments: [
        ZoneFile(offsets: []), ZoneFile(leapSeconds: 1), ZoneFile(version: 49), ZoneFile(version: 65),
        ZoneFile(offsets: [100_000]), ZoneFile(transitions: [(5, 0), (5, 0)]), ZoneFile(transitions: [(5, 1)]),
        ZoneFile(footer: "nothing"), ZoneFile(transitions: (0..<8193).map { ($0, 0) }),
    ])
    func `a file that breaks a rule is refused with a reason`(file: ZoneFile) {
        let error = #expect(throws: ZoneRules.Unreadable.self) { try ZoneRules(file: file.bytes) }
        #expect(error.map { $0.description.count > 20 } == true)
    }

    @Test func `equal zones are equal, however they were made`() throws {
        let one = try ZoneRules(file: Self.whole)
        #expect(try one == ZoneRules(file: Self.whole) && one != .utc)
        #expect(try Set([one, ZoneRules(file: Self.whole), .fixed(secondsFromGMT: 60)]).count == 2)
        #expect(ZoneRules.fixed(secondsFromGMT: .max).offset(at: .distantFuture) == 93_600)
    }

    @Test func `a zone is sampled to the second`() throws {
        let rules = try Zones.named("Berlin")
        let (start, end) = (try at("2020-01-01T00:00:00Z"), try at("2030-01-01T00:00:00Z"))
        let sampled = ZoneRules.sampled(from: start, through: end) { rules.offset(at: $0) }
        for hour in 0..<10 * 365 * 24 {
            let instant = start.adding(milliseconds: Int64(hour) * 3_600_000)
            #expect(sampled.offset(at: instant) == rules.offset(at: instant))
        }
        for text in ["2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", "2026-10-25T00:59:59Z", "2026-10-25T01:00:00Z"] {
            #expect(try sampled.offset(at: at(text)) == rules.offset(at: at(text)))
        }
    }
}

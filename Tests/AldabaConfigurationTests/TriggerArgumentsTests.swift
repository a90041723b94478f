import AgentProtocol
import AldabaConfiguration
import Foundation
import Testing

struct TriggerArgumentsTests {
    @Test(
        arguments: [
            ("90", 90), ("90s", 90), ("10m", 600), ("1h30m", 5400), ("2d", 172_800), ("1w", 604_800), ("1h5", 3900),
            ("1h30", 5400), ("2m30", 150), ("1d12", 129_600), ("1w1", 691_200), ("1h30m5", 5405),
        ] as [(String, Double)])
    func `spans are read with their units`(text: String, seconds: Double) throws {
        #expect(try TriggerArguments(in: text).trigger() == .timeInterval(seconds: seconds, repeats: false))
        #expect(try TriggerArguments(every: text).trigger() == .timeInterval(seconds: seconds, repeats: true))
    }

    @Test func `no words mean at once`() throws { #expect(try TriggerArguments().trigger() == nil) }

    @Test func `times are read, with a day, an offset or a zone`() throws {
        func fields(_ at: String, every: String? = nil, zone: String? = nil) throws -> DateComponents? {
            guard
                case .calendar(let components, let repeats)? = try TriggerArguments(at: at, every: every, zone: zone)
                    .trigger()
            else { return nil }
            #expect(repeats == (every != nil))
            return components
        }
        #expect(try fields("09:30") == DateComponents(hour: 9, minute: 30, second: 0))
        #expect(try fields("9:30") == DateComponents(hour: 9, minute: 30, second: 0))
        #expect(try fields("09:30:15") == DateComponents(hour: 9, minute: 30, second: 15))
        #expect(
            try fields("2026-12-24 18:00")
                == DateComponents(year: 2026, month: 12, day: 24, hour: 18, minute: 0, second: 0))
        #expect(
            try fields("2026-12-24T18:00+05:45")
                == DateComponents(
                    timeZone: TimeZone(secondsFromGMT: 20_700), year: 2026, month: 12, day: 24, hour: 18, minute: 0,
                    second: 0))
        #expect(try fields("2026-12-24 18:00-0330")?.timeZone?.secondsFromGMT() == -12_600)
        #expect(try fields("2026-12-24 18:00+01")?.timeZone?.secondsFromGMT() == 3600)
        #expect(try fields("2026-12-24T18:00Z")?.timeZone?.secondsFromGMT() == 0)
        #expect(try fields("09:30", zone: "Europe/Berlin")?.timeZone?.identifier == "Europe/Berlin")
        #expect(
            try fields("09:30", every: "Monday") == DateComponents(hour: 9, minute: 30, second: 0, weekday: 2))
        #expect(try fields("09:30", every: "day") == DateComponents(hour: 9, minute: 30, second: 0))
        #expect(try TriggerArguments(every: "hour").trigger() == .calendar(DateComponents(minute: 0), repeats: true))
    }

    @Test func `places are read, with a radius or the usual one`() throws {
        guard case .region(let home, false)? = try TriggerArguments(near: "52.52,13.405").trigger(),
            case .region(let away, false)? = try TriggerArguments(near: "-33.9, 151.2, 500", isLeaving: true).trigger()
        else {
            Issue.record("no regions")
            return
        }
        #expect((home.latitude, home.longitude, home.radius) == (52.52, 13.405, 100))
        #expect((home.onEntry, home.onExit) == (true, false))
        #expect((away.latitude, away.radius, away.onEntry, away.onExit) == (-33.9, 500, false, true))
    }

    @Test(arguments: [
        TriggerArguments(in: ""), TriggerArguments(in: "0"), TriggerArguments(in: "-5m"), TriggerArguments(in: "1x"),
        TriggerArguments(in: "m"), TriggerArguments(in: "99999999999999999999d"), TriggerArguments(every: "59s"),
        TriggerArguments(every: "day"), TriggerArguments(at: "9:3"), TriggerArguments(at: "24:00"),
        TriggerArguments(at: "09:60"),
        TriggerArguments(at: "2026-13-01 09:00"), TriggerArguments(at: "tomorrow"),
        TriggerArguments(at: "09:00", every: "5m"),
        TriggerArguments(at: "09:00", every: "hour"), TriggerArguments(at: "09:00", in: "5m"),
        TriggerArguments(near: "1"),
        TriggerArguments(near: "91,0"), TriggerArguments(near: "0,0,0"), TriggerArguments(near: "0,0,x"),
        TriggerArguments(isLeaving: true),
        TriggerArguments(zone: "Europe/Berlin"), TriggerArguments(at: "09:00", zone: "Mars/Olympus"),
        TriggerArguments(at: "2026-12-24T18:00Z", zone: "Europe/Berlin"), TriggerArguments(at: "2026-x-12-24 18:00"),
        TriggerArguments(at: "2026--12-24 18:00"), TriggerArguments(at: "2026-12-24 T 18:00"),
        TriggerArguments(at: "26-12-24 18:00"),
        TriggerArguments(at: "2026-12-24T18:00+0:1:0:0"), TriggerArguments(at: "2026-12-24T18:00+:0100"),
        TriggerArguments(at: "2026-12-24T18:00+18:30"), TriggerArguments(at: "99999999999-12-24 18:00"),
        TriggerArguments(at: "\u{0669}:30"), TriggerArguments(at: "09:00", zone: "BST"),
        TriggerArguments(at: "09:00", zone: "PST"),
        TriggerArguments(at: "09:00", zone: "UTC+05:30"), TriggerArguments(at: "09:00", zone: "../localtime"),
        TriggerArguments(near: "0x10,0"), TriggerArguments(near: "0,0,20000001"), TriggerArguments(near: "0,0,inf"),
    ])
    func `what means nothing is refused with what would be right`(words: TriggerArguments) {
        let failure = #expect(throws: CommandError.self) { try words.trigger() }
        #expect((failure?.description.count ?? 0) > 20)
    }
}

import AldabaTestSupport
import Foundation
import LocalSchedule
import Testing

/// A machine whose clocks are set, that sleeps, travels, and starts anew; and an owner that keeps what the directives say.
private struct Simulation {
    var random: SeededGenerator
    var clocks: LocalScheduleTests.Clocks
    var zone: ZoneRules
    var schedule: LocalSchedule
    var stored: [Int64: LocalSchedule.Entry] = [:]
    var nextKey: Int64 = 1
    let zones: [ZoneRules]
    var told = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        clocks = try LocalScheduleTests.Clocks("2026-03-27T22:00:00Z")
        zones = try Zones.rules.keys.sorted().map(Zones.named)
        zone = zones[0]
        schedule = LocalSchedule(floating: zone)
    }

    mutating func pick(_ range: ClosedRange<Int>) -> Int { .random(in: range, using: &random) }

    mutating func trigger() -> LocalSchedule.Trigger {
        let repeats = pick(0...2) > 0
        if pick(0...2) == 0, let pattern = IntervalPattern(seconds: Double(pick(60...90_000)), repeats: repeats) {
            return .interval(pattern)
        }
        var fields = DateComponents()
        switch pick(0...5) {
        case 0: fields.minute = pick(0...59)
        case 1: (fields.hour, fields.weekday) = (pick(0...23), pick(1...7))
        case 2: (fields.hour, fields.day) = (pick(0...4), pick(1...31))
        case 3: (fields.year, fields.month, fields.day, fields.hour) = (2026, pick(3...5), pick(1...30), pick(0...23))
        default: (fields.hour, fields.minute) = (pick(0...23), pick(0...59))
        }
        return .calendar(CalendarPattern(fields), zone: pick(0...1) == 0 ? nil : zones[pick(0...3)], repeats: repeats)
    }

    mutating func add() {
        let policy: [MissedPolicy] = [.standard, .drop, .deliver(within: 3_600_000)]
        let entry = LocalSchedule.Entry(trigger: trigger(), added: clocks.now, missed: policy[pick(0...2)])
        let key = pick(0...9) == 0 ? Int64(pick(1...max(1, Int(nextKey)))) : nextKey
        nextKey += 1
        stored[key] = schedule.add(key, entry, now: clocks.now) == .never ? nil : entry
    }

    mutating func step() {
        switch pick(0...19) {
        case 0...5: add()
        case 6:
            if let key = stored.keys.sorted().randomElement(using: &random) {
                stored[key] = nil
                schedule.remove(key)
            }
        case 7...14: pass(seconds: Double(pick(0...7200)))
        case 15: pass(seconds: Double(pick(0...180_000)))
        case 16:
            clocks.step(seconds: Double(pick(-10_000...10_000)))
            take(schedule.clockChanged(now: clocks.now))
        case 17:
            zone = zones[pick(0...zones.count - 1)]
            take(schedule.zoneChanged(floating: zone, now: clocks.now))
        case 18: startAnew { $0.pass(seconds: 90) }
        default: startAnew { $0.restart(after: 4000) }
        }
        settle()
        #expect(schedule.count == stored.count)
    }

    /// The agent ends, something happens, and it takes over what it had stored.
    mutating func startAnew(_ change: (inout LocalScheduleTests.Clocks) -> Void) {
        change(&clocks)
        schedule = LocalSchedule(floating: zone)
        for key in stored.keys.sorted() {
            guard let entry = stored[key] else { continue }
            if schedule.add(key, entry, now: clocks.now) == .never { stored[key] = nil }
        }
    }

    /// Time passes without anything else: each repeating entry whose fields have matched since then is told of.
    mutating func pass(seconds: Double) {
        settle()
        let before = clocks.now.wall
        clocks.pass(seconds: seconds)
        var expected: [Int64: Instant] = [:]
        for (key, entry) in stored {
            guard case .calendar(let pattern, let named, true) = entry.trigger else { continue }
            var last = max(before, entry.lastFired ?? .min)
            while let next = pattern.nextFire(in: named ?? zone, after: last), next <= clocks.now.wall {
                expected[key] = next
                last = next
            }
        }
        settle()
        for (key, occurrence) in expected {
            let fired = stored[key]?.lastFired
            #expect(fired == occurrence || stored[key] == nil)
        }
    }

    mutating func settle() {
        while case let directives = schedule.timePassed(now: clocks.now, limit: pick(1...3)), !directives.isEmpty {
            take(directives)
        }
        #expect(schedule.nextDeadline.map { $0 > clocks.now.wall } ?? true)
    }

    mutating func take(_ directives: [LocalSchedule.Directive]) {
        for directive in directives {
            told += 1
            switch directive {
            case .anchored(let key, let added, let lastFired):
                #expect(
                    stored[key] != nil && added.boot == clocks.boot && added.sinceBoot == stored[key]?.added.sinceBoot)
                stored[key]?.added = added
                stored[key]?.lastFired = lastFired
            case .fire(let key, let occurrence, let late, let isLast):
                #expect(late == clocks.now.wall.since(occurrence) && late >= 0)
                #expect(stored[key].map { $0.missed.mayFire(late) } == true)
                took(key, occurrence, isLast)
            case .missed(let key, let occurrence, let isLast):
                took(key, occurrence, isLast)
            }
        }
    }

    private mutating func took(_ key: Int64, _ occurrence: Instant, _ isLast: Bool) {
        guard let entry = stored[key] else {
            Issue.record("\(key) is told of, but does not wait")
            return
        }
        #expect(occurrence > entry.lastFired ?? .min, "told of twice")
        if case .calendar(let pattern, let named, let repeats) = entry.trigger {
            #expect(repeats || isLast)
            if occurrence <= clocks.now.wall {
                let found = pattern.nextFire(in: named ?? zone, after: occurrence.advanced(by: -1))
                #expect(found == occurrence)
            }
        }
        stored[key]?.lastFired = occurrence
        if isLast { stored[key] = nil }
    }
}

extension MissedPolicy {
    /// The policy, once more.
    fileprivate func mayFire(_ late: Int64) -> Bool {
        if late <= 60_000 { return true }
        if case .deliver(let window) = self { return late <= window }
        return false
    }
}

struct ScheduleSimulationTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `nothing is told of twice and nothing is lost, whatever the clocks do`(seed: UInt64) throws {
        var simulation = try Simulation(seed: seed)
        for _ in 0..<300 { simulation.step() }
        #expect(simulation.told > 50)
        // In the end all one-shots have left.
        simulation.clocks.pass(seconds: 50 * 366 * 86_400)
        simulation.settle()
        #expect(
            simulation.stored.values.allSatisfy { entry in
                switch entry.trigger {
                case .interval(let pattern): pattern.repeats
                case .calendar(_, _, let repeats): repeats
                }
            })
    }
}

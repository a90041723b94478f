import AldabaTestSupport
import CoreValues
import Foundation
import Scheduling
import Testing

/// A machine whose clocks are set, that sleeps, travels, and starts anew; and an owner that keeps what the directives say.
private struct Simulation {
    var random: SeededGenerator
    var clocks: Clocks
    var zone: ZoneRules
    var schedule: LocalSchedule
    var stored: [RequestKey: LocalSchedule.Entry] = [:]
    /// The least that the wall clock has said since each was added.
    var least: [RequestKey: Timestamp] = [:]
    var nextKey: Int64 = 1
    let zones: [ZoneRules]
    var told = 0

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        clocks = try Clocks("2026-03-27T22:00:00Z")
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
        let key = RequestKey(rawValue: pick(0...9) == 0 ? Int64(pick(1...max(1, Int(nextKey)))) : nextKey)
        nextKey += 1
        stored[key] = schedule.add(key, entry, now: clocks.now) == .never ? nil : entry
        least[key] = clocks.now.wall
        if stored[key] == nil { expectNever(entry, least: clocks.now.wall) }
    }

    /// What leaves without having fired has no time left: none after it was added, nor after the least that the clock said.
    func expectNever(_ entry: LocalSchedule.Entry, least: Timestamp) {
        guard case .calendar(let pattern, let named, _) = entry.trigger else {
            Issue.record("an interval has always a time")
            return
        }
        // Where fields float, the clocks on the wall count, which were another zone's.
        let begun = min(entry.added.wall, least).adding(milliseconds: named == nil ? 26 * 3_600_000 : 0)
        #expect(pattern.nextFire(in: named ?? zone, after: begun) == nil)
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
            // Now and then by years, and mostly put right again.
            let years = pick(0...9) == 0 ? Double(pick(1...9) * 365 * 86_400) : 0
            setClock(by: years + Double(pick(-10_000...10_000)))
            if years > 0, pick(0...3) > 0 {
                settle()
                setClock(by: -years)
            }
        case 17:
            zone = zones[pick(0...zones.count - 1)]
            take(schedule.zonesChanged(floating: zone, named: { _ in nil }, now: clocks.now))
        case 18: startAnew { $0.pass(seconds: 90) }
        default: startAnew { $0.restart(after: 4000) }
        }
        settle()
        #expect(schedule.count == stored.count)
    }

    mutating func setClock(by seconds: Double) {
        clocks.step(seconds: seconds)
        for key in least.keys { least[key] = least[key].map { min($0, clocks.now.wall) } }
        // After a jump that no person makes on purpose the schedule is made anew.
        if abs(seconds) * 1000 > Double(LocalSchedule.largestPlausibleStep) {
            startAnew { _ in }
        } else {
            schedule.clockChanged(now: clocks.now)
        }
    }

    /// The agent ends, something happens, and it takes over what it had stored.
    mutating func startAnew(_ change: (inout Clocks) -> Void) {
        change(&clocks)
        schedule = LocalSchedule(floating: zone)
        for key in stored.keys.sorted() {
            guard let entry = stored[key] else { continue }
            guard schedule.add(key, entry, now: clocks.now) == .never else { continue }
            expectNever(entry, least: least[key] ?? .distantFuture)
            stored[key] = nil
        }
    }

    /// Time passes without anything else: of each entry the newest occurrence that has come since then is told.
    mutating func pass(seconds: Double) {
        settle()
        let before = clocks.now.wall
        clocks.pass(seconds: seconds)
        let expected = stored.compactMapValues { newest(of: $0, after: before) }
        let entries = stored
        settle()
        for (key, occurrence) in expected {
            guard let entry = entries[key] else { continue }
            // One of a certain year ends though it repeats.
            let isLast = !entry.repeats || next(of: entry, after: occurrence) == nil
            let isTold = isLast ? stored[key] == nil : stored[key]?.lastFired == occurrence
            #expect(isTold, "\(key) should have come at \(occurrence.date) since \(before.date)")
        }
        for (key, entry) in entries where expected[key] == nil { #expect(stored[key] == entry) }
    }

    /// The newest occurrence of an entry that has come since a time.
    func newest(of entry: LocalSchedule.Entry, after before: Timestamp) -> Timestamp? {
        var found: Timestamp?
        var last = max(before, entry.lastFired ?? .distantPast)
        while let next = next(of: entry, after: last), next <= clocks.now.wall {
            (found, last) = (next, next)
            if !entry.repeats { break }
        }
        return found
    }

    func next(of entry: LocalSchedule.Entry, after last: Timestamp) -> Timestamp? {
        switch entry.trigger {
        case .calendar(let pattern, let named, _): pattern.nextFire(in: named ?? zone, after: last)
        case .interval(let pattern): pattern.nextFire(start: entry.added.wall, after: last)
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
                #expect(stored[key] != nil && added.boot == clocks.boot)
                if case .interval? = stored[key]?.trigger, stored[key]?.added.boot == added.boot {
                    #expect(added.sinceBoot == stored[key]?.added.sinceBoot)
                }
                stored[key]?.added = added
                stored[key]?.lastFired = lastFired
            case .fire(let key, let occurrence, let late, let isLast):
                #expect(late == clocks.now.wall.milliseconds(since: occurrence) && late >= 0)
                #expect(stored[key].map { $0.missed.mayFire(late) } == true)
                note(key, command: occurrence, status: isLast)
            case .missed(let key, let occurrence, let isLast):
                note(key, command: occurrence, status: isLast)
            }
        }
    }

    private mutating func note(_ key: RequestKey, command occurrence: Timestamp, status isLast: Bool) {
        guard let entry = stored[key] else {
            Issue.record("\(key) is told of, but does not wait")
            return
        }
        #expect(occurrence > entry.lastFired ?? .distantPast, "told of twice")
        switch entry.trigger {
        case .interval(let pattern):
            let passed = occurrence.milliseconds(since: entry.added.wall)
            #expect(passed > 0 && passed % pattern.milliseconds == 0)
        case .calendar(let pattern, let named, let repeats):
            #expect(repeats || isLast)
            if named != nil {
                #expect(occurrence > min(entry.added.wall, least[key] ?? .distantFuture), "of before it was added")
            }
            if occurrence <= clocks.now.wall {
                let found = pattern.nextFire(in: named ?? zone, after: occurrence.adding(milliseconds: -1))
                #expect(found == occurrence)
            }
        }
        stored[key]?.lastFired = occurrence
        if isLast { stored[key] = nil }
    }
}

extension LocalSchedule.Entry {
    fileprivate var repeats: Bool {
        switch trigger {
        case .interval(let pattern): pattern.repeats
        case .calendar(_, _, let repeats): repeats
        }
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
        #expect(simulation.stored.values.allSatisfy { $0.repeats })
    }
}

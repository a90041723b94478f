import CoreValues
import Foundation
import Glibc
import Scheduling
import UserNotifications

/// How long local triggers take, and how much memory: `ScheduleRate COUNT`. Prints a JSON object.
@main
enum ScheduleRate {
    static func main() throws {
        guard CommandLine.arguments.count == 2, let count = Int(CommandLine.arguments[1]), count > 0 else {
            print("ScheduleRate COUNT")
            exit(2)
        }
        var figures: [String: Double] = [:]
        schedule(count, &figures)
        plainHeap(count, &figures)
        for (name, fields) in patterns { searches(name, fields, &figures) }
        triggers(&figures)
        impossible("Hebrew", .hebrew, DateComponents(month: 13, day: 30, hour: 9), &figures)
        impossible("Chinese", .chinese, DateComponents(month: 1, hour: 9, weekOfYear: 40), &figures)
        let line = try JSONSerialization.data(withJSONObject: figures, options: [.sortedKeys])
        print(String(decoding: line, as: UTF8.self))
    }

    private static let start = Timestamp(seconds: 1_780_272_000)

    private static let patterns: [(String, DateComponents)] = [
        ("hour and minute", DateComponents(hour: 9, minute: 30)),
        ("weekday and hour", DateComponents(hour: 9, weekday: 2)),
        ("minute", DateComponents(minute: 30)),
        ("31st of a month", DateComponents(day: 31, hour: 9)),
        ("29 February on a Monday", DateComponents(month: 2, day: 29, hour: 9, weekday: 2)),
        ("30 February", DateComponents(month: 2, day: 30)),
        ("week 40 in April", DateComponents(month: 4, hour: 9, weekOfYear: 40)),
    ]

    /// Adds so many, half of them intervals, and lets all become due.
    private static func schedule(_ count: Int, _ figures: inout [String: Double]) {
        let zone = LocalZones.shared.rules(named: "Europe/Berlin") ?? .utc
        let boot = UUID()
        var moment = ClockReading(wall: start, boot: boot, sinceBoot: 0)
        let before = anonymousMemory()
        var schedule = LocalSchedule(floating: zone)
        figures["add, microseconds"] = microseconds(count) {
            for key in 0..<Int64(count) {
                let trigger: LocalSchedule.Trigger
                if key % 2 == 0, let interval = IntervalPattern(seconds: Double(1 + key * 7 % 80_000), repeats: false) {
                    trigger = .interval(interval)
                } else {
                    let fields = DateComponents(hour: Int(key / 2 % 24), minute: Int(key / 48 % 60))
                    trigger = .calendar(CalendarPattern(fields), zone: nil, repeats: false)
                }
                _ = schedule.add(
                    RequestKey(rawValue: key), LocalSchedule.Entry(trigger: trigger, added: moment), now: moment)
            }
        }
        figures["memory, MiB"] = anonymousMemory() - before
        figures["memory at most, MiB"] = peakMemory() - before
        moment.wall = moment.wall.adding(milliseconds: 86_400_000)
        moment.sinceBoot += 86_400_000
        var told = 0
        figures["tell, microseconds"] = microseconds(count) {
            while case let directives = schedule.timePassed(now: moment, limit: 256), !directives.isEmpty {
                told += directives.count
            }
        }
        guard told == count else { fail("\(told) of \(count) came") }
    }

    /// The same numbers in a heap of bare numbers, without a table of places.
    private static func plainHeap(_ count: Int, _ figures: inout [String: Double]) {
        var heap = PlainHeap()
        figures["plain heap, add, microseconds"] = microseconds(count) {
            for key in 0..<Int64(count) { heap.push(key &* 7_919 % 86_400_000) }
        }
        var last = Int64.min
        figures["plain heap, take, microseconds"] = microseconds(count) {
            while let next = heap.pop() {
                guard next >= last else { fail("the heap is out of order") }
                last = next
            }
        }
    }

    /// The next moment from many starts, ours and Foundation's.
    private static func searches(_ name: String, _ fields: DateComponents, _ figures: inout [String: Double]) {
        guard let zone = LocalZones.shared.rules(named: "America/New_York"),
            let foundationZone = TimeZone(identifier: "America/New_York")
        else { fail("there is no zone America/New_York") }
        let pattern = CalendarPattern(fields)
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = foundationZone
        let starts = (0..<20_000).map { start.adding(milliseconds: Int64($0) * 7_777_777) }
        percentiles("\(name), ours", starts, &figures) { _ = pattern.nextFire(in: zone, after: $0) }
        percentiles("\(name), Foundation", Array(starts.prefix(200)), &figures) {
            _ = calendar.nextDate(after: $0.date, matching: fields, matchingPolicy: .strict)
        }
    }

    /// What an app asks: `nextTriggerDate()`, of every pattern in turn, without a zone and with one.
    private static func triggers(_ figures: inout [String: Double]) {
        let triggers = patterns.flatMap { _, fields in
            [nil, TimeZone(identifier: "America/New_York")].map { zone in
                var fields = fields
                fields.timeZone = zone
                return UNCalendarNotificationTrigger(dateMatching: fields, repeats: true)
            }
        }
        let starts = (0..<20_000).map { Timestamp(rawValue: $0) }
        percentiles("nextTriggerDate", starts, &figures) {
            _ = triggers[Int($0.rawValue) % triggers.count].nextTriggerDate()
        }
    }

    /// A date that no year of another calendar has: looked for at first, in years that nobody has looked at, and again.
    private static func impossible(
        _ name: String, _ identifier: Calendar.Identifier, _ fields: DateComponents, _ figures: inout [String: Double]
    ) {
        let calendar = Calendar(identifier: identifier)
        var fields = fields
        (fields.calendar, fields.timeZone) = (calendar, TimeZone(identifier: "America/New_York"))
        let trigger = UNCalendarNotificationTrigger(dateMatching: fields, repeats: true)
        var found: Date?
        figures["\(name) never, first, microseconds"] = microseconds(1) { found = trigger.nextTriggerDate() }
        guard found == nil, let zone = LocalZones.shared.rules(named: "America/New_York") else { fail("it was found") }
        percentiles("\(name) never, again", Array(repeating: start, count: 20_000), &figures) { _ in
            _ = trigger.nextTriggerDate()
        }
        figures["\(name) never, Foundation, microseconds"] = microseconds(1) {
            _ = calendar.nextDate(after: start.date, matching: fields, matchingPolicy: .strict)
        }
        let pattern = CalendarPattern(fields)
        let moments = (1...100).map { start.adding(milliseconds: Int64($0) * 50 * 365 * 86_400_000) }
        percentiles("\(name) never, elsewhere", moments, warmed: 0, &figures) {
            _ = pattern.nextFire(in: zone, after: $0)
        }
    }

    private static func percentiles(
        _ name: String, _ starts: [Timestamp], warmed: Int = 20, _ figures: inout [String: Double],
        _ search: (Timestamp) -> Void
    ) {
        for each in starts.prefix(warmed) { search(each) }
        let times = starts.map { each in microseconds(1) { search(each) } }.sorted()
        figures["\(name), p50 microseconds"] = times[times.count / 2]
        figures["\(name), p99 microseconds"] = times[times.count * 99 / 100]
    }

    private static func microseconds(_ count: Int, _ body: () -> Void) -> Double {
        let taken = ContinuousClock().measure(body)
        return taken / .microseconds(1) / Double(count)
    }

    private static func anonymousMemory() -> Double { status("RssAnon") }
    private static func peakMemory() -> Double { status("VmHWM") }

    /// A line of the process' status, in MiB.
    private static func status(_ name: String) -> Double {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        return Double(line?.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "0").map { $0 / 1024 } ?? 0
    }

    private static func fail(_ reason: String) -> Never {
        print("ScheduleRate: \(reason)")
        exit(1)
    }
}

/// A binary heap of numbers.
private struct PlainHeap {
    private var numbers: [Int64] = []

    mutating func push(_ number: Int64) {
        numbers.append(number)
        var place = numbers.count - 1
        while place > 0, numbers[place] < numbers[(place - 1) / 2] {
            numbers.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func pop() -> Int64? {
        guard let first = numbers.first, let last = numbers.popLast() else { return nil }
        guard !numbers.isEmpty else { return first }
        numbers[0] = last
        var place = 0
        while 2 * place + 1 < numbers.count {
            var child = 2 * place + 1
            if child + 1 < numbers.count, numbers[child + 1] < numbers[child] { child += 1 }
            guard numbers[child] < numbers[place] else { break }
            numbers.swapAt(place, child)
            place = child
        }
        return first
    }
}

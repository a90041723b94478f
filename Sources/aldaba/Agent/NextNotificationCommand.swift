import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import Scheduling

/// `aldaba notifications next`: when fields of a calendar match.
struct NextNotificationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next",
        abstract: "Print when a notification with these calendar fields would fire.",
        discussion: """
            Such as `aldaba notifications next --zone Europe/Berlin hour=2 minute=30`. Fields: era, year, month, day, \
            hour, minute, second, nanosecond, weekday (1 is Sunday), weekdayOrdinal, quarter, weekOfMonth, weekOfYear, \
            yearForWeekOfYear, dayOfYear, isLeapMonth (0 or 1). Times are those of the zone's clocks. No agent is asked.
            """)

    @Argument(help: ArgumentHelp("What must match, as field=number.", valueName: "field=number"))
    var fields: [String] = []
    @Option(help: "The zone by its name, such as Europe/Berlin (default: the machine's).") var zone: String?
    @Option(help: "After when, in ISO 8601 (default: now).") var after: String?
    @Option(help: "The number of dates to print.") var count = 1
    @Option(help: "The calendar, such as iso8601 (default: gregorian).") var calendar: String?
    @Flag(
        help: """
            Read JSON objects from standard input, one a line, with the members zone, after (seconds since 1970), \
            fields, count and calendar, and answer each with a line that holds the seconds since 1970.
            """)
    var batch = false

    private static let most = 10_000

    func run() throws {
        if batch { return try answerLines() }
        guard !fields.isEmpty else { throw CommandError(.usage, "give fields, such as hour=9 minute=30") }
        var question = Question(zone: zone, fields: [:], count: count, calendar: calendar)
        for text in fields {
            let parts = text.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, let number = Int(parts[1]) else {
                throw CommandError(.usage, "\"\(text)\" is not field=number, such as hour=9")
            }
            guard question.fields.updateValue(number, forKey: String(parts[0])) == nil else {
                throw CommandError(.usage, "the field \(parts[0]) is given twice")
            }
        }
        if let after {
            guard let date = try? Date(after, strategy: .iso8601) else {
                throw CommandError(.usage, "\"\(after)\" is not a time in ISO 8601, such as 2026-03-28T00:00:00Z")
            }
            question.after = date.timeIntervalSince1970
        }
        let found = try question.answer()
        if found.isEmpty { Terminal.write("Never.") }
        let rules = try question.rules()
        for next in found { print(next.text(secondsFromGMT: rules.offset(at: next))) }
    }

    private func answerLines() throws {
        var lines = ""
        while let line = readLine() {
            let question: Question
            do {
                question = try JSONDecoder().decode(Question.self, from: Data(line.utf8))
            } catch {
                throw CommandError(.invalidInput, "a line of standard input is not such an object: \(error)")
            }
            let seconds = try question.answer().map { "\(Double($0.rawValue) / 1000)" }
            lines += "[\(seconds.joined(separator: ","))]\n"
            if lines.utf8.count > 1 << 16 {
                print(lines, terminator: "")
                lines = ""
            }
        }
        print(lines, terminator: "")
    }

    /// A trigger whose next times are wanted, as a line of a batch contains it.
    private struct Question: Decodable {
        var zone: String?
        var after: Double?
        var fields: [String: Int]
        var count: Int?
        var calendar: String?

        func answer() throws -> [Timestamp] {
            guard (1...NextNotificationCommand.most).contains(count ?? 1) else {
                throw CommandError(.usage, "between 1 and \(NextNotificationCommand.most) can be told")
            }
            let rules = try rules()
            let pattern = CalendarPattern(try components())
            var last = after.map { Timestamp(Date(timeIntervalSince1970: $0)) } ?? Timestamp(Date())
            var found: [Timestamp] = []
            while found.count < count ?? 1, let next = pattern.nextFire(in: rules, after: last) {
                found.append(next)
                last = next
            }
            return found
        }

        func rules() throws -> ZoneRules {
            let choice = ZoneChoice(try zone.map { name throws(CommandError) in try TimeWords.zone(named: name) })
            guard let rules = LocalZones.shared.rules(for: choice) else {
                throw CommandError(.failed, "the rules of the zone \(zone ?? "of this machine") cannot be read")
            }
            return rules
        }

        private func components() throws -> DateComponents {
            var components = DateComponents()
            if let calendar { components.calendar = try Self.calendar(calendar) }
            for (name, number) in fields {
                if name == "isLeapMonth", number == 0 || number == 1 {
                    components.isLeapMonth = number == 1
                    continue
                }
                guard let path = Self.names[name] else {
                    let known = Self.names.keys.sorted().joined(separator: ", ")
                    throw CommandError(
                        .usage, "there is no field \"\(name)\"; there are \(known), and isLeapMonth, which is 0 or 1")
                }
                components[keyPath: path] = number
            }
            return components
        }

        private static func calendar(_ name: String) throws -> Calendar {
            guard let identifier = calendars[name] else {
                let known = calendars.keys.sorted().joined(separator: ", ")
                throw CommandError(.usage, "there is no calendar \"\(name)\"; there are \(known)")
            }
            return Calendar(identifier: identifier)
        }

        private static let calendars: [String: Calendar.Identifier] = [
            "gregorian": .gregorian, "iso8601": .iso8601, "buddhist": .buddhist, "japanese": .japanese,
            "republicOfChina": .republicOfChina, "chinese": .chinese, "coptic": .coptic, "hebrew": .hebrew,
            "indian": .indian, "islamic": .islamic, "islamicUmmAlQura": .islamicUmmAlQura, "persian": .persian,
        ]

        private static let names: [String: any WritableKeyPath<DateComponents, Int?> & Sendable] = [
            "era": \.era, "year": \.year, "month": \.month, "day": \.day, "hour": \.hour, "minute": \.minute,
            "second": \.second, "nanosecond": \.nanosecond, "weekday": \.weekday,
            "weekdayOrdinal": \.weekdayOrdinal, "quarter": \.quarter, "weekOfMonth": \.weekOfMonth,
            "weekOfYear": \.weekOfYear, "yearForWeekOfYear": \.yearForWeekOfYear, "dayOfYear": \.dayOfYear,
        ]
    }
}

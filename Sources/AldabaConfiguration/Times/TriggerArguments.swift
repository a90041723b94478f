import AgentProtocol
import Foundation
import Scheduling

/// When a notification is to appear, as people say it on a command line.
package struct TriggerArguments: Sendable {
    /// `09:30`, `2026-12-24 18:00`, or with an offset from UTC `2026-12-24T18:00+01:00`.
    package var at: String?
    /// `90m`, `day`, `hour`, `monday`, …
    package var every: String?
    /// `10m`, `1h30m`, …
    package var `in`: String?
    /// `LATITUDE,LONGITUDE` and `,RADIUS` in metres.
    package var near: String?
    /// Whether `near` means leaving that place.
    package var isLeaving: Bool
    /// The zone in which `at` is meant; `nil` for wherever the machine is then.
    package var zone: String?

    /// Takes the arguments unchecked; ``trigger()`` reads them.
    package init(
        at: String? = nil, every: String? = nil, in interval: String? = nil, near: String? = nil,
        isLeaving: Bool = false,
        zone: String? = nil
    ) {
        self.at = at
        self.every = every
        self.in = interval
        self.near = near
        self.isLeaving = isLeaving
        self.zone = zone
    }

    /// The trigger that the arguments describe; `nil` when none are given: at once.
    ///
    /// - Throws: ``CommandError`` of usage with what is wrong and what would be right.
    package func trigger() throws(CommandError) -> NotificationTrigger? {
        let kinds = [at ?? every, `in`, near].compactMap { $0 }
        guard kinds.count <= 1 else {
            throw CommandError(.usage, "give one of --at or --every (or both), --in and --near")
        }
        guard zone == nil || at != nil else { throw CommandError(.usage, "--zone belongs to --at") }
        guard !isLeaving || near != nil else { throw CommandError(.usage, "--leaving belongs to --near") }
        if let near { return try region(near) }
        if let text = `in` { return .timeInterval(seconds: try Self.seconds(text, "--in", atLeast: 1), repeats: false) }
        if let every { return try repeated(every) }
        return try at.map { text throws(CommandError) in .calendar(try fields(of: text), repeats: false) }
    }

    // MARK: Intervals

    private static let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    /// The unit of a last number without one, by the unit before it.
    private static let smallerUnits: [Character: Double] = ["m": 1, "h": 60, "d": 3_600, "w": 86_400]

    /// The seconds of a span as people write it: `90`, `90s`, `1h30m`, `1h30`: whole numbers with units. A last number
    /// without one has the unit below that before it, and seconds where there is none.
    ///
    /// - Parameter option: The option that has the span, for what is wrong with it.
    /// - Throws: ``CommandError`` of usage, where it is none, is shorter than `least` or longer than a hundred years.
    package static func seconds(_ text: String, _ option: String, atLeast least: Double) throws(CommandError)
        -> Double
    {
        var (sum, number, isUnitOpen, last) = (0.0, "", true, 1.0)
        for character in text {
            if character.isASCII, character.isNumber {
                number.append(character)
                continue
            }
            guard let unit = units[character], let count = Double(number) else {
                isUnitOpen = false
                break
            }
            sum += count * unit
            (number, last) = ("", smallerUnits[character] ?? .nan)
        }
        if let count = Double(number) { sum += count * last }
        guard isUnitOpen, sum >= least, sum <= 3_155_760_000 else {
            throw CommandError(
                .usage,
                "\(option) must be a span of at least \(Int(least)) s and at most a hundred years, such as 90s, 10m, "
                    + "1h30m or 2d, not \(text)")
        }
        return sum
    }

    // MARK: Times of the calendar

    private static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    private func repeated(_ every: String) throws(CommandError) -> NotificationTrigger {
        let word = every.lowercased()
        let weekday = Self.weekdays.firstIndex(of: word).map { $0 + 1 }
        guard word == "day" || word == "hour" || weekday != nil else {
            let meant =
                NearestWord.to(word, among: Self.weekdays + ["day", "hour"]).map { "; did you mean \($0)?" } ?? ""
            guard at == nil else {
                throw CommandError(
                    .usage, "--every with --at must be day or a day of the week, such as monday, not \(every)\(meant)")
            }
            guard word.first?.isNumber == true else {
                throw CommandError(
                    .usage,
                    "--every must be a span such as 90m, or hour, or with --at day or a day of the week, not "
                        + "\(every)\(meant)")
            }
            return .timeInterval(seconds: try Self.seconds(word, "--every", atLeast: 60), repeats: true)
        }
        if word == "hour" {
            guard at == nil else { throw CommandError(.usage, "every hour has no time of day: leave --at out") }
            return .calendar(DateComponents(minute: 0), repeats: true)
        }
        guard let at, let time = TimeWords.time(at) else {
            throw CommandError(
                .usage, "every \(word) needs a time of day, such as --at 09:30\(at.map { ", not \($0)" } ?? "")")
        }
        var components = DateComponents(
            timeZone: try namedZone(), hour: time.hour, minute: time.minute, second: time.second)
        components.weekday = weekday
        return .calendar(components, repeats: true)
    }

    private func fields(of text: String) throws(CommandError) -> DateComponents {
        if let time = TimeWords.time(text) {
            return DateComponents(timeZone: try namedZone(), hour: time.hour, minute: time.minute, second: time.second)
        }
        guard var components = TimeWords.moment(text) else {
            throw CommandError(
                .usage,
                "--at must be a time such as 09:30, a day and a time such as \"2026-12-24 18:00\", or one with its "
                    + "offset from UTC such as 2026-12-24T18:00+01:00, not \(text)")
        }
        if components.timeZone != nil, zone != nil {
            throw CommandError(.usage, "--at has an offset from UTC already: leave --zone out")
        }
        if let named = try namedZone() { components.timeZone = named }
        return components
    }

    private func namedZone() throws(CommandError) -> TimeZone? {
        guard let zone else { return nil }
        return try TimeWords.zone(named: zone)
    }

    // MARK: Places

    private static let usualRadius = 100.0

    private static func decimal(_ text: String) -> Double? {
        text.allSatisfy { $0.isASCII && ($0.isNumber || "+-.".contains($0)) } ? Double(text) : nil
    }

    private func region(_ text: String) throws(CommandError) -> NotificationTrigger {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Self.decimal($0.trimmingCharacters(in: .whitespaces)) }
        guard (2...3).contains(parts.count), numbers.count == parts.count, abs(numbers[0]) <= 90,
            abs(numbers[1]) <= 180,
            numbers.count < 3 || (numbers[2] > 0 && numbers[2] <= RegionWatch.largestRadius)
        else {
            throw CommandError(
                .usage,
                "--near must be LATITUDE,LONGITUDE or LATITUDE,LONGITUDE,RADIUS in degrees and metres (up to "
                    + "20000000), such as 52.52,13.405,200, not \(text)")
        }
        return .region(
            NotificationTrigger.Region(
                identifier: text, latitude: numbers[0], longitude: numbers[1],
                radius: numbers.count == 3 ? numbers[2] : Self.usualRadius, onEntry: !isLeaving, onExit: isLeaving),
            repeats: false)
    }
}

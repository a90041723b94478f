import Foundation
import Scheduling

/// Times of the calendar as people write them, parsed strictly: an inexact form is refused.
package enum TimeWords {
    /// `HH:MM` or `HH:MM:SS`; an hour below ten may have one digit.
    static func time(_ text: some StringProtocol) -> (hour: Int, minute: Int, second: Int)? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(parts.count), let hour = number(parts[0], digits: 1...2), hour < 24,
            let minute = number(parts[1], digits: 2...2), minute < 60,
            let second = parts.count == 3 ? number(parts[2], digits: 2...2) : 0, second < 60
        else { return nil }
        return (hour, minute, second)
    }

    /// A day and a time with a space or a `T` between them, and perhaps an offset from UTC at the end: `2026-12-24
    /// 18:00`, `2026-12-24T18:00+01:00`. Whether the calendar has the day is not checked.
    static func moment(_ text: String) -> DateComponents? {
        let (rest, offset) = split(text)
        let parts = rest.split(omittingEmptySubsequences: false) { $0 == " " || $0 == "T" }
        guard parts.count == 2, let time = time(parts[1]) else { return nil }
        let days = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard days.count == 3, let year = number(days[0], digits: 4...4), year > 0,
            let month = number(days[1], digits: 2...2), (1...12).contains(month),
            let day = number(days[2], digits: 2...2), (1...31).contains(day)
        else { return nil }
        return DateComponents(
            timeZone: offset.flatMap { TimeZone(secondsFromGMT: $0) }, year: year, month: month, day: day,
            hour: time.hour, minute: time.minute, second: time.second)
    }

    /// The offset from UTC at the end, in seconds: `Z`, `+01:00`, `-0330`, `+01`.
    private static func split(_ text: String) -> (rest: Substring, offset: Int?) {
        if text.hasSuffix("Z") { return (text.dropLast(), 0) }
        guard let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }), text[..<sign].contains(":") else {
            return (text[...], nil)
        }
        let parts = text[text.index(after: sign)...].split(separator: ":", omittingEmptySubsequences: false)
        let hours = parts.first?.prefix(2) ?? ""
        let minutes = parts.count == 2 ? parts[1] : parts.first?.dropFirst(2) ?? ""
        guard parts.count == 1 || parts.count == 2 && parts[0].count == 2, let hour = number(hours, digits: 2...2),
            let minute = minutes.isEmpty && parts.count == 1 ? 0 : number(minutes, digits: 2...2), minute < 60,
            hour * 60 + minute <= 18 * 60
        else { return (text[...], nil) }
        let seconds = (hour * 60 + minute) * 60
        return (text[..<sign], text[sign] == "-" ? -seconds : seconds)
    }

    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.count), text.allSatisfy({ $0.isASCII && $0.isNumber }) else { return nil }
        return Int(text)
    }

    /// The zone of a name in this machine's zone files, or in Foundation's. Abbreviations are refused: different
    /// people mean different zones by them.
    ///
    /// - Throws: ``CommandError`` of usage with what would be right.
    package static func zone(named name: String) throws(CommandError) -> TimeZone {
        guard LocalZones.shared.hasFile(named: name) || TimeZone.knownTimeZoneIdentifiers.contains(name),
            let zone = TimeZone(identifier: name)
        else {
            throw CommandError(.usage, "there is no time zone \(name); name one such as Europe/Berlin or UTC")
        }
        return zone
    }
}

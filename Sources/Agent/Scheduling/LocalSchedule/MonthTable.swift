import Foundation
import Synchronization

/// The months of a non-Gregorian calendar, by day number. Foundation is the source.
///
/// The table is filled in blocks of 1,024 days, on first use: Foundation is asked for about two days of each month. 64
/// blocks are kept. There is one table for each calendar of the process.
final class MonthTable: Sendable {
    /// Consecutive days of one month with consecutive numbers.
    struct Segment: Sendable {
        var first: Int32
        /// The day number of the first day of its year.
        var yearFirst: Int32
        var era: Int16
        var year: Int16
        /// The number of the year, counted through all eras.
        var number: Int16
        var length: UInt8
        var month: UInt8
        /// The day of the month of its first day.
        var firstDay: Int8
        var isLeap: Bool

        var days: Range<Int> { Int(first)..<Int(first) + Int(length) }
    }

    /// More days than any one year has, and fewer than any two years have.
    private static let beyondYear = 386
    private static let shift = 10
    private static let blockLimit = 64
    private static let tables = Mutex<[Calendar.Identifier: MonthTable?]>([:])

    private let source: NonGregorianCalendar
    private let blocks = Mutex<[Int: [Segment]]>([:])
    /// The first day and the number of one year, from which other years are estimated by the mean length of a year.
    private let anchor: (first: Int, number: Int)
    private let yearLength: Double

    /// The table of a calendar; `nil` when Foundation does not know the days of its years.
    static func table(of identifier: Calendar.Identifier) -> MonthTable? {
        tables.withLock { tables in
            if let known = tables[identifier] { return known }
            let days = NonGregorianCalendar(identifier)
            let table = days.isGregorian ? nil : MonthTable(days)
            tables[identifier] = .some(table)
            return table
        }
    }

    private init?(_ source: NonGregorianCalendar) {
        let early = GregorianCalendar.dayNumber(year: 1900, month: 1, day: 1)
        let late = GregorianCalendar.dayNumber(year: 2300, month: 1, day: 1)
        guard let start = source[early]?.yearFirst, let end = source[late]?.yearFirst else { return nil }
        anchor = (start, source.number(ofYearFrom: start))
        let years = source.number(ofYearFrom: end) - anchor.number
        guard years > 0 else { return nil }
        yearLength = Double(end - start) / Double(years)
        self.source = source
    }

    /// The numbers of the years with this name that end at or after a day: one, or the next two of a calendar that
    /// numbers its years in cycles.
    func numbers(ofYear year: Int, era: Int?, from day: Int) -> [Int] {
        guard let cycle = source.cycle else { return [year] }
        guard let now = segment(at: day) else { return [] }
        let zero = Int(now.number) - Int(now.year)
        if let era { return [zero + (era - Int(now.era)) * cycle + year] }
        return year >= Int(now.year) ? [zero + year, zero + year + cycle] : [zero + year + cycle]
    }

    /// The days of a year; empty beyond 13,000 years from 1970.
    func days(ofYear number: Int) -> Range<Int> {
        var guess = Double(anchor.first) + (Double(number - anchor.number) + 0.5) * yearLength
        for _ in 0..<4 {
            guard abs(guess) < 5_000_000, let found = segment(at: Int(guess)) else { break }
            let first = Int(found.yearFirst)
            if Int(found.number) == number { return first..<max(first, nextYear(after: first)) }
            guess = Double(Int(found.number) < number ? first + Self.beyondYear : first - 1)
        }
        return 0..<0
    }

    /// The first day of the year after the one that begins with a day.
    func nextYear(after first: Int) -> Int { yearFirst(of: first + Self.beyondYear) ?? first }

    /// The first day of the year of a day.
    func yearFirst(of day: Int) -> Int? { segment(at: day).map { Int($0.yearFirst) } }

    /// The segment of a day.
    func segment(at day: Int) -> Segment? {
        block(at: day).first { $0.days.contains(day) }
    }

    /// The segments of the block of a day, in order.
    func block(at day: Int) -> [Segment] {
        let key = day >> Self.shift
        if let known = blocks.withLock({ $0[key] }) { return known }
        let made = source.segments(in: key << Self.shift..<(key + 1) << Self.shift)
        blocks.withLock { blocks in
            if blocks.count >= Self.blockLimit { blocks.removeAll() }
            blocks[key] = made
        }
        return made
    }
}

extension MonthTable: Hashable {
    static func == (left: MonthTable, right: MonthTable) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

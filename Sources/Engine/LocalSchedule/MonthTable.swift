import Foundation
import Synchronization

/// The months of a calendar that is not Gregorian, as Foundation tells them, by the numbers of their days.
///
/// Foundation is asked about two days of each month, once, when somebody first looks at the 1024 days around it; what it
/// said of 64 times as many is kept. All who look into a calendar share one table.
final class MonthTable: Sendable {
    /// Days of one month in a row, numbered one after the other.
    struct Stretch: Sendable {
        var first: Int32
        /// The first day of the year in which it is.
        var yearFirst: Int32
        var era: Int16
        var year: Int16
        /// The year, counted through all eras.
        var number: Int16
        var length: UInt8
        var month: UInt8
        /// What its first day is called within the month.
        var firstDay: Int8
        var isLeap: Bool

        var days: Range<Int> { Int(first)..<Int(first) + Int(length) }
    }

    /// More days than any year has, and fewer than any two have.
    private static let beyondYear = 386
    private static let shift = 10
    private static let mostPieces = 64
    private static let tables = Mutex<[Calendar.Identifier: MonthTable?]>([:])

    private let source: NonGregorianCalendar
    private let pieces = Mutex<[Int: [Stretch]]>([:])
    /// A year's first day and number, and how long years are, for guesses.
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
        let early = Civil.day(year: 1900, month: 1, day: 1)
        let late = Civil.day(year: 2300, month: 1, day: 1)
        guard let start = source[early]?.yearFirst, let end = source[late]?.yearFirst else { return nil }
        anchor = (start, source.number(ofYearFrom: start))
        let years = source.number(ofYearFrom: end) - anchor.number
        guard years > 0 else { return nil }
        yearLength = Double(end - start) / Double(years)
        self.source = source
    }

    /// Years by their number that are called so and end at or after a day: one, or of a calendar that numbers its years
    /// within cycles the next two.
    func numbers(ofYear year: Int, era: Int?, from day: Int) -> [Int] {
        guard let cycle = source.cycle else { return [year] }
        guard let now = stretch(at: day) else { return [] }
        let zero = Int(now.number) - Int(now.year)
        if let era { return [zero + (era - Int(now.era)) * cycle + year] }
        return year >= Int(now.year) ? [zero + year, zero + year + cycle] : [zero + year + cycle]
    }

    /// The days of a year; empty when that is too far away.
    func days(ofYear number: Int) -> Range<Int> {
        var guess = Double(anchor.first) + (Double(number - anchor.number) + 0.5) * yearLength
        for _ in 0..<4 {
            guard abs(guess) < 5_000_000, let found = stretch(at: Int(guess)) else { break }
            let first = Int(found.yearFirst)
            if Int(found.number) == number { return first..<max(first, nextYear(after: first)) }
            guess = Double(Int(found.number) < number ? first + Self.beyondYear : first - 1)
        }
        return 0..<0
    }

    /// The first day of the next year, of a year's first.
    func nextYear(after first: Int) -> Int { yearFirst(of: first + Self.beyondYear) ?? first }

    /// The first day of the year in which a day is.
    func yearFirst(of day: Int) -> Int? { stretch(at: day).map { Int($0.yearFirst) } }

    /// The stretch in which a day is.
    func stretch(at day: Int) -> Stretch? {
        piece(at: day).first { $0.days.contains(day) }
    }

    /// All stretches around a day, in order: those of the 1024 days of which it is one.
    func piece(at day: Int) -> [Stretch] {
        let key = day >> Self.shift
        if let known = pieces.withLock({ $0[key] }) { return known }
        let made = source.stretches(in: key << Self.shift..<(key + 1) << Self.shift)
        pieces.withLock { pieces in
            if pieces.count >= Self.mostPieces { pieces.removeAll() }
            pieces[key] = made
        }
        return made
    }
}

extension MonthTable: Hashable {
    static func == (left: MonthTable, right: MonthTable) -> Bool { left === right }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

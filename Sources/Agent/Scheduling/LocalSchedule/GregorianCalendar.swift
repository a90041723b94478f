/// The proleptic Gregorian calendar. Days have numbers: 1970-01-01 is day 0.
enum GregorianCalendar {
    static let secondsPerDay: Int64 = 86_400
    static let millisecondsPerDay: Int64 = 86_400_000

    /// The day number of a date; `month` is 1 to 12.
    static func dayNumber(year: Int, month: Int, day: Int) -> Int {
        // Years begin in March here, so that 29 February is the last day of its year.
        let shifted = month <= 2 ? year - 1 : year
        let era = floorQuotient(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The date of a day number.
    static func date(ofDay number: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = number + 719_468
        let era = floorQuotient(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    /// The day of the week: 0 for Sunday to 6 for Saturday.
    static func weekday(ofDay number: Int) -> Int {
        let rest = (number + 4) % 7
        return rest < 0 ? rest + 7 : rest
    }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func length(ofMonth month: Int, year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floorQuotient(_ value: Int, _ divisor: Int) -> Int {
        (value >= 0 ? value : value - divisor + 1) / divisor
    }
}

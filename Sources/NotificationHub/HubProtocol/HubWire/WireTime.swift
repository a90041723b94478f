import PushCore

/// The instants of Azure's data plane, in every spelling that its clients send.
///
/// `2030-01-01T00:00:00`, with or without seconds, a fraction, a zone and quotation marks round the T; without a zone
/// it is UTC.
package enum WireTime {
    /// The text that Azure writes where there is no expiry.
    package static let never = "9999-12-31T23:59:59.9999999Z"

    /// The beginning of the year 9999: later instants mean that there is no expiry.
    package static let noExpiry = Timestamp(seconds: 253_370_764_800)

    /// Reads an instant; `nil` for anything else.
    package static func read(_ text: String) -> Timestamp? {
        var reader = Reader(text: Array(text.utf8).filter { $0 != UInt8(ascii: "'") && $0 != UInt8(ascii: "\"") })
        return reader.instant()
    }

    /// `2030-01-01T00:00:00Z`, with milliseconds where there are any.
    package static func write(_ instant: Timestamp) -> String {
        let text = instant.description
        return instant.rawValue % 1000 == 0 ? text.replacing(".000Z", with: "Z") : text
    }

    private struct Reader {
        var text: [UInt8]
        var place = 0

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard place < text.count, text[place] == UInt8(ascii: character) else { return false }
            place += 1
            return true
        }

        mutating func digits(_ count: Int) -> Int64? {
            guard place + count <= text.count else { return nil }
            var value: Int64 = 0
            for byte in text[place..<place + count] {
                guard (48...57).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - 48)
            }
            place += count
            return value
        }

        mutating func instant() -> Timestamp? {
            guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2),
                (1...12).contains(month), day >= 1, day <= WireTime.days(month, year)
            else { return nil }
            var milliseconds = WireTime.days(year, month: month, day: day) * 86_400_000
            if take("T") || take("t") || take(" ") {
                guard let hour = digits(2), take(":"), let minute = digits(2), hour < 24, minute < 60 else {
                    return nil
                }
                milliseconds += hour * 3_600_000 + minute * 60_000
                if take(":") {
                    guard let second = digits(2), second < 60 else { return nil }
                    milliseconds += second * 1000
                    if take(".") {
                        guard let fraction = fraction() else { return nil }
                        milliseconds += fraction
                    }
                }
            }
            guard let offset = zone(), place == text.count else { return nil }
            return Timestamp(rawValue: milliseconds - offset * 60_000)
        }

        /// Milliseconds; further digits are cut off.
        private mutating func fraction() -> Int64? {
            let start = place
            while place < text.count, (48...57).contains(text[place]) { place += 1 }
            guard place > start else { return nil }
            let digits = Array(text[start..<place].prefix(3)) + [48, 48, 48]
            return digits.prefix(3).reduce(0) { $0 * 10 + Int64($1 - 48) }
        }

        /// Minutes east of Greenwich.
        private mutating func zone() -> Int64? {
            if place == text.count || take("Z") || take("z") { return 0 }
            let sign: Int64
            if take("+") { sign = 1 } else if take("-") { sign = -1 } else { return nil }
            guard let hours = digits(2), hours < 24 else { return nil }
            _ = take(":")
            guard let minutes = digits(2), minutes < 60 else { return nil }
            return sign * (hours * 60 + minutes)
        }
    }

    private static func days(_ month: Int64, _ year: Int64) -> Int64 {
        let lengths: [Int64] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 && isLeap ? 29 : lengths[Int(month) - 1]
    }

    /// Days since 1970, counted in eras of 400 years that begin on 1 March.
    private static func days(_ year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

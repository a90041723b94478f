extension ZoneFooter {
    /// Reads a TZ string; `nil` for any other text.
    init?(_ text: some Collection<UInt8>) {
        guard text.count <= 256 else { return nil }
        var reader = Reader(bytes: Array(text))
        guard reader.name(), let standard = reader.offset() else { return nil }
        self.standard = -standard
        if reader.isAtEnd { return }
        guard let daylight = reader.daylight(standard: self.standard) else { return nil }
        self.daylight = daylight
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        var isAtEnd: Bool { place == bytes.count }

        mutating func take(_ character: Character) -> Bool {
            guard place < bytes.count, bytes[place] == character.asciiValue else { return false }
            place += 1
            return true
        }

        private mutating func skip(while isWanted: (UInt8) -> Bool) -> Int {
            let start = place
            while place < bytes.count, isWanted(bytes[place]) { place += 1 }
            return place - start
        }

        private static func isLetter(_ byte: UInt8) -> Bool { (65...90).contains(byte & 0xDF) }
        private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

        /// The abbreviation of an offset, of three characters at least. It is not kept.
        mutating func name() -> Bool {
            guard take("<") else { return skip(while: Self.isLetter) >= 3 }
            let length = skip { Self.isLetter($0) || Self.isDigit($0) || $0 == 43 || $0 == 45 }
            return take(">") && length >= 3
        }

        /// A number of up to three digits, within a range.
        private mutating func number(_ range: ClosedRange<Int>) -> Int? {
            let start = place
            guard (1...3).contains(skip(while: Self.isDigit)) else { return nil }
            let value = bytes[start..<place].reduce(0) { $0 * 10 + Int($1) - 48 }
            return range.contains(value) ? value : nil
        }

        /// `[+-]hh[:mm[:ss]]` in seconds.
        private mutating func time(hours: Int) -> Int64? {
            let isNegative = take("-")
            if !isNegative { _ = take("+") }
            guard let hour = number(0...hours) else { return nil }
            var seconds = hour * 3600
            for unit in [60, 1] {
                guard take(":") else { break }
                guard let value = number(0...59) else { return nil }
                seconds += value * unit
            }
            return Int64(isNegative ? -seconds : seconds)
        }

        mutating func offset() -> Int64? { time(hours: 24) }

        mutating func daylight(standard: Int64) -> Daylight? {
            guard name() else { return nil }
            var offset = standard + 3600
            if !isAtEnd, bytes[place] != 44 {
                guard let written = self.offset() else { return nil }
                offset = -written
            }
            if isAtEnd {
                // POSIX leaves the default rules to the implementation; these are the C library's.
                return Daylight(
                    offset: offset, begins: Rule(day: .inMonth(month: 3, week: 2, weekday: 0), time: 7200),
                    ends: Rule(day: .inMonth(month: 11, week: 1, weekday: 0), time: 7200))
            }
            guard take(","), let begins = rule(), take(","), let ends = rule(), isAtEnd else { return nil }
            return Daylight(offset: offset, begins: begins, ends: ends)
        }

        private mutating func rule() -> Rule? {
            guard let day = day() else { return nil }
            guard take("/") else { return Rule(day: day, time: 7200) }
            return time(hours: 167).map { Rule(day: day, time: $0) }
        }

        private mutating func day() -> Rule.Day? {
            if take("J") { return number(1...365).map(Rule.Day.withoutLeapDay) }
            guard take("M") else { return number(0...365).map(Rule.Day.ofYear) }
            guard let month = number(1...12), take("."), let week = number(1...5), take("."),
                let weekday = number(0...6)
            else { return nil }
            return .inMonth(month: month, week: week, weekday: weekday)
        }
    }
}

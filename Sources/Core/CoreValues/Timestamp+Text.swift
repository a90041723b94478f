extension Timestamp {
    /// Reads ISO 8601 in UTC, `2026-11-21T04:05:06Z` with or without a fraction; `nil` for any other text.
    package init?(text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard (20...30).contains(bytes.count), bytes.last == UInt8(ascii: "Z") else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            var value: Int64 = 0
            for byte in bytes[range] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
                value = value * 10 + Int64(byte - UInt8(ascii: "0"))
            }
            return value
        }
        let separators: [(Int, Character)] = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":")]
        guard separators.allSatisfy({ bytes[$0] == $1.asciiValue }), let year = number(0..<4),
            let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
            let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        var milliseconds: Int64 = 0
        if bytes.count > 20 {
            guard bytes[19] == UInt8(ascii: "."), number(20..<bytes.count - 1) != nil else { return nil }
            let digits = (bytes[20..<bytes.count - 1] + [UInt8](repeating: UInt8(ascii: "0"), count: 3)).prefix(3)
            milliseconds = digits.reduce(0) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
        }
        // The days from civil date, counted in years that begin on 1 March.
        let marchYear = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let days = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + dayOfYear - 719_468
        self.init(rawValue: ((days * 24 + hour) * 60 + minute) * 60_000 + second * 1000 + milliseconds)
        // A day that the month does not have becomes one of the next.
        guard description.utf8.prefix(10).elementsEqual(bytes.prefix(10)) else { return nil }
    }
}

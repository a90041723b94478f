import Foundation

/// The JSON of attributes and content states: that of Foundation's coders with their default settings, as on Apple's
/// systems. Dates are seconds since 2001.
enum ActivityJSON {
    static func text(of value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    static func value<Value: Decodable>(of text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }

    /// The milliseconds from 1970 to a date; `nil` for a date that has no such number.
    static func milliseconds(_ date: Date) -> Int64? {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000).rounded())
    }
}

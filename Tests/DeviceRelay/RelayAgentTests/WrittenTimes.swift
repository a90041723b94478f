import CoreValues

/// Times as tests write them: a number of milliseconds since 1970.
extension Timestamp: ExpressibleByIntegerLiteral {
    package init(integerLiteral milliseconds: Int64) { self.init(rawValue: milliseconds) }

    /// The instant so many milliseconds later.
    static func + (instant: Timestamp, milliseconds: Int64) -> Timestamp { instant.adding(milliseconds: milliseconds) }

    /// Adds milliseconds.
    static func += (instant: inout Timestamp, milliseconds: Int64) { instant = instant + milliseconds }

    /// The instant so many milliseconds earlier.
    static func - (instant: Timestamp, milliseconds: Int64) -> Timestamp { instant.adding(milliseconds: -milliseconds) }
}

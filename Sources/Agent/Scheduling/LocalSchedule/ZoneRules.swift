import CoreValues

/// The offsets from UTC of one time zone: the transitions of a zone file, and the rule of its footer for later times.
///
/// A value of one reference: copies share their tables. Two values are equal when their offsets are; the name does not
/// count.
package struct ZoneRules: Hashable, Sendable {
    /// A period with a constant offset, in seconds since 1970; the offset is in seconds east of UTC.
    struct OffsetPeriod {
        /// The first second; `Int64.min` for the first period.
        var start: Int64
        /// The first second after it; `Int64.max` for the last period.
        var end: Int64
        var offset: Int64

        /// The local time at its end, in seconds; `Int64.max` for the last period.
        var localEnd: Int64 { end == .max ? .max : end + offset }
    }

    /// The largest absolute offset of a zone, in seconds: RFC 8536, 3.2 allows -25 to +26 hours.
    static let largestOffset: Int64 = 26 * 3600

    private let table: Table

    /// The zone's name in the zone files, such as Europe/Berlin; `nil` for rules without a name, such as a fixed
    /// offset.
    package var name: String? { table.name }

    /// The same rules with a name.
    package func named(_ name: String) -> ZoneRules {
        ZoneRules(
            table: Table(
                initial: table.initial, transitions: table.transitions, offsets: table.offsets, footer: table.footer,
                footerStart: table.footerStart, name: name))
    }

    private init(table: Table) { self.table = table }

    /// - Parameters:
    ///   - transitions: When another offset begins, ascending.
    ///   - offsets: The offset that begins with each transition.
    ///   - footerStart: From when on the rule of the footer counts.
    init(initial: Int64, transitions: [Int64], offsets: [Int32], footer: ZoneFooter?, footerStart: Int64) {
        table = Table(
            initial: initial, transitions: transitions, offsets: offsets, footer: footer, footerStart: footerStart)
    }

    init(footer: ZoneFooter) {
        self.init(initial: footer.standard, transitions: [], offsets: [], footer: footer, footerStart: .min)
    }

    /// A zone with a fixed offset in seconds east of UTC, clamped to 26 hours.
    package static func fixed(secondsFromGMT: Int) -> ZoneRules {
        let offset = Swift.min(Swift.max(Int64(secondsFromGMT), -largestOffset), largestOffset)
        return ZoneRules(initial: offset, transitions: [], offsets: [], footer: nil, footerStart: .max)
    }

    /// UTC.
    package static let utc = fixed(secondsFromGMT: 0)

    /// The offset at an instant, in seconds east of UTC.
    package func offset(at instant: Timestamp) -> Int {
        Int(period(at: instant.rawValue.floorDivided(by: 1000)).offset)
    }

    /// The period of a second.
    func period(at second: Int64) -> OffsetPeriod { table.period(at: second) }

    package static func == (left: ZoneRules, right: ZoneRules) -> Bool {
        left.table === right.table || left.table.isEqual(to: right.table)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(table.initial)
        hasher.combine(table.transitions.count)
        hasher.combine(table.transitions.last)
        hasher.combine(table.footer)
    }

    private final class Table: Sendable {
        let initial: Int64
        let transitions: [Int64]
        let offsets: [Int32]
        let footer: ZoneFooter?
        let footerStart: Int64
        let name: String?

        init(
            initial: Int64, transitions: [Int64], offsets: [Int32], footer: ZoneFooter?, footerStart: Int64,
            name: String? = nil
        ) {
            self.initial = initial
            self.transitions = transitions
            self.offsets = offsets
            self.footer = footer
            self.footerStart = footerStart
            self.name = name
        }

        func isEqual(to other: Table) -> Bool {
            initial == other.initial && transitions == other.transitions && offsets == other.offsets
                && footer == other.footer && footerStart == other.footerStart
        }

        func period(at second: Int64) -> OffsetPeriod {
            if let footer, second >= footerStart {
                var period = footer.period(at: second)
                period.start = Swift.max(period.start, footerStart)
                return period
            }
            let next = firstTransition(after: second)
            let isLast = next == transitions.count
            let end = isLast ? (footer == nil ? .max : footerStart) : transitions[next]
            guard next > 0 else { return OffsetPeriod(start: .min, end: end, offset: initial) }
            return OffsetPeriod(start: transitions[next - 1], end: end, offset: Int64(offsets[next - 1]))
        }

        private func firstTransition(after second: Int64) -> Int {
            var low = 0
            var high = transitions.count
            while low < high {
                let middle = (low + high) / 2
                if transitions[middle] <= second { low = middle + 1 } else { high = middle }
            }
            return low
        }
    }
}

/// The offsets from UTC of one time zone: what a zone file says, and how it goes on afterwards.
///
/// A value of one reference: copies share their tables. Two are equal when they say the same, under whatever name.
public struct ZoneRules: Hashable, Sendable {
    /// A stretch of time with one offset; seconds since 1970, and seconds east of UTC.
    struct Span {
        /// The first second; `Int64.min` when it has no beginning.
        var start: Int64
        /// The first second after it; `Int64.max` when it has no end.
        var end: Int64
        var offset: Int64

        /// The local time at its end, as seconds; `Int64.max` when it has no end.
        var localEnd: Int64 { end == .max ? .max : end + offset }
    }

    /// The largest offset, in either direction, that a zone may have: RFC 8536 3.2 has -25 to +26 hours.
    static let largestOffset: Int64 = 26 * 3600

    private let table: Table

    /// The zone's name in the zone files; `nil` for rules that have none, such as those of an offset.
    public var name: String? { table.name }

    /// The same rules under a name.
    public func named(_ name: String) -> ZoneRules {
        ZoneRules(
            table: Table(
                initial: table.initial, transitions: table.transitions, offsets: table.offsets, footer: table.footer,
                footerStart: table.footerStart, name: name))
    }

    private init(table: Table) { self.table = table }

    /// - Parameters:
    ///   - transitions: when another offset begins, ascending.
    ///   - offsets: the one that begins then, one for each.
    ///   - footerStart: from when on the footer says it.
    init(initial: Int64, transitions: [Int64], offsets: [Int32], footer: ZoneFooter?, footerStart: Int64) {
        table = Table(
            initial: initial, transitions: transitions, offsets: offsets, footer: footer, footerStart: footerStart)
    }

    init(footer: ZoneFooter) {
        self.init(initial: footer.standard, transitions: [], offsets: [], footer: footer, footerStart: .min)
    }

    /// A zone that is always so many seconds east of UTC; what is beyond a day and two hours is cut off there.
    public static func fixed(secondsFromGMT: Int) -> ZoneRules {
        let offset = Swift.min(Swift.max(Int64(secondsFromGMT), -largestOffset), largestOffset)
        return ZoneRules(initial: offset, transitions: [], offsets: [], footer: nil, footerStart: .max)
    }

    /// UTC.
    public static let utc = fixed(secondsFromGMT: 0)

    /// The seconds east of UTC at an instant.
    public func offset(at instant: Instant) -> Int {
        Int(span(at: instant.milliseconds.floorDivided(by: 1000)).offset)
    }

    /// The stretch within which a second lies.
    func span(at second: Int64) -> Span { table.span(at: second) }

    public static func == (left: ZoneRules, right: ZoneRules) -> Bool {
        left.table === right.table || left.table.isEqual(to: right.table)
    }

    public func hash(into hasher: inout Hasher) {
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

        func span(at second: Int64) -> Span {
            if let footer, second >= footerStart {
                var span = footer.span(at: second)
                span.start = Swift.max(span.start, footerStart)
                return span
            }
            let next = firstTransition(after: second)
            let isLast = next == transitions.count
            let end = isLast ? (footer == nil ? .max : footerStart) : transitions[next]
            guard next > 0 else { return Span(start: .min, end: end, offset: initial) }
            return Span(start: transitions[next - 1], end: end, offset: Int64(offsets[next - 1]))
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

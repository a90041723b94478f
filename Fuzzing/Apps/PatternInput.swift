#if DEBUG
    import AgentProtocol
    import CoreValues
    import Foundation

    @testable import Scheduling

    /// A fuzzer's bytes, taken from the front as what is asked of fields; where they have ended everything is 0.
    struct PatternInput {
        typealias Field = WritableKeyPath<DateComponents, Int?> & Sendable

        static let dayFields: [any Field] = [
            \.era, \.year, \.month, \.day, \.weekday, \.weekdayOrdinal, \.weekOfMonth, \.weekOfYear,
            \.yearForWeekOfYear,
            \.dayOfYear,
        ]
        /// From the longest to the shortest.
        static let timeFields: [any Field] = [\.hour, \.minute, \.second, \.nanosecond]

        private static let calendars: [Calendar.Identifier] = [
            .gregorian, .iso8601, .buddhist, .republicOfChina, .japanese, .hebrew, .chinese, .dangi, .vietnamese,
            .coptic,
            .ethiopicAmeteMihret, .ethiopicAmeteAlem, .indian, .islamic, .islamicCivil, .islamicTabular,
            .islamicUmmAlQura,
            .persian, .gujarati, .tamil,
        ]
        private static let zones = [
            "UTC0", "EST5EDT,M3.2.0,M11.1.0", "CET-1CEST,M3.5.0,M10.5.0/3", "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            "EET-2EEST,M4.5.5/0,M10.5.4/24", "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3", "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        ].compactMap { try? ZoneRules(posix: $0) }
        /// What texts are spoilt with.
        private static let pieces = [
            "-", "0", "9", "2147483648", "-9223372036854775808", "1e9", "null", "\"", "{}", "\"chinese\"", "\"UTC\"",
            "\\u0000",
        ]

        private var bytes: ArraySlice<UInt8>

        init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = Array(bytes)[...] }

        mutating func byte() -> UInt8 { bytes.popFirst() ?? 0 }

        mutating func integer<Value: FixedWidthInteger>(_: Value.Type) -> Value {
            (0..<Value.bitWidth / 8).reduce(0) { value, _ in value << 8 | Value(truncatingIfNeeded: byte()) }
        }

        /// A number from 0 on, below another one that is greater than 0.
        mutating func number(below end: Int64) -> Int64 { Int64(integer(UInt64.self) % UInt64(end)) }

        /// Any instant, or one within weeks of a change of a zone's clocks.
        mutating func instant(in zone: ZoneRules) -> Timestamp {
            let choice = byte()
            return switch choice & 7 {
            case 0: .distantPast
            case 1: .distantFuture
            case 2: Timestamp(rawValue: integer(Int64.self))
            // The years 1 to 9999.
            case 3: Timestamp(seconds: number(below: 315_537_897_600) - 62_135_596_800)
            // The nearer years.
            case 4: Timestamp(seconds: Int64(integer(UInt32.self)))
            default: change(of: zone).adding(milliseconds: Int64(integer(Int32.self)))
            }
        }

        private mutating func change(of zone: ZoneRules) -> Timestamp {
            let second = Int64(integer(UInt32.self))
            let period = zone.period(at: second)
            return Timestamp(seconds: period.end == .max ? max(period.start, 0) : period.end)
        }

        mutating func calendar() -> Calendar {
            var calendar = Calendar(identifier: Self.calendars[Int(byte()) % Self.calendars.count])
            let weeks = byte()
            calendar.timeZone = .gmt
            calendar.firstWeekday = Int(weeks % 7) + 1
            calendar.minimumDaysInFirstWeek = Int(weeks / 7 % 7) + 1
            return calendar
        }

        /// Any fields, of any size.
        mutating func components() -> DateComponents {
            var components = DateComponents()
            let choice = byte()
            if choice & 1 != 0 { components.calendar = calendar() }
            if choice & 2 != 0 { components.timeZone = TimeZone(secondsFromGMT: Int(integer(Int16.self))) }
            if choice & 4 != 0 { components.isLeapMonth = choice & 8 != 0 }
            let fields = Self.dayFields + Self.timeFields + [\.quarter]
            for _ in 0..<choice >> 4 { components[keyPath: fields[Int(byte()) % fields.count]] = value() }
            return components
        }

        private mutating func value() -> Int {
            let byte = byte()
            return switch byte >> 6 {
            case 0, 1: Int(byte & 63)
            case 2: Int(integer(Int16.self))
            default: byte & 1 == 0 ? integer(Int.self) : Int(integer(UInt16.self)) * 100_000
            }
        }

        /// Some fields of what clocks in a zone show at a moment, or skip at it, and that moment; `nil` where the rules do not go so
        /// far, or clocks were set between the two.
        mutating func moment(of calendar: Calendar, in zone: ZoneRules) -> (fields: DateComponents, moment: Timestamp)?
        {
            let start = instant(in: zone)
            let period = zone.period(at: start.rawValue.floorDivided(by: 1000))
            let choice = integer(UInt16.self)
            let times = zip(Self.timeFields, [3_600_000, 60_000, 1000, 1] as [Int64]).enumerated()
            let given = times.filter { choice >> ($0.offset + 12) & 1 != 0 }.map(\.element)
            let unit = given.last?.1 ?? GregorianCalendar.millisecondsPerDay
            var local = start.adding(milliseconds: period.offset * 1000)
            guard PatternCheck.isKnown(local, in: calendar) else { return nil }
            let isSkipped = choice >> 11 & 1 != 0
            var earliest = period.start.saturatingProduct(1000).saturatingSum(period.offset * 1000)
            if isSkipped {
                // Only those whose hour is certain mean a time that is skipped.
                guard given.isEmpty || given[0].0 == \.hour, let gap = gap(before: period, in: zone) else { return nil }
                earliest = gap.lowerBound
                local = Timestamp(rawValue: earliest + number(below: Int64(gap.count)))
            }
            local = local.adding(milliseconds: -local.rawValue.rest(dividedBy: unit))
            guard local.rawValue >= earliest, PatternCheck.isKnown(local, in: calendar) else { return nil }
            let moment =
                isSkipped ? Timestamp(seconds: period.start) : local.adding(milliseconds: -period.offset * 1000)
            let shown = PatternCheck.shown(local, in: calendar)
            return (fields(shown, days: choice, times: given.map(\.0), of: calendar), moment)
        }

        private func fields(
            _ shown: DateComponents, days: UInt16, times: [any Field], of calendar: Calendar
        ) -> DateComponents {
            var fields = DateComponents(calendar: calendar)
            for (index, field) in Self.dayFields.enumerated() where days >> index & 1 != 0 {
                fields[keyPath: field] = shown[keyPath: field]
            }
            for field in times { fields[keyPath: field] = shown[keyPath: field] }
            // Of a period its beginning is meant.
            if times.isEmpty, fields.day == nil, fields.dayOfYear == nil { fields.weekday = shown.weekday }
            if days >> 10 & 1 != 0 || fields.month != nil { fields.isLeapMonth = shown.isLeapMonth }
            return fields
        }

        /// What clocks skipped before a stretch, as milliseconds of theirs; `nil` where it does not count.
        private func gap(before period: ZoneRules.OffsetPeriod, in zone: ZoneRules) -> Range<Int64>? {
            guard period.start != .min, let latest = zone.latestLocalTime(before: period) else { return nil }
            let begins = period.start + period.offset
            guard latest < begins, begins - zone.period(at: period.start - 1).localEnd < GregorianCalendar.secondsPerDay
            else { return nil }
            return latest * 1000..<begins * 1000
        }

        /// The same fields by way of the text that an app sends, which may be spoilt; `nil` when that says nothing.
        mutating func sent(_ components: DateComponents) -> DateComponents? {
            let encoder = JSONEncoder()
            // The same input is the same text in every process.
            encoder.outputFormatting = .sortedKeys
            guard let sent = try? encoder.encode(NotificationTrigger.calendar(components, repeats: true)) else {
                return nil
            }
            var text = Array(sent)
            for _ in 0..<byte() & 3 { spoil(&text) }
            guard case .calendar(let read, _)? = try? JSONDecoder().decode(NotificationTrigger.self, from: Data(text))
            else { return nil }
            return read
        }

        /// Puts something else into the place of a value, or anywhere.
        private mutating func spoil(_ text: inout [UInt8]) {
            let piece = Self.pieces[Int(byte()) % Self.pieces.count].utf8
            let place = Int(integer(UInt16.self))
            let values = text.indices.filter { text[$0] == UInt8(ascii: ":") }
            if byte() & 1 == 0, !values.isEmpty {
                let start = values[place % values.count] + 1
                let end =
                    text[start...].firstIndex { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") } ?? text.endIndex
                text.replaceSubrange(start..<end, with: piece)
            } else if !text.isEmpty {
                let start = place % text.count
                text.replaceSubrange(start..<min(start + Int(byte() & 3), text.count), with: piece)
            }
        }

        /// A zone of today's, or one of any rules.
        mutating func zone() -> ZoneRules {
            let choice = byte()
            return switch choice >> 6 {
            case 0: Self.zones[Int(choice) % Self.zones.count]
            case 1: .fixed(secondsFromGMT: offset())
            case 2: changingZone(isFollowed: choice & 1 == 0)
            default: yearlyZone()
            }
        }

        private mutating func offset() -> Int { Int(integer(Int16.self)) * 3 % 93_601 }

        /// A zone whose clocks change twice, perhaps within days, and then every year or not at all.
        private mutating func changingZone(isFollowed: Bool) -> ZoneRules {
            let first = Int64(integer(UInt32.self))
            let second = first + 1 + Int64(byte() & 1 == 0 ? integer(UInt32.self) : UInt32(integer(UInt16.self)) * 4)
            let offsets = [offset(), offset(), offset()]
            let changes = zip([first, second], zip(offsets, offsets.dropFirst())).filter { $0.1.0 != $0.1.1 }
            let footer = isFollowed ? ZoneFooter("CET-1CEST,M3.5.0,M10.5.0/3".utf8) : nil
            return ZoneRules(
                initial: Int64(offsets[0]), transitions: changes.map(\.0), offsets: changes.map { Int32($0.1.1) },
                footer: footer, footerStart: footer == nil ? .max : second)
        }

        /// A zone whose clocks change twice each year, on any days and by any time.
        private mutating func yearlyZone() -> ZoneRules {
            func time(_ seconds: Int) -> String {
                let rest = seconds.magnitude
                return (seconds < 0 ? "-" : "") + "\(rest / 3600):\(rest / 60 % 60):\(rest % 60)"
            }
            let offsets = (0..<2).map { _ in time(offset() % 86_401) }
            let rules = (0..<2).map { _ in
                "J\(Int(integer(UInt16.self)) % 365 + 1)/\(time(Int(integer(Int16.self)) * 18))"
            }
            let text = "AAA\(offsets[0])BBB\(offsets[1]),\(rules[0]),\(rules[1])"
            guard let zone = try? ZoneRules(posix: text) else { preconditionFailure("\(text) is not taken") }
            return zone
        }
    }
#endif

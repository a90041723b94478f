import AgentWire
import Foundation

/// Fires when fields of the calendar match.
open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    // Sendable is unchecked because the base class' is; nothing is stored here, and the base has constants only.

    override init(_ archive: Archive) { super.init(archive) }

    /// Fires at the next moment at which all fields that are given match, and again and again when it repeats.
    ///
    /// Without a zone, or with the one that follows the system's, the fields are those of the zone where the machine
    /// is then.
    public convenience init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        self.init(.asked(.calendar(dateComponents, repeats: repeats)))
    }

    /// The old name of `init(dateMatching:repeats:)`.
    @available(*, deprecated, renamed: "init(dateMatching:repeats:)")
    public convenience init(dateMatchingComponents dateComponents: DateComponents, repeats: Bool) {
        self.init(dateMatching: dateComponents, repeats: repeats)
    }

    /// Reads an archive of this module; `nil` for another one.
    public required init?(coder: NSCoder) { super.init(coder: coder) }

    /// The fields that must match.
    open var dateComponents: DateComponents {
        if case .asked(.calendar(let components, _)) = archive { components } else { DateComponents() }
    }

    /// The next moment at which the fields match; `nil` when there is none.
    open func nextTriggerDate() -> Date? { CalendarMatch.date(after: Date(), matching: dateComponents) }
}

/// The next moment at which fields of a calendar match.
enum CalendarMatch {
    /// The first matching moment after a date; `nil` when there is none. A day that has no such time (it is skipped
    /// when clocks go forward) counts with its next time; a month without such a day is passed over.
    static func date(after date: Date, matching components: DateComponents) -> Date? {
        // `Calendar` passes over calendar and zone of the fields themselves.
        var calendar = components.calendar ?? .autoupdatingCurrent
        if let zone = components.timeZone { calendar.timeZone = zone }
        var fields = components
        fields.calendar = nil
        fields.timeZone = nil
        let exact = calendar.nextDate(after: date, matching: fields, matchingPolicy: .strict)
        guard let near = calendar.nextDate(after: date, matching: fields, matchingPolicy: .nextTime),
            exact.map({ near < $0 }) ?? true, isOnMatchingDay(near, fields, calendar)
        else { return exact }
        return near
    }

    private static func isOnMatchingDay(_ date: Date, _ fields: DateComponents, _ calendar: Calendar) -> Bool {
        let days: [Calendar.Component] = [
            .era, .year, .month, .day, .weekday, .weekdayOrdinal, .quarter, .weekOfMonth, .weekOfYear,
            .yearForWeekOfYear,
        ]
        let found = calendar.dateComponents(Set(days), from: date)
        return days.allSatisfy { component in
            guard let wanted = fields.value(for: component) else { return true }
            return found.value(for: component) == wanted
        }
    }
}

import AgentProtocol
import CoreValues
import Foundation
import Scheduling

/// Fires when fields of the calendar match.
///
/// Sendable is unchecked because the base class' is; nothing is stored here.
open class UNCalendarNotificationTrigger: UNNotificationTrigger, @unchecked Sendable {
    /// Fires at the next moment at which all fields that are given match, and again and again when it repeats.
    ///
    /// Without a zone, or with the one that follows the system's, the fields are those of the zone where the machine
    /// is then.
    public init(dateMatching dateComponents: DateComponents, repeats: Bool) {
        super.init(.asked(.calendar(dateComponents, repeats: repeats)))
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
    ///
    /// A time that clocks skip counts as the first moment after it, and one that they repeat counts once, at its first
    /// occurrence. A month that has no such day is skipped. `nil` too for repeating fields that would match many times
    /// a minute, which are refused.
    open func nextTriggerDate() -> Date? { nextTriggerDate(after: Timestamp(Date()), zones: .shared) }

    /// The first moment after one at which the fields match, by the zones of a machine.
    func nextTriggerDate(after moment: Timestamp, zones: LocalZones) -> Date? {
        let components = dateComponents
        guard let zone = zones.rules(for: ZoneChoice(components.timeZone)) else { return nil }
        let pattern = CalendarPattern(components)
        return repeats && pattern.isManyAMinute ? nil : pattern.nextFire(in: zone, after: moment)?.date
    }
}

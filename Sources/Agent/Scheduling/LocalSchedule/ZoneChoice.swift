import Foundation

/// The zone in which the fields of a calendar trigger are looked up.
package enum ZoneChoice: Hashable, Sendable {
    /// The machine's zone of the moment: the fields float.
    case floating
    /// A zone by its name in the zone files.
    case named(String)
    /// A fixed offset in seconds east of UTC.
    case fixed(secondsFromGMT: Int)

    /// The choice of a trigger's `timeZone`. `nil` and `TimeZone.autoupdatingCurrent` float; `TimeZone.current` is the
    /// zone of this moment. Zones that Foundation makes of an offset are fixed offsets.
    package init(_ zone: TimeZone?) {
        guard let zone, zone != .autoupdatingCurrent else {
            self = .floating
            return
        }
        let name = zone.identifier
        self = name.hasPrefix("GMT") ? .fixed(secondsFromGMT: zone.secondsFromGMT()) : .named(name)
    }
}

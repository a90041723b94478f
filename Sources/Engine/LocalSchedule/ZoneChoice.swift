import Foundation

/// In which zone fields of a calendar are meant.
public enum ZoneChoice: Hashable, Sendable {
    /// Where the machine is then.
    case floating
    /// Always this one, by its name in the zone files.
    case named(String)
    /// Always so many seconds east of UTC.
    case fixed(secondsFromGMT: Int)

    /// Without a zone, or with the one that follows the system's, fields float; `TimeZone.current` is the zone of the
    /// moment, and stays it. Zones that Foundation makes of an offset are that offset.
    public init(_ zone: TimeZone?) {
        guard let zone, zone != .autoupdatingCurrent else {
            self = .floating
            return
        }
        let name = zone.identifier
        self = name.hasPrefix("GMT") ? .fixed(secondsFromGMT: zone.secondsFromGMT()) : .named(name)
    }
}

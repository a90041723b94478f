import CoreValues
import Foundation
import Scheduling

/// Zones by their rules, without files.
enum Zones {
    static func posix(_ text: String) throws -> ZoneRules { try ZoneRules(posix: text) }

    static let rules = [
        "New York": "EST5EDT,M3.2.0,M11.1.0",
        "Berlin": "CET-1CEST,M3.5.0,M10.5.0/3",
        "Lord Howe": "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
        "Cairo": "EET-2EEST,M4.5.5/0,M10.5.4/24",
        "Dublin": "IST-1GMT0,M10.5.0,M3.5.0/1",
        "Troll": "<+00>0<+02>-2,M3.5.0/1,M10.5.0/3",
        "Nuuk": "<-02>2<-01>,M3.5.0/-1,M10.5.0/0",
        "Kathmandu": "<+0545>-5:45",
        "Apia": "<+13>-13",
        "UTC": "UTC0",
    ]

    static func named(_ name: String) throws -> ZoneRules { try posix(rules[name] ?? name) }

    /// A zone that skipped 30 December 2011 altogether.
    static func skippingDay() throws -> ZoneRules {
        try ZoneRules(
            file: ZoneFile(
                transitions: [(1_325_239_200, 1)], offsets: [-10 * 3600, 14 * 3600], footer: "<+14>-14"
            ).bytes)
    }
}

/// A zone file to be read.
struct ZoneFile {
    var version: UInt8 = 50
    var transitions: [(time: Int64, type: UInt8)] = []
    var offsets: [Int32] = [0]
    var leapSeconds = 0
    var footer = "UTC0"

    var bytes: [UInt8] {
        version == 0 ? part(width: 4) : part(width: 4) + part(width: 8) + Array("\n\(footer)\n".utf8)
    }

    private func part(width: Int) -> [UInt8] {
        var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in [0, 0, leapSeconds, transitions.count, offsets.count, 4] { bytes += big(Int64(count), 4) }
        bytes += transitions.flatMap { big($0.time, width) } + transitions.map(\.type)
        bytes += offsets.flatMap { big(Int64($0), 4) + [0, 0] } + [65, 65, 65, 0]
        return bytes + [UInt8](repeating: 0, count: leapSeconds * (width + 4))
    }

    private func big(_ value: Int64, _ width: Int) -> [UInt8] {
        (0..<width).reversed().map { UInt8(truncatingIfNeeded: value >> Int64($0 * 8)) }
    }
}

/// An instant by its text in UTC.
func at(_ text: String) throws -> Timestamp { Timestamp(try Date(text, strategy: .iso8601)) }

/// Fields by their names.
func fields(_ values: KeyValuePairs<WritableKeyPath<DateComponents, Int?>, Int>) -> DateComponents {
    var components = DateComponents()
    for (path, value) in values { components[keyPath: path] = value }
    return components
}

extension CalendarPattern {
    /// The next so many texts in UTC.
    func next(_ count: Int, in zone: ZoneRules, after: String) throws -> [String] {
        var last = try at(after)
        var found: [String] = []
        while found.count < count, let next = nextFire(in: zone, after: last) {
            found.append(next.date.formatted(.iso8601))
            last = next
        }
        return found
    }
}

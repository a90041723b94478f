import CoreValues
import Foundation
import Scheduling

/// Zone files and TZ strings: none may trap, and whatever was read answers at any time, in order.
enum ZoneFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        if let zone = try? ZoneRules(file: bytes) { ZoneFuzz.ask(zone) }
        if let zone = try? ZoneRules(posix: String(decoding: bytes, as: UTF8.self)) { ZoneFuzz.ask(zone) }
    }

    private static func ask(_ zone: ZoneRules) {
        let patterns = [
            CalendarPattern(DateComponents(minute: 30)), CalendarPattern(DateComponents(hour: 2, minute: 30)),
            CalendarPattern(DateComponents(month: 2, day: 29, hour: 0)),
        ]
        for start in [Timestamp.distantPast, Timestamp(seconds: 0), Timestamp(seconds: 1_780_272_000), .distantFuture] {
            precondition(abs(zone.offset(at: start)) <= 93_600, "an offset beyond its range")
            for pattern in patterns {
                var last = start
                for _ in 0..<3 {
                    guard let next = pattern.nextFire(in: zone, after: last) else { break }
                    precondition(next > last, "a moment that is not after the last")
                    last = next
                }
            }
        }
    }
}

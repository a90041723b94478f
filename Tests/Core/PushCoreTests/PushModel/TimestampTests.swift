import Foundation
import PushCore
import Testing

@Suite struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_780_272_000_123, "2026-06-01T00:00:00.123Z"),
        (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
    ])
    func `an instant is written as ISO 8601 in UTC`(milliseconds: Int64, text: String) {
        #expect(Timestamp(rawValue: milliseconds).description == text)
    }

    @Test func `the written form agrees with Foundation's on any day`() {
        let formatter = ISO8601DateFormatter()
        formatter.formatOptions = [.withInternetDateTime, .withFractionalSeconds]
        for day in stride(from: Int64(-40_000), to: 80_000, by: 97) {
            let timestamp = Timestamp(rawValue: day * 86_400_000 + 45_296_789)
            let date = Date(timeIntervalSince1970: Double(timestamp.rawValue) / 1000)
            #expect(timestamp.description == formatter.string(from: date))
        }
    }

    @Test func `arithmetic saturates instead of trapping`() {
        #expect(Timestamp(seconds: .max).rawValue == .max)
        #expect(Timestamp(seconds: .min).rawValue == .min)
        #expect(Timestamp.distantFuture.adding(milliseconds: 1) == .distantFuture)
        #expect(Timestamp(rawValue: .min).adding(milliseconds: -1).rawValue == .min)
        #expect(Timestamp(rawValue: .min).milliseconds(since: .distantFuture) == .min)
        #expect(Timestamp.distantFuture.milliseconds(since: Timestamp(rawValue: .min)) == .max)
        #expect(!Timestamp(rawValue: .min).description.isEmpty)
        #expect(!Timestamp.distantFuture.description.isEmpty)
    }

    @Test func `durations are added and taken off in whole milliseconds, and the ends hold`() {
        let noon = Timestamp(rawValue: 1_780_272_000_000)
        #expect((noon + .milliseconds(1500)).rawValue == noon.rawValue + 1500)
        #expect((noon - .milliseconds(1500)).rawValue == noon.rawValue - 1500)
        #expect((noon + .microseconds(1999)).rawValue == noon.rawValue + 1)
        #expect((noon - .milliseconds(1500)).duration(since: noon) == .milliseconds(-1500))
        #expect(Timestamp(rawValue: .max) + .seconds(1) == Timestamp(rawValue: .max))
        #expect(Timestamp(rawValue: .min) - .seconds(1) == Timestamp(rawValue: .min))
        #expect(noon + .seconds(Int64.max) == Timestamp(rawValue: .max))
        #expect(noon - .seconds(Int64.max) == Timestamp(rawValue: .min))
        #expect(
            Timestamp(rawValue: .max).duration(since: Timestamp(rawValue: .min)) == .milliseconds(Int64.max))
    }
}

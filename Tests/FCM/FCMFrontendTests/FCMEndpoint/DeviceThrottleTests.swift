import PushCore
import Testing

@testable import FCMFrontend

/// What one device may be sent by FCM's API.
@Suite struct DeviceThrottleTests {
    private let start = Timestamp(seconds: 1_780_000_000)
    private let app = AppID(rawValue: 1)

    @Test func `a minute's share goes at once, and fills steadily`() {
        var throttle = DeviceThrottle(perMinute: 240, now: start)
        for _ in 0..<240 { #expect(throttle.take(app, isCollapsible: false, at: start) == nil) }
        #expect(throttle.take(app, isCollapsible: false, at: start) == 1)
        #expect(throttle.take(app, isCollapsible: false, at: start.adding(milliseconds: 250)) == nil)
        #expect(throttle.take(app, isCollapsible: false, at: start.adding(milliseconds: 251)) == 1)
    }

    @Test func `an hour has 5,000`() {
        var throttle = DeviceThrottle(perMinute: 240, now: start)
        var sent = 0
        // For an hour, as many as a minute allows.
        for minute in 0..<60 as Range<Int64> {
            let now = start + .seconds(minute * 60)
            while throttle.take(app, isCollapsible: false, at: now) == nil { sent += 1 }
        }
        #expect((9_500...10_000).contains(sent), "the bucket of 5,000, and what an hour fills into it: \(sent)")
    }

    @Test func `collapse keys have twenty at once and one in three minutes, for each app`() {
        var throttle = DeviceThrottle(perMinute: 240, now: start)
        for _ in 0..<20 { #expect(throttle.take(app, isCollapsible: true, at: start) == nil) }
        #expect(throttle.take(app, isCollapsible: true, at: start) == 180)
        #expect(throttle.take(app, isCollapsible: false, at: start) == nil, "others go on")
        #expect(throttle.take(AppID(rawValue: 2), isCollapsible: true, at: start) == nil)
        #expect(throttle.take(app, isCollapsible: true, at: start + .seconds(180)) == nil)
        #expect(throttle.take(app, isCollapsible: true, at: start + .seconds(181)) == 179)
    }

    @Test func `a message that has to wait takes nothing`() {
        var throttle = DeviceThrottle(perMinute: 21, now: start)
        for _ in 0..<20 { #expect(throttle.take(app, isCollapsible: true, at: start) == nil) }
        for _ in 0..<5 { #expect(throttle.take(app, isCollapsible: true, at: start) == 180) }
        #expect(throttle.take(app, isCollapsible: false, at: start) == nil, "the twenty-first of the minute")
        #expect(throttle.take(app, isCollapsible: false, at: start) == 3)
    }

    @Test func `a clock that was set back fills nothing`() {
        var throttle = DeviceThrottle(perMinute: 1, now: start)
        #expect(throttle.take(app, isCollapsible: false, at: start) == nil)
        #expect(throttle.take(app, isCollapsible: false, at: start + .seconds(-3600)) == 60)
    }

    @Test func `over the API it is a quota with the time of Retry-After`() async throws {
        var world = try await FCMWorld()
        world.throttles = DeviceThrottles(perMinute: 1)
        let token = try await world.register(world.app).token
        let message = #"{"token":"\#(token)","data":{"k":"v"}}"#
        #expect(try await world.send(message).status == 200)
        let refused = try await world.send(message)
        #expect(refused.status == 429 && refused.headers[.retryAfter] == "60")
        #expect(refused.json["error"]?["status"]?.text == "RESOURCE_EXHAUSTED")
        let other = try await world.register(world.app, device: 6).token
        #expect(try await world.send(#"{"token":"\#(other)","data":{}}"#).status == 200)
    }
}

import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// Pushes that start, update and end Live Activities.
@Suite struct LiveActivityPushHandlingTests {
    private typealias World = LiveActivitiesWorld
    private let app = LiveActivitiesWorld.app
    private static let attributes =
        #","attributes-type":"Delivery","attributes":{"order":"A"},"content-state":{"stop":1}"#

    private func update(at timestamp: Int64, _ stop: Int) throws -> LiveActivityPush {
        try World.push("update", at: timestamp, #","content-state":{"stop":\#(stop)}"#)
    }

    @Test func `a push starts an activity and the app`() throws {
        var world = World()
        let push = try World.push(
            "start", at: 5, Self.attributes + #","input-push-token":1,"alert":{"title":"Milk","body":"comes"}"#)
        let directives = try world.receive(push, for: .start, id: 7)
        let record = try #require(world.engine.activities(of: app).first)
        #expect(record.activity.id == World.id(7) && record.activity.attributesType == "Delivery")
        #expect(record.activity.attributes == #"{"order":"A"}"# && record.pushes == .token)
        #expect(record.newestPush == 5 && record.startedAt == noon.rawValue)
        let alert = LiveActivityAlert(title: "Milk", body: "comes")
        #expect(
            directives == [
                .store(record), .show(record, alert), .launch(app),
                .wait(until: noon.adding(milliseconds: 8 * World.hour)),
            ])
        #expect(try world.receive(push, for: .start, id: 7).isEmpty, "the same push again changes nothing")
        #expect(try world.receive(push, for: .start, id: 8).launches == 1, "another is another activity")
    }

    @Test func `a push starts an activity that follows a channel`() throws {
        var world = World()
        let push = try World.push("start", at: 5, Self.attributes + #","input-push-channel":"c""#)
        #expect(try world.receive(push, for: .start).followed == ["+c"])
    }

    @Test func `a push starts no more than eight`() throws {
        var world = World()
        for number in 1...8 { try world.start(number) }
        let push = try World.push("start", at: 5, Self.attributes)
        #expect(World.code { _ = try world.receive(push, for: .start) } == ActivityFault.tooMany)
    }

    @Test func `a start and the other events have tokens of their own`() throws {
        var world = World()
        try world.start(1, .token)
        let start = try World.push("start", at: 5, Self.attributes)
        for target in [LiveActivityTarget.activity(World.id(1)), .channel("c")] {
            #expect(World.code { _ = try world.receive(start, for: target) } == "wrongToken")
        }
        let (update, end) = (try update(at: 6, 2), try World.push("end", at: 7))
        for push in [update, end] {
            #expect(World.code { _ = try world.receive(push, for: .start) } == "wrongToken")
        }
        #expect(world.states == [.active])
    }

    @Test func `an older push changes nothing, and one of the same time counts`() throws {
        var world = World()
        try world.start(1, .token)
        let target = LiveActivityTarget.activity(World.id(1))
        #expect(try world.receive(try update(at: 10, 2), for: target).shown == [#"{"stop":2}"#])
        let older = [try update(at: 9, 3), try World.push("end", at: 9)]
        for push in older { #expect(World.code { _ = try world.receive(push, for: target) } == "outdated") }
        #expect(try world.receive(try update(at: 10, 4), for: target).shown == [#"{"stop":4}"#])
        // An update by the app does not count as a push.
        try world.update(1, #"{"stop":5}"#)
        #expect(try world.receive(try update(at: 10, 6), for: target).shown == [#"{"stop":6}"#])
        #expect(try world.receive(try World.push("end", at: 11), for: target).stored == [.ended])
        #expect(World.code { _ = try world.receive(try update(at: 12, 7), for: target) } == "noActivity")
    }

    @Test func `the timestamp of a start counts`() throws {
        var world = World()
        let start = try World.push("start", at: 10, Self.attributes)
        _ = try world.receive(start, for: .start, id: 7)
        let target = LiveActivityTarget.activity(World.id(7))
        #expect(World.code { _ = try world.receive(try update(at: 9, 2), for: target) } == "outdated")
        #expect(try world.receive(try update(at: 10, 2), for: target).shown == [#"{"stop":2}"#])
    }

    @Test func `an end may bring content, an alert and a date of dismissal`() throws {
        var world = World()
        try world.start(1, .token)
        let seconds = noon.rawValue / 1000
        let push = try World.push(
            "end", at: seconds,
            #","content-state":{"stop":9},"alert":"Here","dismissal-date":\#(seconds + 60)"#)
        let directives = try world.receive(push, for: .activity(World.id(1)))
        let record = try #require(world.engine.activities(of: app).first)
        #expect(record.activity.state == .ended && record.dismissedAt == noon.rawValue + 60_000)
        #expect(directives.contains(.show(record, LiveActivityAlert(title: "", body: "Here"))))
        #expect(directives.shown == [#"{"stop":9}"#])
    }

    @Test func `a push to a channel updates all activities that follow it`() throws {
        var world = World()
        for (number, pushes) in [(1, .channel("c")), (2, .channel("d")), (3, .channel("c")), (4, .token)]
            as [(Int, LiveActivityPushes)]
        { try world.start(number, pushes) }
        let directives = try world.receive(try update(at: 5, 2), for: .channel("c"))
        #expect(directives.shown.count == 2)
        #expect(
            world.engine.activities(of: app).map(\.activity.content.state)
                == [#"{"stop":2}"#, #"{"stop":1}"#, #"{"stop":2}"#, #"{"stop":1}"#])
        try world.end(1)
        #expect(try world.receive(try update(at: 6, 3), for: .channel("c")).shown == [#"{"stop":3}"#])
        let ended = try world.receive(try World.push("end", at: 7), for: .channel("c"))
        #expect(ended.stored == [.ended] && ended.followed == ["-c"])
        #expect(World.code { _ = try world.receive(try update(at: 8, 4), for: .channel("c")) } == "noActivity")
        #expect(World.code { _ = try world.receive(try update(at: 8, 4), for: .channel("e")) } == "noActivity")
    }

    @Test func `an end of a channel ends all, and leaves it once`() throws {
        var world = World()
        for number in 1...3 { try world.start(number, .channel("c")) }
        let ended = try world.receive(try World.push("end", at: 7), for: .channel("c"))
        #expect(ended.stored == [.ended, .ended, .ended] && ended.followed == ["-c"])
    }

    @Test func `of a channel's activities each has its newest push`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        _ = try world.receive(try update(at: 10, 2), for: .channel("c"))
        try world.start(2, .channel("c"))
        let older = try world.receive(try update(at: 9, 3), for: .channel("c"))
        #expect(older.shown == [#"{"stop":3}"#])
        #expect(
            world.engine.activities(of: app).map(\.activity.content.state) == [#"{"stop":2}"#, #"{"stop":3}"#])
    }

    /// The attributes of the second leave less space for content than those of the first.
    @Test func `a push that is refused changes none of a channel's activities`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        let attributes = #"{"a":"\#(String(repeating: "x", count: 4000))"}"#
        _ = try world.handle(.start(World.activity(2, attributes: attributes), .channel("c"), app: app))
        let before = world.engine.activities(of: app)
        let push = try World.push("update", at: 5, #","content-state":"\#(String(repeating: "y", count: 200))""#)
        #expect(World.code { _ = try world.receive(push, for: .channel("c")) } == ActivityFault.tooLarge)
        #expect(world.engine.activities(of: app) == before)
    }
}

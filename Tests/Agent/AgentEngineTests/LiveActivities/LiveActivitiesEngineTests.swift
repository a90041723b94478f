import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

@Suite struct LiveActivitiesEngineTests {
    private typealias World = LiveActivitiesWorld
    private let app = LiveActivitiesWorld.app

    // MARK: Beginning, change and end

    @Test func `an activity is stored and shown from its start to its end`() throws {
        var world = World()
        let record = LiveActivityRecord(app: app, activity: World.activity(1), pushes: .token, startedAt: noon)
        let began = try world.start(1, .token)
        #expect(began == [.store(record), .show(record, nil), .wait(until: noon.adding(milliseconds: 8 * World.hour))])
        #expect(world.engine.activities(of: app) == [record])

        let alert = LiveActivityAlert(title: "Soon", body: "Two stops")
        var changed = record
        changed.activity.content = World.content(#"{"stop":2}"#)
        let updated = try world.handle(.update(id: World.id(1), changed.activity.content, alert, app: app))
        #expect(updated == [.store(changed), .show(changed, alert)])

        changed.activity.content = World.content(#"{"stop":3}"#)
        changed.activity.state = .ended
        changed.dismissedAt = noon.rawValue + 4 * World.hour
        let ended = try world.handle(.end(id: World.id(1), changed.activity.content, .standard, app: app))
        #expect(
            ended == [.store(changed), .show(changed, nil), .wait(until: noon.adding(milliseconds: 4 * World.hour))])

        var dismissed = changed
        dismissed.activity.state = .dismissed
        #expect(try world.pass(4 * World.hour) == [.hide(dismissed), .delete(dismissed)])
        #expect(world.engine.activities(of: app).isEmpty)
    }

    @Test func `a start that is repeated changes nothing`() throws {
        var world = World()
        try world.start(1)
        try world.update(1, #"{"stop":2}"#)
        #expect(try world.start(1).isEmpty)
        #expect(world.engine.activities(of: app).map(\.activity.content.state) == [#"{"stop":2}"#])
        try world.end(1)
        #expect(try world.start(1).isEmpty)
        #expect(world.states == [.ended])
    }

    @Test func `two apps may have activities with the same id`() throws {
        var world = World()
        try world.start(1)
        _ = try world.handle(.start(World.activity(1), .none, app: "com.example.other"))
        try world.end(1, .immediate)
        #expect(world.engine.activities(of: app).isEmpty)
        #expect(world.engine.activities(of: "com.example.other").count == 1)
    }

    @Test func `activities are listed in the order of their starts`() throws {
        var world = World()
        for number in [3, 1, 2] {
            try world.start(number)
            world.now = world.now.adding(milliseconds: 1)
        }
        #expect(world.engine.activities(of: app).map(\.activity.id) == [3, 1, 2].map(World.id))
    }

    @Test(arguments: [
        "", "1", String(World.id(1).dropLast()), World.id(1) + "0", World.id(10).uppercased(),
        String(repeating: "g", count: 32), String(repeating: "é", count: 16),
    ])
    func `an id is 32 lower-case hexadecimal digits`(id: String) {
        var world = World()
        var activity = World.activity(1)
        activity.id = id
        #expect(World.code { _ = try world.handle(.start(activity, .none, app: app)) } == ActivityFault.invalid)
        #expect(world.engine.activities(of: app).isEmpty)
    }

    @Test(arguments: [("[]", "{}"), ("", "{}"), ("{", "{}"), ("7", "{}"), ("{}", ""), ("{}", "{"), ("{}", "{}{}")])
    func `attributes are an object, and a content state is JSON`(attributes: String, state: String) {
        var world = World()
        let activity = World.activity(1, attributes: attributes, state: state)
        #expect(World.code { _ = try world.handle(.start(activity, .none, app: app)) } == ActivityFault.invalid)
    }

    @Test func `attributes and content together have at most 4096 bytes`() throws {
        func state(_ count: Int) -> String { "\"" + String(repeating: "x", count: count - 2) + "\"" }
        var world = World()
        let largest = World.activity(1, state: state(4094))
        #expect(try !world.handle(.start(largest, .none, app: app)).isEmpty)
        let larger = World.activity(2, state: state(4095))
        #expect(World.code { _ = try world.handle(.start(larger, .none, app: app)) } == ActivityFault.tooLarge)
        #expect(World.code { try world.update(1, state(4095)) } == ActivityFault.tooLarge)
        #expect(
            World.code {
                _ = try world.handle(.end(id: World.id(1), World.content(state(4095)), .immediate, app: app))
            } == ActivityFault.tooLarge)
        #expect(world.engine.activities(of: app).map(\.activity) == [largest], "a refusal changes nothing")
    }

    @Test func `an app has at most eight open activities`() throws {
        var world = World()
        for number in 1...8 { try world.start(number) }
        #expect(World.code { try world.start(9) } == ActivityFault.tooMany)
        #expect(try world.start(8).isEmpty, "a repetition is none too many")
        _ = try world.handle(.start(World.activity(1), .none, app: "com.example.other"))
        // One that has ended is shown, and counts no more.
        try world.end(1)
        #expect(try !world.start(9).isEmpty)
        #expect(World.code { try world.start(10) } == ActivityFault.tooMany)
        #expect(world.states.count == 9)
    }

    @Test func `what has ended or was never there takes no updates`() throws {
        var world = World()
        try world.start(1)
        try world.end(1)
        #expect(World.code { try world.update(1, "{}") } == "noActivity")
        #expect(World.code { try world.end(1) } == "noActivity")
        #expect(World.code { try world.update(2, "{}") } == "noActivity")
        #expect(
            World.code { _ = try world.handle(.end(id: World.id(1), nil, .standard, app: "com.example.other")) }
                == "noActivity")
        #expect(world.states == [.ended])
    }

    // MARK: Dismissals

    @Test(
        arguments: [
            (.standard, 4 * 3_600_000), (.immediate, nil), (.after(noon.rawValue + 60_000), 60_000),
            (.after(noon.rawValue + 4 * 3_600_000 + 1), 4 * 3_600_000), (.after(.max), 4 * 3_600_000),
            (.after(noon.rawValue), nil), (.after(noon.rawValue - 1), nil), (.after(0), nil), (.after(.min), nil),
        ] as [(LiveActivityDismissal, Int64?)])
    func `an ended activity leaves the screen in time`(dismissal: LiveActivityDismissal, after: Int64?) throws {
        var world = World()
        try world.start(1)
        let directives = try world.end(1, dismissal)
        guard let after else {
            #expect(directives.hidden == [World.id(1)] && directives.deleted == [World.id(1)])
            #expect(directives.stored.isEmpty && directives.shown.isEmpty)
            return
        }
        #expect(directives.stored == [.ended] && directives.waits == [noon.adding(milliseconds: after)])
        #expect(try world.pass(after - 1).hidden.isEmpty)
        let left = try world.pass(1)
        #expect(left.hidden == [World.id(1)] && left.deleted == [World.id(1)])
    }

    @Test func `a person who dismisses the notification dismisses the activity`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        try world.start(2)
        let directives = try world.handle(.dismissed(id: World.id(1), app: app))
        #expect(directives.followed == ["-c"] && directives.hidden == [World.id(1)])
        #expect(directives.deleted == [World.id(1)])
        #expect(try world.handle(.dismissed(id: World.id(1), app: app)).isEmpty, "once is enough")
        #expect(try world.handle(.dismissed(id: World.id(3), app: app)).isEmpty)
        try world.end(2)
        #expect(try world.handle(.dismissed(id: World.id(2), app: app)).deleted == [World.id(2)])
        #expect(world.states.isEmpty)
    }

    @Test func `an app that is removed has no activities`() throws {
        var world = World()
        try world.start(1)
        try world.start(2)
        try world.end(2)
        _ = try world.handle(.start(World.activity(3), .none, app: "com.example.other"))
        let directives = try world.handle(.removed(app: app))
        #expect(directives.deleted == [World.id(1), World.id(2)])
        #expect(world.states.isEmpty && world.engine.activities(of: "com.example.other").count == 1)
        #expect(try world.handle(.removed(app: app)).deleted.isEmpty)
    }

    // MARK: Channels

    @Test func `a channel is followed as long as an open activity follows it`() throws {
        var world = World()
        #expect(try world.start(1, .channel("c")).followed == ["+c"])
        try world.start(2, .channel("c"))
        #expect(try world.start(3, .channel("d")).followed == ["+d"])
        #expect(try world.end(1).followed == [])
        #expect(try world.end(3, .immediate).followed == ["-d"])
        #expect(try world.end(2).followed == ["-c"])
        #expect(try world.pass(4 * World.hour).followed == [], "it is left once")
    }

    @Test func `apps follow channels each for themselves`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        let other = try world.handle(.start(World.activity(1), .channel("c"), app: "com.example.other"))
        #expect(other.contains(.follow(channel: "c", joins: true, app: "com.example.other")))
        #expect(try world.end(1).followed == ["-c"])
    }

    // MARK: Restart

    @Test func `stored activities go on after a restart`() throws {
        var first = World()
        try first.start(1, .channel("c"))
        try first.start(2)
        try first.end(2)
        let stored = first.engine.activities(of: app)

        var world = World()
        world.now = noon.adding(milliseconds: World.hour)
        let directives = try world.handle(.started(stored))
        #expect(directives == [.wait(until: noon.adding(milliseconds: 4 * World.hour))])
        #expect(world.engine.activities(of: app) == stored)
        #expect(try world.update(1, #"{"stop":5}"#).shown == [#"{"stop":5}"#])
        #expect(try world.end(1).followed == ["-c"])
    }

    @Test func `what was due while the agent did not run is done at once`() throws {
        var first = World()
        try first.start(1)
        try first.start(2)
        try first.end(2)
        var world = World()
        world.now = noon.adding(milliseconds: 24 * World.hour)
        #expect(try world.handle(.started(first.engine.activities(of: app))).waits == [world.now])
        let due = try world.handle(.timePassed(world.now))
        #expect(due.stored == [.ended] && due.deleted == [World.id(2)])
        #expect(due.waits == [world.now.adding(milliseconds: 4 * World.hour)])
    }

    @Test func `an agent without activities waits for nothing`() throws {
        var world = World()
        #expect(try world.handle(.started([])).isEmpty)
        #expect(try world.handle(.timePassed(world.now)).isEmpty)
    }
}

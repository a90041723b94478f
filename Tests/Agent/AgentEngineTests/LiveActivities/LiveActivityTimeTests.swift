import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// Changes of Live Activities by themselves, and the moments for which the engine waits.
@Suite struct LiveActivityTimeTests {
    private typealias World = LiveActivitiesWorld
    private let app = LiveActivitiesWorld.app
    private let minute: Int64 = 60_000

    private func moment(_ milliseconds: Int64) -> Timestamp { noon.adding(milliseconds: milliseconds) }

    @Test func `an activity is stale from its date on, until an update`() throws {
        var world = World()
        let began = try world.start(1, staleDate: noon.rawValue + minute)
        #expect(began.waits == [moment(minute)])
        #expect(try world.pass(minute - 1).stored.isEmpty)
        let stale = try world.pass(1)
        #expect(stale.stored == [.stale] && stale.shown.isEmpty, "the screen shows the same")
        #expect(try world.pass(minute).stored.isEmpty, "once")
        let updated = try world.update(1, "{}")
        #expect(updated.stored == [.active] && world.states == [.active])
        // A date of the past makes the update stale at once.
        #expect(try world.update(1, "{}", staleDate: 1).waits == [world.now])
        #expect(try world.handle(.timePassed(world.now)).stored == [.stale])
        #expect(try world.end(1).stored == [.ended])
    }

    @Test func `a timer that comes early, since the clock was set back, is followed by another`() throws {
        var world = World()
        try world.start(1, staleDate: noon.rawValue + minute)
        world.now = moment(-World.hour)
        #expect(try world.handle(.timePassed(moment(minute))).waits == [moment(minute)])
        world.now = moment(minute)
        #expect(try world.handle(.timePassed(world.now)).stored == [.stale])
    }

    @Test func `of activities that have ended the newest eight are shown`() throws {
        var world = World()
        for number in 1...8 {
            try world.start(number)
            #expect(try world.end(number).hidden.isEmpty)
        }
        try world.start(9)
        let ended = try world.end(9)
        #expect(ended.hidden == [World.id(1)] && ended.deleted == [World.id(1)])
    }

    @Test(arguments: ["", "a&delete=true", String(repeating: "a", count: 65)])
    func `a channel's id that is none is refused`(id: String) throws {
        var world = World()
        let code = World.code { _ = try world.start(1, .channel(id)) }
        #expect(code == ActivityFault.invalid && world.states.isEmpty)
    }

    @Test func `an activity that is stale takes updates and pushes`() throws {
        var world = World()
        try world.start(1, .token, staleDate: noon.rawValue + minute)
        _ = try world.pass(minute)
        let push = try World.push("update", at: 2, #","content-state":{"stop":2}"#)
        #expect(try world.receive(push, for: .activity(World.id(1))).shown == [#"{"stop":2}"#])
        #expect(world.states == [.active])
    }

    @Test func `an activity ends eight hours after its start, and is shown four hours more`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        world.now = moment(7 * World.hour)
        try world.update(1, "{}")
        #expect(try world.pass(World.hour - 1).stored.isEmpty)
        let ended = try world.pass(1)
        #expect(ended.stored == [.ended] && ended.followed == ["-c"] && ended.hidden.isEmpty)
        #expect(ended.waits == [moment(12 * World.hour)])
        let left = try world.pass(4 * World.hour)
        #expect(left.hidden == [World.id(1)] && left.deleted == [World.id(1)] && left.waits.isEmpty)
    }

    @Test func `activities of one channel that end at once leave it once`() throws {
        var world = World()
        try world.start(1, .channel("c"))
        try world.start(2, .channel("c"))
        let ended = try world.pass(8 * World.hour)
        #expect(ended.stored == [.ended, .ended] && ended.followed == ["-c"])
    }

    @Test func `a moment is waited for once, and an earlier one besides`() throws {
        var world = World()
        #expect(try world.start(1).waits == [moment(8 * World.hour)])
        world.now = moment(1)
        #expect(try world.start(2).waits.isEmpty, "the first ends before it")
        #expect(try world.update(1, "{}", staleDate: noon.rawValue + minute).waits == [moment(minute)])
        #expect(try world.update(2, "{}", staleDate: noon.rawValue + 2 * minute).waits.isEmpty)
        world.now = moment(minute)
        #expect(try world.handle(.timePassed(world.now)).waits == [moment(2 * minute)])
    }

    @Test func `a moment that has been asked for comes, whatever has ended in between`() throws {
        var world = World()
        try world.start(1, staleDate: noon.rawValue + minute)
        try world.end(1, .immediate)
        try world.start(2)
        // The moment of the first is still awaited, and sets the next.
        world.now = moment(minute)
        #expect(try world.handle(.timePassed(world.now)).waits == [moment(8 * World.hour)])
    }

    /// Every moment that was asked for comes; their number must not grow with the number of updates.
    @Test func `updates that become stale again and again leave few moments to wait for`() throws {
        var world = World()
        var timers = try world.start(1).waits
        for round in 1...200 as ClosedRange<Int64> {
            // One activity follows the other for weeks.
            if round.isMultiple(of: 50) {
                try world.end(Int(round / 50), .immediate)
                timers += try world.start(Int(round / 50) + 1).waits
            }
            let number = Int(round / 50) + 1
            timers += try world.update(number, "{}", staleDate: world.now.rawValue + minute).waits
            world.now = world.now.adding(milliseconds: 5 * minute)
            let due = timers.count { $0 <= world.now }
            timers.removeAll { $0 <= world.now }
            for _ in 0..<due { timers += try world.handle(.timePassed(world.now)).waits }
            #expect(timers.count <= 2, "round \(round)")
        }
    }
}

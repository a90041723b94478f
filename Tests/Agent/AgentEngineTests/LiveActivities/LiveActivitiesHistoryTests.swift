import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// A random history of the Live Activities of two apps, with a store, a screen, channels and timers that do what the
/// engine says.
struct LiveActivitiesHistory {
    private typealias World = LiveActivitiesWorld
    private typealias Event = LiveActivitiesEngine.Event

    private static let apps: [BundleID] = ["com.example.todo", "com.example.other"]
    private static let channels = ["c", "d"]

    private var engine = LiveActivitiesEngine()
    private var now = noon
    private var generator: SeededGenerator
    private var stored: [BundleID: [String: LiveActivityRecord]] = [:]
    private var followed: [BundleID: Set<String>] = [:]
    private var timers: [Timestamp] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    // MARK: Steps

    /// Makes one random event happen.
    mutating func step() throws {
        let app = Self.apps[random(2)]
        switch random(13) {
        case 0...2: handle(.start(activity(), pushes(), app: app))
        case 3, 4: handle(.update(id: World.id(random(12)), content(), nil, app: app))
        case 5, 6:
            handle(.end(id: World.id(random(12)), random(2) == 0 ? nil : content(), dismissal(), app: app))
        case 7, 8: handle(.push(try push(), target(), app: app, id: World.id(6 + random(12))))
        case 9: handle(.dismissed(id: World.id(random(12)), app: app))
        case 10: if random(8) == 0 { remove(app) }
        case 11: if random(4) == 0 { restart() }
        default: pass(Int64(random(3 * 3_600_000)))
        }
    }

    private mutating func remove(_ app: BundleID) {
        handle(.removed(app: app))
        #expect(stored[app, default: [:]].isEmpty)
    }

    /// The process ends, and with it the timers; the store stays.
    private mutating func restart() {
        engine = LiveActivitiesEngine()
        timers = []
        handle(.started(stored.values.flatMap(\.values)))
    }

    private mutating func pass(_ milliseconds: Int64) {
        let end = now.adding(milliseconds: milliseconds)
        while let next = timers.min(), next <= end {
            now = max(now, next)
            if let place = timers.firstIndex(of: next) { timers.remove(at: place) }
            handle(.timePassed(next))
        }
        now = end
        checkTimes()
    }

    // MARK: Random values

    private mutating func random(_ count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

    /// Of some numbers the attributes are so long that not every content fits beside them.
    private mutating func activity() -> LiveActivity {
        let number = random(12)
        var activity = World.activity(number)
        if number.isMultiple(of: 4) { activity.attributes = #"{"a":"\#(String(repeating: "x", count: 4000))"}"# }
        if random(3) == 0 { activity.content = content() }
        return activity
    }

    private mutating func content() -> LiveActivityContent {
        let text = random(8) == 0 ? String(repeating: "y", count: 200) : "\(random(100))"
        let date = random(3) == 0 ? now.rawValue + Int64(random(7_200_000)) - 60_000 : nil
        return LiveActivityContent(state: #"{"text":"\#(text)"}"#, staleDate: date)
    }

    private mutating func pushes() -> LiveActivityPushes {
        [.none, .token, .channel(Self.channels[0]), .channel(Self.channels[1])][random(4)]
    }

    private mutating func dismissal() -> LiveActivityDismissal {
        let date = now.rawValue + Int64(random(6 * 3_600_000)) - 600_000
        return [.standard, .immediate, .after(date)][random(3)]
    }

    private mutating func target() -> LiveActivityTarget {
        [.start, .activity(World.id(random(12))), .channel(Self.channels[random(2)])][random(3)]
    }

    private mutating func push() throws -> LiveActivityPush {
        let seconds = now.rawValue / 1000 + Int64(random(20)) - 10
        let state = #","content-state":{"text":"\#(random(8) == 0 ? String(repeating: "z", count: 200) : "z")"}"#
        switch random(3) {
        case 0:
            let follows = random(2) == 0 ? #","input-push-token":1"# : #","input-push-channel":"c""#
            return try World.push("start", at: seconds, #","attributes-type":"A","attributes":{}"# + state + follows)
        case 1: return try World.push("update", at: seconds, state)
        default: return try World.push("end", at: seconds, random(2) == 0 ? "" : #","dismissal-date":1"#)
        }
    }

    // MARK: The engine

    private var activities: [[LiveActivityRecord]] { Self.apps.map { engine.activities(of: $0) } }

    private mutating func handle(_ event: Event) {
        let before = activities
        do throws(LiveActivitiesEngine.Refusal) {
            let directives = try engine.handle(event, now: now)
            if case .removed(let app) = event {
                followed[app] = nil
                #expect(directives.hidden.isEmpty, "what is on the screen of a removed app leaves with it")
            } else {
                #expect(directives.hidden == directives.deleted, "what is dismissed leaves the screen and the store")
            }
            for directive in directives { perform(directive) }
        } catch { #expect(activities == before, "a refusal changes nothing: \(error.sentence)") }
        check()
    }

    private mutating func perform(_ directive: LiveActivitiesEngine.Directive) {
        switch directive {
        case .store(let record): stored[record.app, default: [:]][record.activity.id] = record
        case .delete(let record):
            let deleted = stored[record.app]?.removeValue(forKey: record.activity.id)
            #expect(deleted != nil, "what is deleted was stored, and is deleted once")
        case .show(let record, _):
            #expect(stored[record.app]?[record.activity.id] == record, "what is shown is stored")
        case .hide(let record):
            #expect(record.activity.state == .dismissed)
            #expect(stored[record.app]?[record.activity.id] != nil, "what is hidden is hidden once")
        case .follow(let channel, joins: true, let app): followed[app, default: []].insert(channel)
        case .follow(let channel, joins: false, let app):
            #expect(followed[app]?.remove(channel) != nil, "what is left was followed")
        case .launch: break
        case .wait(let moment):
            #expect(moment >= now)
            timers.append(moment)
        }
    }

    // MARK: What always holds

    private func check() {
        for (app, found) in zip(Self.apps, activities) {
            let own = stored[app, default: [:]]
            #expect(Set(found) == Set(own.values), "the engine knows what is stored")
            let open = found.filter(\.isOpen)
            #expect(open.count <= LiveActivitiesEngine.limit)
            #expect(followed[app, default: []] == Set(open.compactMap(\.channel)), "channels of open activities")
            for record in found {
                #expect(record.activity.state != .dismissed)
                #expect(record.isOpen == (record.dismissedAt == nil))
                #expect((record.dismissedAt ?? 0) <= now.rawValue + LiveActivitiesEngine.longestDisplay)
            }
            #expect(found.isEmpty || !timers.isEmpty, "something is waited for as long as there is an activity")
        }
    }

    /// What is due was done, once the timers have fired.
    private func checkTimes() {
        for record in activities.joined() {
            if let dismissedAt = record.dismissedAt {
                #expect(dismissedAt > now.rawValue)
            } else {
                #expect(record.startedAt + LiveActivitiesEngine.longestLife > now.rawValue)
            }
            if record.activity.state == .active, let date = record.activity.content.staleDate {
                #expect(date > now.rawValue)
            }
        }
    }
}

@Suite struct LiveActivitiesHistoryTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func `in a random history nothing is lost and nothing is done twice`(seed: UInt64) throws {
        var history = LiveActivitiesHistory(seed: seed)
        for _ in 0..<300 { try history.step() }
    }
}

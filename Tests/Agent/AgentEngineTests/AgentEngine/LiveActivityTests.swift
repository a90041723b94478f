import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// Live Activities in the engine of the whole agent: apps, pushes and people.
@Suite struct EngineLiveActivityTests {
    private let app = EngineWorld.app
    private static let deviceToken = String(repeating: "ab", count: 32)
    private static let id = LiveActivitiesWorld.id(1)
    private static let updatePayload = #"{"aps":{"event":"update","timestamp":5,"content-state":{"stop":2}}}"#
    private static let startPayload =
        #"{"aps":{"event":"start","timestamp":5,"attributes-type":"Delivery","attributes":{},"content-state":{"stop":1}}}"#

    private func perform(
        _ command: ActivityCommand, _ world: inout EngineWorld, _ connection: AppConnectionID
    ) throws -> [AgentEffect] {
        try world.effects { try $0.perform(.activity(command), from: app, connection: connection, context: $1) }
    }

    private func start(
        _ world: inout EngineWorld, _ connection: AppConnectionID, _ pushes: LiveActivityPushes = .none,
        number: Int = 1
    ) throws -> [AgentEffect] {
        try perform(.start(request: Int64(number), LiveActivitiesWorld.activity(number), pushes), &world, connection)
    }

    /// Commits what the engine has in its batch.
    private func commit(_ world: inout EngineWorld) -> [AgentEffect] {
        let results = world.engine.batch.take().changes.map { change -> ChangeResult in
            switch change.kind {
            case .liveActivity(let record), .liveActivityDismissed(let record): .liveActivity(record)
            default: .nothing
            }
        }
        return world.effects { $0.committed(results, $1) }
    }

    /// How the agent disposes of a push to a Live Activity.
    private func disposition(
        of payload: String, _ target: LiveActivityTarget, number: Int64 = 1, _ world: inout EngineWorld
    ) -> PlannedNotification.Disposition? {
        var push = outgoing(number, collapseID: target.collapseID, payload: payload)
        push.pushType = .liveactivity
        _ = world.effects { $0.arrived([push], in: 1, $1) }
        return world.engine.batch.changes.compactMap { change in
            if case .arrived(let arrival) = change.kind { arrival.disposition } else { nil }
        }.last
    }

    private func activities(_ world: EngineWorld) -> [LiveActivityRecord] {
        world.engine.liveActivities.activities(of: app)
    }

    // MARK: Apps

    @Test func `an app that observes is told of all its activities and of the token of starts`() throws {
        var world = EngineWorld()
        world.store.registered = .token(Self.deviceToken)
        let connection = try world.connect()
        let none = try perform(.observe, &world, connection)
        let startToken = Self.deviceToken + String(repeating: "0", count: 32)
        #expect(none.said == [.activity(.all([], startToken: startToken))] && none.links.isEmpty)
        _ = try start(&world, connection, .token)
        _ = try start(&world, connection, .channel("c"), number: 2)
        var first = LiveActivitiesWorld.activity(1)
        first.pushToken = Self.deviceToken + Self.id
        let second = LiveActivitiesWorld.activity(2)
        #expect(
            try perform(.observe, &world, connection).said
                == [.activity(.all([first, second], startToken: startToken))])
    }

    @Test(arguments: [true, false])
    func `an app without a device token asks for one where there is a server`(hasServer: Bool) throws {
        var world = EngineWorld(hasServer: hasServer)
        let connection = try world.connect()
        let effects = try perform(.observe, &world, connection)
        #expect(effects.said == [.activity(.all([], startToken: nil))])
        #expect(effects.links == (hasServer ? [.requestToken(app)] : []))
    }

    @Test func `an app hears the tokens of its activities when it gets its device token`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        _ = try start(&world, connection, .token)
        _ = try start(&world, connection, number: 2)
        let effects = world.effects { engine, _ in engine.tokenReceived(Self.deviceToken, app: EngineWorld.app) }
        var first = LiveActivitiesWorld.activity(1)
        first.pushToken = Self.deviceToken + Self.id
        let events = effects.said.compactMap { if case .activity(let event) = $0 { event } else { nil } }
        #expect(events == [.startToken(Self.deviceToken + String(repeating: "0", count: 32)), .changed(first)])
    }

    @Test func `a request is accepted once it is durable, before the change is told`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        let began = try start(&world, connection)
        #expect(began.said.isEmpty)
        #expect(began.timers.contains { if case .liveActivities(_) = $0 { true } else { false } })
        #expect(world.changes == [.storeStanding, .storeFired])
        #expect(
            commit(&world).said == [
                .activity(.accepted(request: 1)), .activity(.changed(LiveActivitiesWorld.activity(1))),
            ])

        let content = LiveActivitiesWorld.content(#"{"stop":2}"#)
        #expect(try perform(.update(request: 2, id: Self.id, content, nil), &world, connection).said.isEmpty)
        var changed = LiveActivitiesWorld.activity(1)
        changed.content = content
        #expect(commit(&world).said == [.activity(.accepted(request: 2)), .activity(.changed(changed))])

        #expect(try perform(.end(request: 3, id: Self.id, nil, .immediate), &world, connection).said.isEmpty)
        changed.state = .dismissed
        #expect(world.changes == [.storeUnlisted, .storeStanding])
        #expect(commit(&world).said == [.activity(.accepted(request: 3)), .activity(.changed(changed))])
        #expect(activities(world).isEmpty)
    }

    @Test func `a start that is repeated is accepted at once where nothing is to be stored`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try start(&world, connection)
        _ = commit(&world)
        #expect(try start(&world, connection).said == [.activity(.accepted(request: 1))])
        #expect(world.changes.isEmpty)
    }

    @Test func `changes are told to a connection that observes, and to no other`() throws {
        var world = EngineWorld()
        let first = try world.connect()
        _ = try start(&world, first)
        #expect(commit(&world).said == [.activity(.accepted(request: 1))])
        _ = try perform(.observe, &world, first)
        // The next connection has not asked yet.
        let second = try world.connect()
        _ = world.effects { engine, _ in engine.forgetAsker(first) }
        _ = try start(&world, second, number: 2)
        #expect(commit(&world).said == [.activity(.accepted(request: 2))])
        _ = try perform(.observe, &world, second)
        _ = try start(&world, second, number: 3)
        #expect(commit(&world).said.count == 2)
    }

    @Test func `a connection that has gone is not answered`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        _ = try start(&world, connection)
        _ = world.effects { engine, _ in engine.forgetAsker(connection) }
        #expect(commit(&world).said.isEmpty)
    }

    @Test func `a refusal is said at once, with its code`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        for number in 1...8 { _ = try start(&world, connection, number: number) }
        let refused = try start(&world, connection, number: 9).said
        guard case .activity(.refused(request: 9, code: ActivityFault.tooMany, _))? = refused.first else {
            Issue.record("the ninth was not refused: \(refused)")
            return
        }
        #expect(refused.count == 1)
        let missing = try perform(.end(request: 10, id: LiveActivitiesWorld.id(9), nil, .standard), &world, connection)
        guard case .activity(.refused(request: 10, code: "noActivity", _))? = missing.said.first else {
            Issue.record("an end of no activity was not refused")
            return
        }
    }

    @Test func `a person who denies notifications denies activities`() throws {
        var world = EngineWorld { $0.authorization = .denied }
        let connection = try world.connect()
        guard
            case .activity(.refused(request: 1, code: ActivityFault.denied, _))? =
                try start(&world, connection).said.first
        else {
            Issue.record("the start was not refused")
            return
        }
        #expect(world.changes.isEmpty && activities(world).isEmpty)
    }

    @Test func `an app needs no authorization that was not denied`() throws {
        var world = EngineWorld { $0.authorization = .ask }
        let connection = try world.connect()
        _ = try start(&world, connection)
        #expect(world.changes == [.storeStanding, .storeFired])
    }

    @Test(arguments: [true, false])
    func `a channel is followed where there is a server`(hasServer: Bool) throws {
        var world = EngineWorld(hasServer: hasServer)
        let connection = try world.connect()
        let effects = try start(&world, connection, .channel("c"))
        #expect(effects.links == (hasServer ? [.requestToken(app)] : []))
        _ = try perform(.end(request: 2, id: Self.id, nil, .standard), &world, connection)
        let asked = world.engine.batch.changes.compactMap { change in
            if case .topicChangeRequested(let name, let joins, _, _) = change.kind { "\(name) \(joins)" } else { nil }
        }
        #expect(asked == (hasServer ? ["channel:c true", "channel:c false"] : []))
    }

    @Test func `activities are not among the delivered notifications of the app`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        world.store.notifications = [shown(Self.id), waiting(2)]
        let effects = try world.effects {
            try $0.perform(.center(request: 1, .delivered), from: app, connection: connection, context: $1)
        }
        guard case .centerAnswered(1, .delivered(let listed))? = effects.said.first else {
            Issue.record("it is answered")
            return
        }
        #expect(listed.map(\.id) == [20])
    }

    // MARK: Pushes

    @Test func `a push starts an activity and the app, under the push's own id`() throws {
        var world = EngineWorld()
        let disposition = disposition(of: Self.startPayload, .start, number: 0x2A, &world)
        #expect(disposition == .ends(.presented, note: "a Live Activity shows it"))
        #expect(activities(world).map(\.activity.id) == [LiveActivitiesWorld.id(0x2A)])
        #expect(world.changes == [.storeStanding, .storeFired, .storeArrival])
    }

    @Test func `a push that starts an activity starts the app, unless it runs`() throws {
        var push = outgoing(1, payload: Self.startPayload)
        push.pushType = .liveactivity
        var world = EngineWorld()
        #expect(world.effects { $0.arrived([push], in: 1, $1) }.launches == 1)
        world = EngineWorld()
        _ = try world.connect()
        #expect(world.effects { $0.arrived([push], in: 1, $1) }.launches == 0)
    }

    @Test func `a push updates the activity that its token names`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        _ = try start(&world, connection, .token)
        _ = commit(&world)
        let disposition = disposition(of: Self.updatePayload, .activity(Self.id), &world)
        #expect(disposition == .ends(.presented, note: "a Live Activity shows it"))
        var changed = LiveActivitiesWorld.activity(1)
        changed.content = LiveActivitiesWorld.content(#"{"stop":2}"#)
        #expect(commit(&world).said == [.activity(.changed(changed))])
    }

    @Test(
        arguments: [
            (Self.updatePayload, .activity(Self.id), "noActivity"), (Self.updatePayload, .channel("c"), "noActivity"),
            (Self.updatePayload, .start, "wrongToken"), (Self.startPayload, .activity(Self.id), "wrongToken"),
            ("{}", .activity(Self.id), "badPayload"),
            (#"{"aps":{"event":"update","timestamp":5}}"#, .activity(Self.id), "badPayload"),
        ] as [(String, LiveActivityTarget, String)])
    func `a push that changes nothing ends as failed`(payload: String, target: LiveActivityTarget, code: String) {
        var world = EngineWorld()
        guard case .ends(.failed(code), _?)? = disposition(of: payload, target, &world) else {
            Issue.record("it has not failed with \(code)")
            return
        }
        #expect(world.changes == [.storeArrival])
    }

    @Test func `a push that comes twice counts once`() throws {
        var world = EngineWorld()
        _ = disposition(of: Self.startPayload, .start, &world)
        _ = commit(&world)
        world.store.known = [NotificationID(rawValue: 1)]
        #expect(disposition(of: Self.startPayload, .start, &world) == .ends(.presented, note: nil))
        #expect(world.changes == [.storeArrival] && activities(world).count == 1)
    }

    @Test func `a push to an app that may show nothing is suppressed`() throws {
        var world = EngineWorld { $0.authorization = .denied }
        #expect(disposition(of: Self.startPayload, .start, &world) == .ends(.suppressed(.settings), note: nil))
        #expect(!world.changes.contains(.storeFired))
    }

    // MARK: People and time

    /// The notification of an activity, as it is stored.
    private func shown(_ id: String) -> WaitingNotification {
        WaitingNotification(
            sequence: 1, id: NotificationID(rawValue: -4), app: app, apnsID: "", identifier: "aldaba.activity.\(id)",
            payload: "", acceptedAt: noon, content: NotificationContent())
    }

    @Test func `a person who dismisses the notification dismisses the activity`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        _ = try start(&world, connection)
        _ = commit(&world)
        world.store.notifications = [shown(Self.id)]
        _ = world.effects { $0.handlePresenterEvent(.dismissed(NotificationID(rawValue: -4)), $1) }
        #expect(activities(world).isEmpty)
        #expect(world.changes.prefix(2) == [.storeUnlisted, .storeStanding])
        let isRecorded = world.engine.batch.changes.contains {
            if case .dismissed(NotificationID(rawValue: -4), _, _) = $0.kind { true } else { false }
        }
        #expect(isRecorded)
        var dismissed = LiveActivitiesWorld.activity(1)
        dismissed.state = .dismissed
        #expect(commit(&world).said == [.activity(.changed(dismissed))])
    }

    @Test func `activities change by themselves`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try perform(.observe, &world, connection)
        let effects = try start(&world, connection)
        let pauses = effects.compactMap { effect -> Duration? in
            if case .wait(let pause, then: .liveActivities(_)) = effect { pause } else { nil }
        }
        #expect(pauses == [.seconds(8 * 3600)])
        _ = commit(&world)
        world.now = noon.adding(milliseconds: 8 * 3_600_000)
        _ = world.effects { $0.timePassed(.liveActivities($1.now), $1) }
        var ended = LiveActivitiesWorld.activity(1)
        ended.state = .ended
        #expect(commit(&world).said == [.activity(.changed(ended))])
    }
}

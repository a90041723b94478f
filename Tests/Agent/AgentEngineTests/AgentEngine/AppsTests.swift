import AgentProtocol
import DeviceTestSupport
import PushCore
import Scheduling
import Testing

@testable import AgentEngine

/// Apps that connect, ask, wait for their time, and are taken away.
@Suite struct EngineAppsTests {
    private let app = EngineWorld.app

    @Test(arguments: [(Int32(7), [String]()), (Int32(8), [AgentMessage.superseded])])
    func `another process of an app is told not to connect again, the same one not`(
        process: Int32, refusals: [String]
    ) throws {
        var world = EngineWorld()
        _ = try world.connect(process: 7)
        let newer = EngineWorld.connection(process)
        let effects = try world.effects { _ = try $0.connectApp(app, connection: newer, run: nil, context: $1) }
        #expect(effects.refusals == refusals)
        #expect(effects.contains { if case .close = $0 { true } else { false } } == refusals.isEmpty)
    }

    @Test func `an app that was opened learns of the notification, and of its state`() throws {
        var world = EngineWorld()
        world.store.responses = [
            WaitingResponse(sequence: 1, notification: waiting(3), action: NotificationAction.dismiss),
            WaitingResponse(sequence: 2, notification: waiting(4), action: NotificationAction.open),
        ]
        let effects = try world.effects {
            _ = try $0.connectApp(app, connection: EngineWorld.connection(), run: nil, context: $1)
        }
        guard case .welcome(let welcome)? = effects.said.first else {
            Issue.record("it is welcomed")
            return
        }
        #expect(welcome.launchNotification?.id == 40)
        #expect(welcome.state == .active)
    }

    @Test func `who asks the server is refused at once where there is none`() throws {
        var world = EngineWorld(hasServer: false)
        world.isConnected = false
        let connection = try world.connect()
        let draft = UpstreamDraft(id: "m", to: "TEAM000001", data: [:], timeToLive: 0)
        let effects = try world.effects {
            try $0.perform(.registerForRemoteNotifications(request: 1), from: app, connection: connection, context: $1)
            try $0.perform(
                .channel(.topic(request: 2, name: "news", joins: true)), from: app, connection: connection, context: $1)
            try $0.perform(.channel(.send(request: 3, draft)), from: app, connection: connection, context: $1)
        }
        let codes = effects.said.map { message in
            switch message {
            case .registrationFailed(_, let code, _): code
            case .channel(.refused(_, let code, _)): code
            default: "?"
            }
        }
        #expect(codes == ["noServer", ChannelFault.offline, ChannelFault.offline])
    }

    @Test func `who waits for a topic hears the server's answer, once`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        _ = try world.effects {
            try $0.perform(
                .channel(.topic(request: 2, name: "news", joins: true)), from: app, connection: connection, context: $1)
        }
        #expect(
            world.effects { engine, _ in engine.topicChangeRequested(waiter: 1, fault: nil) }.links == [
                .topicsCommitted
            ])
        let request = TopicChangeRequest(sequence: 1, app: app, topic: "news", joins: true)
        let effects = world.effects { engine, _ in engine.topicAnswered(request, code: nil) }
        #expect(effects.said == [.channel(.accepted(request: 2))])
        #expect(world.effects { engine, _ in engine.topicAnswered(request, code: nil) }.said.isEmpty)
    }

    @Test func `an app is removed when its manifest is missing at two looks`() {
        var world = EngineWorld()
        world.store.apps = [(app, TeamID(rawValue: "TEAM000001"))]
        let nothing = InstalledManifests(isReadable: true)
        let first = (try? world.effects { try $0.manifestsLoaded(nothing, $1) }) ?? []
        #expect(first.timers.contains { if case .lookForApp(app) = $0 { true } else { false } })
        #expect(world.engine.apps[app] != nil)
        let second = world.effects { $0.lookForApp(app, $1) { nothing } }
        #expect(world.engine.apps[app] == nil)
        #expect(second.links == [.requestTokenEnd(app)])
        #expect(second.contains { if case .removed(app) = $0 { true } else { false } })
        #expect(world.changes == [.storeRemoval])
        #expect(world.effects { $0.lookForApp(app, $1) { nothing } }.isEmpty)
    }

    @Test(arguments: [(Int32(7), true), (8, false), (0, false)])
    func `the end of a process is looked for, unless the agent's parent keeps it, or it is unknown`(
        process: Int32, isLookedFor: Bool
    ) throws {
        var world = EngineWorld()
        world.siblings = [8]
        let connection = try world.connect(process: process)
        let timers = world.effects { $0.disconnect(connection, $1) }.timers
        let looks = timers.contains { if case .supervise(.endLookDue(_, process), app) = $0 { true } else { false } }
        #expect(looks == isLookedFor)
    }

    @Test func `an app stays while the folder cannot be read`() throws {
        var world = EngineWorld()
        _ = try world.effects { try $0.manifestsLoaded(InstalledManifests(isReadable: true), $1) }
        let effects = world.effects { $0.lookForApp(app, $1) { InstalledManifests(isReadable: false) } }
        #expect(effects.isEmpty && world.engine.apps[app] != nil)
    }

    // MARK: Time

    private func request(_ identifier: String, _ trigger: NotificationTrigger?) -> NotificationRequest {
        var content = NotificationContent()
        content.title = identifier
        return NotificationRequest(identifier: identifier, content: content, trigger: trigger)
    }

    @Test func `a request goes from its adding to its firing, and is stored at each step`() {
        var world = EngineWorld()
        let tea = request("tea", .timeInterval(seconds: 60, repeats: false))
        _ = world.effects {
            $0.loadSchedule($1)
            $0.addRequest(tea, as: nil, app: app, $1)
        }
        #expect(world.changes == [.storeScheduled])
        let pending = PendingRequest(key: 1, app: app, request: tea, added: world.context.clock)
        world.store.requests = [pending]
        let armed = world.effects { $0.committed([.scheduled(pending, replaced: [], dropped: [])], $1) }
        let due = noon.adding(milliseconds: 60_000)
        #expect(armed.contains { if case .arm(due) = $0 { true } else { false } })
        world.now = noon.adding(milliseconds: 60_000)
        var clock = world.context
        clock.clock.sinceBoot += 60_000
        world.engine.updateSchedule(.timePassed, clock)
        #expect(world.changes == [.storeScheduled, .storeDue])
    }

    @Test func `a request whose app is not installed is held`() {
        var world = EngineWorld()
        let tea = request("tea", .timeInterval(seconds: 60, repeats: false))
        world.store.requests = [PendingRequest(key: 1, app: app, request: tea, added: world.context.clock)]
        world.engine.apps[app] = nil
        var context = world.context
        context.clock.sinceBoot += 61_000
        context.clock.wall = context.clock.wall.adding(milliseconds: 61_000)
        world.engine.loadSchedule(context)
        world.engine.updateSchedule(.timePassed, context)
        #expect(world.changes.isEmpty)
        #expect(world.engine.schedule.held == [1])
    }

    @Test func `what has expired ends when its time has come, and the next is looked for then`() throws {
        var world = EngineWorld()
        world.store.expiry = noon.adding(milliseconds: 500)
        let first = world.effects { $0.resumeExpiry($1) }
        guard case .expire(let moment)? = first.timers.first else {
            Issue.record("a pause is asked for")
            return
        }
        let effects = world.effects { $0.timePassed(.expire(moment), $1) }
        #expect(world.changes.count == 2)
        #expect(effects.contains { if case .resumeExpiry = $0 { true } else { false } })
        #expect(world.effects { $0.timePassed(.expire(moment), $1) }.isEmpty, "it comes once")
    }

    @Test func `what does not fit into an answer is left out, and the log says so once`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        var long = request("long", .timeInterval(seconds: 60, repeats: false))
        long.content.body = String(repeating: "x", count: AnswerLimits.bytes / 2)
        world.store.requests = (Int64(1)...3).map {
            PendingRequest(key: RequestKey(rawValue: $0), app: app, request: long, added: world.context.clock)
        }
        let said = [Int64](1...2).map { number in
            world.effects {
                $0.handleCenterCommand(.pending, request: number, from: app, connection: connection, context: $1)
            }
        }
        for (number, effects) in said.enumerated() {
            guard case .centerAnswered(_, .pending(let requests))? = effects.said.first else {
                Issue.record("\(effects.said.count) answers")
                continue
            }
            #expect(requests.count == 1)
            #expect(effects.logged("An app was given the newest of its notifications") == (number == 0 ? 1 : 0))
        }
    }

    @Test func `a request that more than may wait push out is said once`() throws {
        var world = EngineWorld()
        let tea = request("tea", .timeInterval(seconds: 60, repeats: false))
        let logged = (Int64(65)...67).map { number in
            world.effects {
                let pending = PendingRequest(
                    key: RequestKey(rawValue: number), app: app, request: tea, added: $1.clock)
                $0.committed([.scheduled(pending, replaced: [], dropped: [RequestKey(rawValue: number - 64)])], $1)
            }.logged("More wait than may")
        }
        #expect(logged == [1, 0, 0])
    }

    @Test func `the badge that an app reads is the one that it has set`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        let effects = world.effects { engine, context in
            for (number, command) in [NotificationCenterCommand.setBadge(5), .badge].enumerated() {
                engine.handleCenterCommand(
                    command, request: Int64(number), from: app, connection: connection, context: context)
            }
            engine.committed([], context)
        }
        #expect(effects.said.contains(.centerAnswered(request: 1, .badge(5))))
    }
}

import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

@Suite struct EngineAttemptTests {
    private static let one = NotificationID(rawValue: 10)

    private func connect(_ world: inout EngineWorld, run: String, process: Int32 = 7) throws -> AppConnectionID {
        let connection = EngineWorld.connection(process)
        _ = try world.effects { engine, context in
            engine.beginRun(run, of: EngineWorld.app, connection: connection, context: context)
            _ = try engine.connectApp(EngineWorld.app, connection: connection, run: run, context: context)
            try engine.perform(.ready, from: EngineWorld.app, connection: connection, context: context)
        }
        return connection
    }

    private func ended(_ world: EngineWorld) -> [UnansweredHandovers] {
        world.engine.batch.changes.compactMap { change in
            if case .runEnded(_, let unanswered, _, _) = change.kind { unanswered } else { nil }
        }
    }

    @Test func `what a run did not answer counts when another run connects, and not when it comes back`() throws {
        var world = EngineWorld()
        world.store.notifications = [waiting(1)]
        let first = try connect(&world, run: "a")
        _ = world.effects { $0.disconnect(first, $1) }
        let again = try connect(&world, run: "a")
        #expect(ended(world).isEmpty)
        _ = world.effects { $0.disconnect(again, $1) }
        _ = try connect(&world, run: "b")
        #expect(ended(world) == [UnansweredHandovers(notifications: [Self.one])])
    }

    @Test func `a run that another one replaces while it is connected counts too`() throws {
        var world = EngineWorld()
        world.store.notifications = [waiting(1)]
        _ = try connect(&world, run: "a")
        _ = try connect(&world, run: "b", process: 8)
        #expect(ended(world) == [UnansweredHandovers(notifications: [Self.one])])
    }

    @Test func `what was answered does not count`() throws {
        var world = EngineWorld()
        world.store.notifications = [waiting(1)]
        let first = try connect(&world, run: "a")
        _ = try world.effects { engine, context in
            try engine.perform(
                .handled(notification: 10, outcome: .notPresented), from: EngineWorld.app, connection: first,
                context: context)
            engine.disconnect(first, context)
        }
        _ = try connect(&world, run: "b")
        #expect(ended(world).isEmpty)
    }

    @Test func `an app that died of a tap is started again once its attempt is stored`() throws {
        var world = EngineWorld()
        world.store.responses = [
            WaitingResponse(sequence: 3, notification: waiting(1), action: NotificationAction.open)
        ]
        let first = try connect(&world, run: "a")
        _ = world.effects { $0.disconnect(first, $1) }
        let gone = world.effects { engine, context in
            engine.supervise(.returnLimitPassed(deadline: 1), app: EngineWorld.app, context: context)
        }
        #expect(gone.launches == 0)
        #expect(ended(world) == [UnansweredHandovers(responses: [3])])
        let counted = world.effects {
            $0.committed([.runEnded(app: EngineWorld.app, counted: 1, givenUp: 0)], $1)
        }
        #expect(counted.launches == 1)
        world.store.responses = []
        let over = world.effects {
            $0.committed([.runEnded(app: EngineWorld.app, counted: 1, givenUp: 1)], $1)
        }
        #expect(over.launches == 0)
    }

    @Test func `a run that died while it was launched for a tap has had its attempt`() throws {
        var world = EngineWorld()
        world.store.responses = [
            WaitingResponse(sequence: 3, notification: waiting(1), action: NotificationAction.open)
        ]
        let connection = EngineWorld.connection()
        _ = try world.effects { engine, context in
            engine.beginRun("a", of: EngineWorld.app, connection: connection, context: context)
            _ = try engine.connectApp(EngineWorld.app, connection: connection, run: "a", context: context)
            engine.disconnect(connection, context)
        }
        _ = try connect(&world, run: "b")
        #expect(ended(world) == [UnansweredHandovers(responses: [3])])
    }

    @Test func `the first data message without a confirmation counts`() throws {
        var world = EngineWorld()
        world.store.data = [1, 2].map {
            DataMessage(
                sequence: DataMessage.Place(rawValue: $0), id: NotificationID(rawValue: $0), app: EngineWorld.app,
                apnsID: "A", payload: "{}", acceptedAt: noon)
        }
        let first = try connect(&world, run: "a")
        _ = try world.effects { engine, context in
            try engine.perform(.channel(.open), from: EngineWorld.app, connection: first, context: context)
            try engine.perform(
                .channel(.taken(message: 1)), from: EngineWorld.app, connection: first, context: context)
            engine.disconnect(first, context)
        }
        _ = try connect(&world, run: "b")
        #expect(ended(world) == [UnansweredHandovers(message: NotificationID(rawValue: 2))])
    }
}

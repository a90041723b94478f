import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

@Suite struct EngineCommitTests {
    private let app = EngineWorld.app

    private func id(_ number: Int64) -> NotificationID { NotificationID(rawValue: number) }

    @Test func `what this session brought is acknowledged, and nothing of an earlier one`() {
        var world = EngineWorld()
        let effects = world.effects {
            $0.committed(
                [
                    .stored(id(1), app: app, session: 1, isNew: true, awaited: false),
                    .stored(id(2), app: app, session: 0, isNew: true, awaited: false),
                    .stored(id(3), app: app, session: 1, isNew: false, awaited: false),
                ], $1)
        }
        #expect(effects.links == [.acknowledge([id(1), id(3)], session: 1), .receiptsCommitted])
    }

    @Test func `an app hears that its command is durable before it hears what came of it`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        let effects = world.effects { engine, context in
            engine.handleCenterCommand(
                .removeDelivered(["milk"]), request: 4, from: EngineWorld.app, connection: connection, context: context)
            engine.committed([.handled(NotificationID(rawValue: 9), app: EngineWorld.app)], context)
        }
        #expect(effects.said == [.centerAnswered(request: 4, .done), .handledConfirmed(notifications: [9])])
    }

    @Test func `a command that changes nothing is confirmed at once`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        let effects = world.effects {
            $0.handleCenterCommand(
                .setCategories([]), request: 1, from: EngineWorld.app, connection: connection, context: $1)
        }
        #expect(effects.said == [.centerAnswered(request: 1, .done)])
    }

    @Test func `two reasons to start an app in one commit start it once`() {
        var world = EngineWorld { $0.backgroundModes = [AppManifest.remoteNotifications] }
        world.store.isWaking = true
        let results: [ChangeResult] = [
            .tapped(id(1), app: app, activationToken: nil),
            .stored(id(2), app: app, session: 1, isNew: true, awaited: true),
        ]
        let effects = world.effects { $0.committed(results, $1) }
        #expect(effects.launches == 1)
        #expect(effects.withdrawn == [id(1)])
        // A start that failed is no start.
        let again = world.effects {
            $0.launchFailed(EngineWorld.app)
            $0.committed(results, $1)
        }
        #expect(again.launches == 1)
    }

    @Test func `a failed store closes what would hear of it, and has everything read again`() throws {
        var world = EngineWorld()
        let connection = try world.connect()
        let terminal = Confirmation(connection: EngineWorld.connection(8), request: 5)
        world.engine.terminals.wait(terminal, for: "question")
        world.engine.batch.wait(Confirmation(connection: connection, request: 6))
        let effects = world.effects { $0.storeFailed($1) }
        #expect(effects.links == [.closeSession])
        #expect(effects.contains { if case .close(let closed) = $0 { closed == connection } else { false } })
        #expect(effects.said == [.managed(request: 5, .failed(message: "the agent's store failed"))])
        #expect(effects.contains { if case .reloadExtensions = $0 { true } else { false } })
        #expect(effects.timers.contains { if case .schedule(.pauseEnded) = $0 { true } else { false } })
        #expect(world.engine.batch.takeWaiting().isEmpty, "nobody is told that it is durable")
        #expect(world.changes == [.storeUnlisted], "the question must not appear later")
    }

    @Test func `what cannot be read is told once, and the rest is done all the same`() throws {
        var world = EngineWorld()
        _ = try world.connect()
        world.store.isBroken = true
        let effects = world.effects {
            $0.committed([.stored(id(1), app: app, session: 1, isNew: true, awaited: true)], $1)
        }
        #expect(effects.failures >= 1)
        #expect(effects.links == [.acknowledge([id(1)], session: 1), .receiptsCommitted])
    }
}

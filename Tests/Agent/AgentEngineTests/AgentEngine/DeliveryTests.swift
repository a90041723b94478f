import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

@Suite struct EngineDeliveryTests {
    @Test func `what waits is handed to an app that is ready, and watched for its answer`() throws {
        var world = EngineWorld()
        world.store.notifications = [waiting(1), waiting(2)]
        let connection = EngineWorld.connection()
        let effects = try world.effects { engine, context in
            _ = try engine.connectApp(EngineWorld.app, connection: connection, run: nil, context: context)
            try engine.perform(.ready, from: EngineWorld.app, connection: connection, context: context)
        }
        let delivered = effects.said.compactMap { if case .deliver(let one, _) = $0 { one.id } else { nil } }
        #expect(delivered == [10, 20])
        #expect(effects.timers.contains { if case .answersDue = $0 { true } else { false } })
        // The first time that answers are due, it has had them for less than it may.
        _ = world.effects { $0.timePassed(.answersDue(EngineWorld.app), $1) }
        #expect(world.changes.isEmpty)
        _ = world.effects { $0.timePassed(.answersDue(EngineWorld.app), $1) }
        #expect(world.changes == [.storeAppearance, .storeAppearance])
    }

    @Test func `what an app wants to be heard, and not seen, is played`() throws {
        var world = EngineWorld()
        world.store.notifications = [waiting(1, payload: #"{"aps":{"alert":"Milk","sound":"default","badge":3}}"#)]
        world.store.unhandled = [NotificationID(rawValue: 10)]
        let connection = try world.connect()
        let options = PresentationOption.sound | PresentationOption.badge
        let effects = try world.effects { engine, context in
            try engine.perform(
                .handled(notification: 10, outcome: .presented(options: options)), from: EngineWorld.app,
                connection: connection,
                context: context)
        }
        #expect(effects.contains { if case .play(.standard, _) = $0 { true } else { false } })
        #expect(effects.contains { if case .badge(3, _) = $0 { true } else { false } })
        #expect(world.changes == [.storeStanding, .storeHandled])
    }

    @Test func `what came before tells its badge once`() {
        var world = EngineWorld()
        let badge = outgoing(1, payload: #"{"aps":{"badge":2}}"#)
        let first = world.effects { $0.arrived([badge], in: 1, $1) }
        #expect(first.contains { if case .badge(2, _) = $0 { true } else { false } })
        world.store.known = [NotificationID(rawValue: 1)]
        let second = world.effects { $0.arrived([badge], in: 1, $1) }
        #expect(!second.contains { if case .badge = $0 { true } else { false } })
        #expect(world.changes == [.storeStanding, .storeArrival, .storeArrival])
    }

    /// How the agent disposes of a push of this type.
    private func disposition(
        of type: PushType, _ world: inout EngineWorld
    ) -> PlannedNotification.Disposition? {
        var push = outgoing(1)
        push.pushType = type
        _ = world.effects { $0.arrived([push], in: 1, $1) }
        return world.engine.batch.changes.compactMap { change in
            if case .arrived(let arrival) = change.kind { arrival.disposition } else { nil }
        }.last
    }

    @Test(arguments: PushType.allCases)
    func `a push that nothing on the device receives ends as that, and not as handed over`(type: PushType) {
        var world = EngineWorld()
        let disposition = disposition(of: type, &world)
        let isEnd = if case .ends(.failed("noReceiver"), _?) = disposition { true } else { false }
        #expect(isEnd == ![.alert, .background, .liveactivity].contains(type))
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"a"},"attachment-url":"https://a.example/b.jpg"}"#, true),
        (#"{"aps":{"alert":"a"},"ab":{"att":{"url":"https://a.example/b.jpg"}}}"#, true),
        (#"{"aps":{"alert":"a"},"fcm_options":{"image":"https://a.example/b.jpg"}}"#, true),
        (#"{"aps":{"alert":"a"},"att":{"b":"https://a.example/b.jpg"}}"#, true),
        (#"{"aps":{"badge":1,"mutable-content":1},"attachment-url":"https://a.example/b.jpg"}"#, true),
        (#"{"aps":{"alert":"a","mutable-content":1},"attachment-url":"https://a.example/b.jpg"}"#, false),
        (#"{"aps":{"content-available":1},"attachment-url":"https://a.example/b.jpg"}"#, false),
        (#"{"aps":{"alert":"a"},"attachment-url":"","att":{},"ab":[]}"#, false),
    ])
    func `a picture that no extension is asked for is noted`(payload: String, isNoted: Bool) {
        var world = EngineWorld()
        _ = world.effects { $0.arrived([outgoing(1, payload: payload)], in: 1, $1) }
        let noted = world.engine.batch.changes.compactMap { change in
            if case .arrived(let arrival) = change.kind { arrival.hasUnaskedPicture } else { nil }
        }
        #expect(noted == [isNoted])
    }

    @Test func `a call starts an app that takes calls, and shows nothing by itself`() {
        var world = EngineWorld {
            $0.backgroundModes = [AppManifest.calls]
            $0.lifecycle = .declared
        }
        #expect(disposition(of: .voip, &world) == .waits)
        let effects = world.effects {
            $0.committed(
                [
                    .stored(
                        NotificationID(rawValue: 1), app: EngineWorld.app, session: 1, isNew: true, awaited: true)
                ], $1)
        }
        #expect(effects.launches == 1)
    }

    @Test func `what is for no app is stored, so that the server hears its end`() {
        var world = EngineWorld()
        let effects = world.effects { $0.arrived([outgoing(1, topic: "com.example.other")], in: 1, $1) }
        #expect(effects.failures == 0)
        #expect(world.changes == [.storeArrival])
    }

    @Test func `the presenter is asked for a window of what is wanted, and again when its answer is stored`() {
        var world = EngineWorld()
        world.store.wantedNow = [waiting(1)]
        let effects = world.effects { $0.sendPresentations($1) }
        let asked = effects.contains { effect in
            if case .present(let shown, _, again: false) = effect {
                shown.title == "" && shown.body == "Milk"
            } else {
                false
            }
        }
        #expect(asked)
        #expect(world.effects { $0.sendPresentations($1) }.isEmpty)
        _ = world.effects {
            $0.presented(waiting(1), outcome: .presented(handle: "7", note: nil), again: false, context: $1)
        }
        #expect(world.changes == [.storePresented])
    }
}

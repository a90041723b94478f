import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

/// What people do: at the desktop, at a terminal, and when they are asked.
@Suite struct EnginePersonTests {
    private let app = EngineWorld.app

    private func world(actionOptions options: UInt, asksForText: Bool = false) -> EngineWorld {
        var world = EngineWorld()
        let action = NotificationActionDescription(
            identifier: "buy", title: "Buy", options: options,
            textInput: asksForText ? .init(buttonTitle: "Send", placeholder: "how many") : nil)
        world.engine.apps[app]?.record.merge([NotificationCategory(identifier: "shop", actions: [action])])
        world.store.notifications = [waiting(1, payload: #"{"aps":{"alert":"Milk","category":"shop"}}"#)]
        return world
    }

    @Test(arguments: [(true, false), (false, true)])
    func `an answer that needs the person's identity waits on a locked screen`(isLocked: Bool, isGiven: Bool) {
        var world = world(actionOptions: NotificationActionDescription.authenticationRequired)
        _ = world.effects { $0.handlePresenterEvent(.locked(isLocked), $1) }
        let before = world.changes.count
        let effects = world.effects {
            $0.handlePresenterEvent(.pressed(NotificationID(rawValue: 10), button: "buy", activationToken: nil), $1)
        }
        #expect(world.changes.dropFirst(before) == [.storeTap])
        let isHeld = effects.contains { if case .log(.info, _, _) = $0 { true } else { false } }
        #expect(isHeld != isGiven)
    }

    @Test func `a button that asks for text has a window opened, and its text is the answer`() throws {
        var world = world(actionOptions: 0, asksForText: true)
        let effects = world.effects {
            $0.handlePresenterEvent(.pressed(NotificationID(rawValue: 10), button: "buy", activationToken: "t"), $1)
        }
        let asked = effects.compactMap { if case .askForReply(let request) = $0 { request } else { nil } }
        let request = try #require(asked.first)
        #expect(request.question.appName == "Todo" && request.activationToken == "t")
        #expect(world.changes == [.storeLeftScreen])
        _ = world.effects { $0.replied(request, answer: .cancelled, context: $1) }
        #expect(world.changes == [.storeLeftScreen], "it stays in the list")
        _ = world.effects { $0.replied(request, answer: .text("two"), context: $1) }
        #expect(world.changes == [.storeLeftScreen, .storeTap])
    }

    @Test func `what a person did while the store cannot be read is tried again, and not without end`() {
        var world = EngineWorld()
        world.store.isBroken = true
        let event = PresenterEvent.opened(NotificationID(rawValue: 10), activationToken: nil)
        for _ in 1...1_000 {
            #expect(world.effects { $0.handlePresenterEvent(event, $1) }.timers.count == 1)
        }
        let last = world.effects { $0.handlePresenterEvent(event, $1) }
        #expect(last.timers.isEmpty && last.failures == 1)
        let isLost = "A person's action is lost"
        #expect(last.logged(isLost) == 1)
        #expect(world.effects { $0.handlePresenterEvent(event, $1) }.logged(isLost) == 0, "it is said once")
        #expect(world.effects { $0.timePassed(.presenterEvent(event), $1) }.timers.count == 1)
        // Once it was readable, the next loss is another one.
        world.store.isBroken = false
        _ = world.effects { $0.timePassed(.presenterEvent(event), $1) }
        world.store.isBroken = true
        let later = world.effects { engine, context in
            for _ in 1...2 { engine.handlePresenterEvent(event, context) }
        }
        #expect(later.logged(isLost) == 1)
    }

    @Test func `a terminal that waits hears what the person did, and its notification leaves the list`() {
        var world = EngineWorld()
        let question = WaitingNotification(
            sequence: 1, id: NotificationID(rawValue: -4), app: AppManifest.terminalID, apnsID: "", identifier: "q",
            payload: "", acceptedAt: noon, content: NotificationContent())
        world.store.notifications = [question]
        world.engine.terminals.wait(Confirmation(connection: EngineWorld.connection(), request: 3), for: "q")
        let effects = world.effects { $0.handlePresenterEvent(.dismissed(question.id), $1) }
        #expect(
            effects.said == [.managed(request: 3, .answered(action: NotificationAction.dismiss, text: nil))])
        #expect(world.changes == [.storeUnlisted])
    }

    @Test func `what a terminal orders is answered when it is durable, where it is stored`() {
        var world = EngineWorld()
        var isStored = world.engine.execute(.setQuietHours(nil, text: "off"), world.context)
        #expect(isStored && world.changes == [.storePreference])
        isStored = world.engine.execute(.openSettings(app: app), world.context)
        #expect(!isStored)
        #expect(world.engine.takeEffects().launches == 1)
    }

    @Test func `a person is asked once, and all who wait hear the answer`() throws {
        var world = EngineWorld { $0.authorization = .ask }
        let connection = try world.connect()
        var asked: [NotificationID] = []
        for request in 1...2 as ClosedRange<Int64> {
            let effects = try world.effects {
                try $0.perform(
                    .requestAuthorization(request: request, options: 7), from: app, connection: connection, context: $1)
            }
            asked += effects.compactMap { if case .ask(let question) = $0 { question.notification } else { nil } }
        }
        let id = try #require(asked.first)
        #expect(asked.count == 1)
        _ = world.effects { engine, _ in engine.questionShown(id, .presented(handle: "1", note: nil)) }
        let answer = AuthorizationQuestion.Answer.allow.rawValue
        let effects = world.effects { $0.handlePresenterEvent(.pressed(id, button: answer, activationToken: nil), $1) }
        #expect(
            effects.said == [
                .authorizationAnswered(request: 1, granted: true), .authorizationAnswered(request: 2, granted: true),
            ])
        #expect(world.changes == [.storeQuestion, .storeQuestion, .storeStanding])
    }

    @Test func `where there is no screen an app hears why nobody was asked`() throws {
        var world = EngineWorld { $0.authorization = .ask }
        world.hasScreen = false
        let connection = try world.connect()
        let effects = try world.effects {
            try $0.perform(
                .requestAuthorization(request: 1, options: 7), from: app, connection: connection, context: $1)
        }
        guard case .authorizationAnswered(1, granted: false, let reason?) = effects.said.first else {
            Issue.record("it is answered")
            return
        }
        #expect(reason.hasPrefix("nobody could be asked, since there is no screen"))
    }
}

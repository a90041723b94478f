import ActivityKit
import AgentProtocol
import Dispatch
import Foundation
import Testing

/// Events of an app's activities.
struct ReceptionTests {
    private let app: ActivityApp

    init() throws { app = try ActivityApp() }

    private typealias Delivery = Activity<DeliveryAttributes>

    /// Answers the next question for the app's settings.
    private func answerSettings(status: Int) async throws {
        let asked = try await app.agent.next { if case .getSettings = $0 { true } else { false } }
        guard case .getSettings(let request) = asked else { return }
        let settings = NotificationSettings(
            authorizationStatus: status, alertSetting: 2, soundSetting: 2, badgeSetting: 2,
            notificationCenterSetting: 2, alertStyle: 1)
        try app.agent.say(.settings(request: request, settings))
    }

    @Test func `an activity that a push started becomes an object, once`() async throws {
        try await app.run {
            let updates = Delivery.activityUpdates
            try await app.agent.welcome()
            try await app.tell()
            let wire = ActivityApp.activity("a", pushToken: "abcd")
            try app.agent.say(.activity(.changed(wire)))
            let activity = try await updates.first()
            #expect(activity.id == wire.id && activity.attributes.order == "7")
            #expect(activity.contentState.driver == "Ana" && activity.pushToken == Data([0xAB, 0xCD]))
            try app.agent.say(.activity(.changed(ActivityApp.activity("a", minutes: 4))))
            #expect(try await activity.contentStateUpdates.first { $0.minutes == 4 }.driver == "Ana")
            #expect(Delivery.activities.count == 1 && Delivery.activities.first === activity)
        }
    }

    @Test func `a type that is used late finds the activities that the agent has`() async throws {
        try await app.run {
            let start = Delivery.pushToStartTokenUpdates
            try await app.agent.welcome()
            try await app.tell([ActivityApp.activity("a"), ActivityApp.activity("b")], startToken: "cd")
            #expect(try await start.first() == Data([0xCD]))
            #expect(Set(Delivery.activities.map(\.id.first)) == ["a", "b"])
            #expect(Delivery.pushToStartToken == Data([0xCD]))
        }
    }

    @Test func `the first question which activities there are waits for the agent`() async throws {
        let app = try ActivityApp(firstEventsLimit: .seconds(60))
        let (ids, answer) = AsyncStream<[String]>.makeStream()
        let center = app.center
        Thread {
            ActivityCenter.$current.withValue(center) { _ = answer.yield(Delivery.activities.map(\.id)) }
        }.start()
        try await app.agent.welcome()
        try await app.tell([ActivityApp.activity("a")])
        #expect(try await ids.first() == [ActivityApp.activity("a").id])
    }

    @Test func `an app whose main thread is blocked learns of its activities`() async throws {
        let center = app.center
        let (ids, answer) = AsyncStream<Character>.makeStream()
        let isBlocked = DispatchSemaphore(value: 0)
        DispatchQueue.main.async { isBlocked.wait() }
        defer { isBlocked.signal() }
        Task {
            await ActivityCenter.$current.withValue(center) {
                for await activity in Delivery.activityUpdates { answer.yield(activity.id.first ?? " ") }
            }
        }
        try await app.agent.welcome()
        try await app.tell([ActivityApp.activity("a")])
        #expect(try await ids.first() == "a")
    }

    @Test func `an activity that the agent no longer has is dismissed, but not one that it was not asked for yet`()
        async throws
    {
        try await app.run {
            let updates = Delivery.activityUpdates
            try await app.agent.welcome()
            try await app.tell([ActivityApp.activity("a")])
            let old = try await updates.first()
            app.agent.cut()
            try await app.agent.welcome()
            let new = try Activity.request(
                attributes: DeliveryAttributes(order: "8"),
                contentState: DeliveryAttributes.ContentState(driver: "Ben", minutes: 5))
            try await app.tell()
            for await _ in old.activityStateUpdates {}
            #expect(old.activityState == .dismissed && new.activityState == .active)
            #expect(Delivery.activities.map(\.id) == [new.id])
        }
    }

    @Test func `content that does not decode is reported once and skipped, and the rest is taken`() async throws {
        try await app.run {
            let updates = Delivery.activityUpdates
            try await app.agent.welcome()
            try await app.tell([ActivityApp.activity("a")])
            let activity = try await updates.first()
            var wire = ActivityApp.activity("a", pushToken: "ab")
            wire.content.state = #"{"driver":1}"#
            try app.agent.say(.activity(.changed(wire)))
            wire.state = .stale
            try app.agent.say(.activity(.changed(wire)))
            #expect(try await activity.activityStateUpdates.first { $0 != .active } == .stale)
            #expect(activity.pushToken == Data([0xAB]) && activity.contentState.driver == "Ana")
            #expect(app.reports.all.count == 1)
            #expect(app.reports.all.first?.contains("is not that of DeliveryAttributes") == true)
            try app.agent.say(.activity(.changed(ActivityApp.activity("a", minutes: 2))))
            #expect(try await activity.contentStateUpdates.first { $0.minutes == 2 }.driver == "Ana")
        }
    }

    @Test func `an activity whose attributes do not decode is reported once, and one of another type is not`()
        async throws
    {
        try await app.run {
            let updates = Delivery.activityUpdates
            try await app.agent.welcome()
            var broken = ActivityApp.activity("b")
            broken.attributes = "{}"
            try await app.tell([ActivityApp.activity("c", type: "RideAttributes"), broken])
            try app.agent.say(.activity(.changed(broken)))
            try app.agent.say(.activity(.changed(ActivityApp.activity("a"))))
            #expect(try await updates.first().id == ActivityApp.activity("a").id)
            #expect(app.reports.all.count == 1)
            #expect(app.reports.all.first?.contains(broken.id) == true)
        }
    }

    @Test func `states do not go back, and the streams end when the activity is dismissed`() async throws {
        try await app.run {
            let updates = Delivery.activityUpdates
            try await app.agent.welcome()
            try await app.tell([ActivityApp.activity("a")])
            let activity = try await updates.first()
            try app.agent.say(.activity(.changed(ActivityApp.activity("a", state: .ended))))
            try app.agent.say(.activity(.changed(ActivityApp.activity("a", minutes: 1, state: .active))))
            #expect(try await activity.contentStateUpdates.first { $0.minutes == 1 }.driver == "Ana")
            #expect(activity.activityState == .ended)
            try app.agent.say(.activity(.changed(ActivityApp.activity("a", state: .dismissed))))
            for await _ in activity.contentUpdates {}
            for await _ in activity.activityStateUpdates {}
            #expect(activity.activityState == .dismissed && Delivery.activities.isEmpty)
        }
    }

    @Test func `the start token is told when it changes`() async throws {
        try await app.run {
            var tokens = Delivery.pushToStartTokenUpdates.makeAsyncIterator()
            try await app.agent.welcome()
            try await app.tell()
            try app.agent.say(.activity(.startToken("ab")))
            #expect(await tokens.next(isolation: nil) == Data([0xAB]))
            try app.agent.say(.activity(.startToken("cd")))
            #expect(await tokens.next(isolation: nil) == Data([0xCD]))
        }
    }

    @Test(arguments: [(0, true), (1, false), (2, true)])
    func `a person who does not allow notifications does not allow activities`(
        status: Int, isEnabled: Bool
    ) async throws {
        try await app.run {
            let info = ActivityAuthorizationInfo()
            #expect(info.areActivitiesEnabled)
            try await app.agent.welcome()
            try await answerSettings(status: status)
            #expect(try await info.activityEnablementUpdates.first() == isEnabled)
            #expect(info.areActivitiesEnabled == isEnabled && info.frequentPushesEnabled == isEnabled)
        }
    }

    @Test func `an activity that is denied has the permission asked for again`() async throws {
        try await app.run {
            let info = ActivityAuthorizationInfo()
            try await app.agent.welcome()
            try await answerSettings(status: 1)
            #expect(try await info.activityEnablementUpdates.first() == false)
            let attributes = DeliveryAttributes(order: "7")
            let state = DeliveryAttributes.ContentState(driver: "Ana", minutes: 9)
            #expect(throws: ActivityAuthorizationError.denied) {
                try Activity.request(attributes: attributes, contentState: state)
            }
            try await answerSettings(status: 2)
            #expect(try await info.activityEnablementUpdates.first { $0 })
            #expect(throws: Never.self) { try Activity.request(attributes: attributes, contentState: state) }
        }
    }
}

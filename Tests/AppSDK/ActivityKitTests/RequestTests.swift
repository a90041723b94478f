import ActivityKit
import AgentProtocol
import Foundation
import Testing

/// Activities that an app starts, updates and ends.
struct RequestTests {
    private let app: ActivityApp

    init() throws { app = try ActivityApp() }

    private static let content = ActivityContent(
        state: DeliveryAttributes.ContentState(driver: "Ana", minutes: 9),
        staleDate: Date(timeIntervalSince1970: 1_800_000_000.5), relevanceScore: 50)

    private func request(_ pushType: PushType? = .token) throws -> Activity<DeliveryAttributes> {
        try Activity.request(
            attributes: DeliveryAttributes(order: "7"), content: Self.content, pushType: pushType)
    }

    @Test func `a request returns at once, and the agent gets the activity as JSON`() async throws {
        try await app.run {
            let activity = try request()
            #expect(activity.attributes == DeliveryAttributes(order: "7"))
            #expect(activity.content == Self.content && activity.contentState.minutes == 9)
            #expect(activity.activityState == .active && activity.pushToken == nil)
            try await app.agent.welcome()
            let (_, wire, pushes) = try await app.start()
            #expect(wire.id == activity.id && wire.id.count == 32)
            #expect(wire.id.allSatisfy { "0123456789abcdef".contains($0) })
            #expect(wire.attributesType == "DeliveryAttributes" && wire.attributes == #"{"order":"7"}"#)
            let state = try JSONDecoder().decode(
                DeliveryAttributes.ContentState.self, from: Data(wire.content.state.utf8))
            #expect(state == Self.content.state)
            #expect(wire.content.staleDate == 1_800_000_000_500 && wire.content.relevanceScore == 50)
            #expect(pushes == .token)
        }
    }

    @Test(arguments: [
        (PushType?.none, LiveActivityPushes.none), (.token, .token), (.channel("c1"), .channel("c1")),
    ])
    func `the push type says which pushes update it`(type: PushType?, pushes: LiveActivityPushes) async throws {
        try await app.run {
            _ = try request(type)
            try await app.agent.welcome()
            #expect(try await app.start().2 == pushes)
        }
    }

    @Test func `more than 4096 bytes of attributes and content are refused at once`() async throws {
        await app.run {
            let attributes = DeliveryAttributes(order: String(repeating: "7", count: 4_060))
            #expect(throws: ActivityAuthorizationError.attributesTooLarge) {
                try Activity.request(attributes: attributes, content: Self.content)
            }
            #expect(throws: Never.self) {
                try Activity.request(
                    attributes: DeliveryAttributes(order: String(repeating: "7", count: 4_050)),
                    content: Self.content)
            }
        }
    }

    @Test func `a ninth activity is refused at once, unless one has ended`() async throws {
        try await app.run {
            let first = try request()
            for _ in 2...8 { _ = try request() }
            #expect(throws: ActivityAuthorizationError.targetMaximumExceeded) { try request() }
            await first.end(nil)
            #expect(throws: Never.self) { try request() }
        }
    }

    @Test func `the token comes when the agent has it`() async throws {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            var (request, wire, _) = try await app.start()
            try app.agent.say(.activity(.accepted(request: request)))
            wire.pushToken = "abcd"
            try app.agent.say(.activity(.changed(wire)))
            #expect(try await activity.pushTokenUpdates.first() == Data([0xAB, 0xCD]))
            #expect(activity.pushToken == Data([0xAB, 0xCD]))
            wire.pushToken = "ef"
            try app.agent.say(.activity(.changed(wire)))
            #expect(try await activity.pushTokenUpdates.first { $0.count == 1 } == Data([0xEF]))
        }
    }

    @Test func `an activity that the agent refuses is dismissed, and standard error says why`() async throws {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            let number = try await app.start().request
            try app.agent.say(
                .activity(.refused(request: number, code: ActivityFault.denied, message: "not allowed")))
            var states: [ActivityState] = []
            for await state in activity.activityStateUpdates { states.append(state) }
            #expect(states.last == .dismissed, "the stream ends with it")
            for await _ in activity.pushTokenUpdates {}
            #expect(
                app.reports.all == ["the Live Activity \(activity.id) is not started (denied): not allowed"])
            #expect(Activity<DeliveryAttributes>.activities.isEmpty)
            #expect(throws: ActivityAuthorizationError.denied) { try request() }
            #expect(!ActivityAuthorizationInfo().areActivitiesEnabled)
        }
    }

    @Test func `an update reaches the agent with its alert, and the readers`() async throws {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            let number = try await app.start().request
            try app.agent.say(.activity(.accepted(request: number)))
            let next = ActivityContent(
                state: DeliveryAttributes.ContentState(driver: "Ana", minutes: 3), staleDate: nil)
            let minutes = 3
            async let updated: Void = activity.update(
                next,
                alertConfiguration: AlertConfiguration(
                    title: "Almost there", body: "\(minutes) minutes", sound: .named("bell.wav")))
            guard case .update(let update, activity.id, let content, let alert) = try await app.command() else {
                throw POSIXError(.EINVAL)
            }
            #expect(content.staleDate == nil && content.state.contains(#""minutes":3"#))
            #expect(
                alert
                    == LiveActivityAlert(
                        title: "Almost there", body: "3 minutes", sound: NotificationSound(name: "bell.wav")))
            try app.agent.say(.activity(.accepted(request: update)))
            await updated
            #expect(activity.content == next)
            #expect(try await activity.contentUpdates.first() == next)
            #expect(try await activity.contentStateUpdates.first() == next.state)
        }
    }

    @Test func `without an agent an update returns at once, and is sent when there is one`() async throws {
        try await app.run {
            let activity = try request()
            await activity.update(using: DeliveryAttributes.ContentState(driver: "Ben", minutes: 1))
            await activity.end(dismissalPolicy: .immediate)
            #expect(activity.contentState.driver == "Ben" && activity.activityState == .ended)
            await activity.update(using: DeliveryAttributes.ContentState(driver: "Eva", minutes: 0))
            #expect(activity.contentState.driver == "Ben", "it has ended")
            try await app.agent.welcome()
            _ = try await app.start()
            guard case .update = try await app.command() else { throw POSIXError(.EINVAL) }
            guard case .end(_, activity.id, nil, .immediate) = try await app.command() else {
                throw POSIXError(.EINVAL)
            }
        }
    }

    @Test func `content from before an update is not taken, and the agent is asked where it may have other content`()
        async throws
    {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            var (number, wire, _) = try await app.start()
            try app.agent.say(.activity(.accepted(request: number)))
            async let updated: Void = activity.update(
                using: DeliveryAttributes.ContentState(driver: "Ben", minutes: 1))
            guard case .update(let update, _, _, _) = try await app.command() else { throw POSIXError(.EINVAL) }
            wire.pushToken = "ab"
            try app.agent.say(.activity(.changed(wire)))
            #expect(try await activity.pushTokenUpdates.first() == Data([0xAB]))
            try app.agent.say(.activity(.accepted(request: update)))
            await updated
            #expect(activity.contentState.driver == "Ben")
            wire.content = LiveActivityContent(state: #"{"driver":"Eva","minutes":0}"#)
            try await app.tell([wire])
            #expect(try await activity.contentStateUpdates.first { $0.driver != "Ben" }.driver == "Eva")
        }
    }

    @Test func `an update that the agent refuses is reported, and what the agent has is asked for`() async throws {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            let (number, wire, _) = try await app.start()
            try app.agent.say(.activity(.accepted(request: number)))
            async let updated: Void = activity.update(
                using: DeliveryAttributes.ContentState(driver: "Ben", minutes: 1))
            guard case .update(let update, _, _, _) = try await app.command() else { throw POSIXError(.EINVAL) }
            try app.agent.say(.activity(.refused(request: update, code: ActivityFault.tooLarge, message: "long")))
            await updated
            try await app.tell([wire])
            #expect(try await activity.contentStateUpdates.first { $0.driver == "Ana" }.minutes == 9)
            #expect(
                app.reports.all == ["the Live Activity \(activity.id) is not changed (contentTooLarge): long"])
        }
    }

    @Test func `an activity that ended leaves the screen when the agent says so`() async throws {
        try await app.run {
            let activity = try request()
            try await app.agent.welcome()
            var (number, wire, _) = try await app.start()
            try app.agent.say(.activity(.accepted(request: number)))
            let last = ActivityContent(
                state: DeliveryAttributes.ContentState(driver: "Ana", minutes: 0), staleDate: nil)
            let time = Date(timeIntervalSince1970: 1_800_000_100)
            async let ended: Void = activity.end(last, dismissalPolicy: .after(time))
            guard case .end(let end, _, let content?, .after(1_800_000_100_000)) = try await app.command() else {
                throw POSIXError(.EINVAL)
            }
            #expect(content.state.contains(#""minutes":0"#))
            // What the agent said before it had the command does not bring the activity back.
            try app.agent.say(.activity(.changed(wire)))
            try app.agent.say(.activity(.accepted(request: end)))
            await ended
            #expect(activity.activityState == .ended)
            #expect(Activity<DeliveryAttributes>.activities.map(\.id) == [activity.id])
            wire.state = .dismissed
            try app.agent.say(.activity(.changed(wire)))
            for await _ in activity.activityStateUpdates {}
            #expect(activity.activityState == .dismissed)
        }
    }
}

import ActivityKit
import AgentProtocol
import Foundation
import Testing

/// Code as tutorials for iOS have it, and the names and errors that it sees.
struct SampleTests {
    private struct Generic<Value: Codable & Hashable>: ActivityAttributes {
        typealias ContentState = Value
    }

    /// The parts of an app as tutorials for iOS write them, but for views.
    @MainActor
    private final class Adventure {
        struct Hero: ActivityAttributes {
            public typealias Health = ContentState
            public struct ContentState: Codable, Hashable {
                let level: Double
                let event: String
            }
            let name: String
        }

        var current: Activity<Hero>?
        var tokens: [String] = []

        func start() throws {
            guard ActivityAuthorizationInfo().areActivitiesEnabled else { return }
            let adventure = Hero(name: "Panda")
            let initial = Hero.ContentState(level: 1, event: "Adventure has begun!")
            current = try Activity.request(
                attributes: adventure, content: .init(state: initial, staleDate: nil), pushType: .token)
        }

        func observe() async {
            guard let current else { return }
            for await token in current.pushTokenUpdates {
                tokens.append(token.reduce("") { $0 + String(format: "%02x", $1) })
                break
            }
        }

        func finish() async {
            let final = Hero.Health(level: 0, event: "Panda sleeps")
            await current?.update(
                ActivityContent<Hero.ContentState>(
                    state: final, staleDate: Date.now + 60, relevanceScore: 10),
                alertConfiguration: .init(title: "Panda", body: "sleeps", sound: .default))
            for activity in Activity<Hero>.activities {
                await activity.end(.init(state: final, staleDate: nil), dismissalPolicy: .after(.now + 3600))
            }
        }
    }

    @Test func `code of tutorials for iOS runs`() async throws {
        let app = try ActivityApp()
        try await app.run {
            let adventure = Adventure()
            try await adventure.start()
            try await app.agent.welcome()
            var (request, wire, _) = try await app.start()
            #expect(wire.attributesType == "Hero", "without the types around it")
            try app.agent.say(.activity(.accepted(request: request)))
            wire.pushToken = "00ff"
            try app.agent.say(.activity(.changed(wire)))
            await adventure.observe()
            #expect(await adventure.tokens == ["00ff"])
            async let finished: Void = adventure.finish()
            guard case .update(let update, _, _, let alert?) = try await app.command() else {
                throw POSIXError(.EINVAL)
            }
            #expect(alert.sound == NotificationSound())
            try app.agent.say(.activity(.accepted(request: update)))
            guard case .end(let end, _, _?, .after) = try await app.command() else { throw POSIXError(.EINVAL) }
            try app.agent.say(.activity(.accepted(request: end)))
            await finished
        }
    }

    @Test func `a generic type's name is that before its parameters`() async throws {
        let app = try ActivityApp()
        try await app.run {
            _ = try Activity.request(attributes: Generic<Int>(), contentState: 3)
            try await app.agent.welcome()
            let (_, wire, pushes) = try await app.start()
            #expect(wire.attributesType == "Generic" && wire.content.state == "3" && pushes == .none)
        }
    }

    @Test func `errors have a domain, a code and texts`() {
        let error = ActivityAuthorizationError.attributesTooLarge as NSError
        #expect(error.domain == ActivityAuthorizationError.errorDomain && error.code == 0)
        #expect(ActivityAuthorizationError.denied.localizedDescription.contains("does not allow"))
        #expect(ActivityAuthorizationError.targetMaximumExceeded.recoverySuggestion != nil)
    }
}

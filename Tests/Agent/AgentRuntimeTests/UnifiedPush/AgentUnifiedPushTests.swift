import AgentEngine
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing
import WebPushProtocol

@testable import AgentRuntime

/// An agent between a server and a session bus of the test's.
@Suite(.timeLimit(.minutes(5)))
struct AgentUnifiedPushTests {
    private let bus = FakeDistributor()

    /// An agent whose session is open, and which serves the bus.
    private func started(_ harness: AgentHarness) async throws -> FakeSession {
        try await harness.begin(distributor: bus)
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        #expect(await bus.told.next { $0 == "started" } != nil)
        return session
    }

    /// Waits until an app is told this.
    private func hears(_ words: String) async { #expect(await bus.told.next { $0.hasPrefix(words) } != nil) }

    /// The endpoint of the next `NewEndpoint`.
    private func endpoint(of token: String) async throws -> String {
        let words = try #require(await bus.told.next { $0.hasPrefix("endpoint \(token) ") })
        return String(words.dropFirst("endpoint \(token) ".count))
    }

    private func message(_ id: Int64, for endpoint: String) throws -> OutgoingNotification {
        let text = try #require(endpoint.split(separator: "/").last)
        let channel = try #require(PushChannelID(text: String(text)))
        var notification = outgoing(id)
        notification.topic = Topic(rawValue: "web-push")
        notification.payload =
            ChannelMessage(channel: channel, envelope: WebPushEnvelope(contentEncoding: "aes128gcm", body: [1])).bytes
        return notification
    }

    @Test func `an app that registers gets its endpoint, and its messages are acknowledged once they are stored`()
        async throws
    {
        let harness = try AgentHarness()
        let session = try await started(harness)
        try bus.register("t")
        await hears("answer 1 succeeded")
        let endpoint = try await endpoint(of: "t")
        session.events(.arrived([try message(5, for: endpoint)]))
        await hears("message 5 to t")
        #expect(await session.acknowledged.next() == [NotificationID(rawValue: 5)])
        #expect(await session.receipts(1) == ["5 handed"])
        try await harness.stop()
        await hears("stopped")
    }

    @Test func `an app that the server refuses hears it, and is asked for no more`() async throws {
        let harness = try AgentHarness()
        _ = try await started(harness)
        harness.server.channelRefusals.withLock { $0 = [.refused("INVALID_SENDER")] }
        try bus.register("t")
        await hears("answer 1 ACTION_REQUIRED")
        await hears("unregistered t")
        try bus.register("t")
        await hears("answer 2 succeeded")
        try await harness.stop()
    }

    @Test func `an app hears that the server is away, and gets its endpoint by itself later`() async throws {
        let harness = try AgentHarness()
        _ = try await started(harness)
        harness.server.channelRefusals.withLock { $0 = [.unavailable("cut"), .unavailable("cut")] }
        try bus.register("t")
        await hears("answer 1 NETWORK")
        #expect(try await endpoint(of: "t").hasPrefix("https://"))
        try await harness.stop()
    }

    @Test func `what an app asks right after another request is decided by what that has changed`() async throws {
        let harness = try AgentHarness()
        _ = try await started(harness)
        try bus.register("t")
        let first = try await endpoint(of: "t")
        bus.unregister("t")
        try bus.register("t")
        await hears("unregistered t")
        await hears("answer 2 succeeded")
        #expect(try await endpoint(of: "t") != first)
        try bus.register("u")
        bus.unregister("u")
        await hears("unregistered u")
        #expect(harness.server.channels.withLock { $0.count } <= 2)
        try await harness.stop()
    }

    @Test func `registrations outlive the agent, and a device that enrols anew has new endpoints`() async throws {
        let folder = try TemporaryFolder()
        let first = try AgentHarness(folder: folder)
        _ = try await started(first)
        try bus.register("t")
        let endpoint = try await endpoint(of: "t")
        try await first.stop()
        let second = try AgentHarness(folder: folder)
        // This server does not know the device, and gives it another id.
        second.server.enrolled.withLock { $0 = 200 }
        try await second.begin(distributor: bus)
        let session = try #require(await second.server.sessions.next())
        session.end(.loginRefused)
        #expect(try await self.endpoint(of: "t") != endpoint)
        try await second.stop()
    }

    @Test func `apps get new endpoints after a login when the server has another address`() async throws {
        let harness = try AgentHarness()
        let session = try await started(harness)
        for token in ["t", "u", "v"] {
            try bus.register(token)
            #expect(try await endpoint(of: token).hasPrefix("https://push.example/"))
        }
        harness.server.endpointHost.withLock { $0 = "other.example" }
        session.end(.lost("the server stops"))
        let next = try #require(await harness.server.sessions.next())
        next.events(.loggedIn)
        for token in ["t", "u", "v"] {
            #expect(try await endpoint(of: token).hasPrefix("https://other.example/"))
        }
        try await harness.stop()
    }

    @Test func `a message for an app that is away waits, and one for a single attempt ends`() async throws {
        let harness = try AgentHarness()
        let session = try await started(harness)
        try bus.register("t")
        let endpoint = try await endpoint(of: "t")
        bus.outcomes.withLock { $0 = [.unreachable(reason: "it does not run")] }
        var once = try message(6, for: endpoint)
        once.expiresAt = nil
        session.events(.arrived([once]))
        #expect(await session.receipts(1) == ["6 dropped(offline)"])
        try await harness.stop()
    }
}

import AgentProtocol
import AldabaTestSupport
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

/// Encrypted payloads through the agent.
@Suite(.timeLimit(.minutes(5)))
struct EncryptionTests {
    private let placeholder = EncryptedPayload.Placeholder(title: "Placeholder", body: "Something came")

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    /// A harness whose app has registered, and the key that it published.
    private func registered() async throws -> (AgentHarness, FakeSession, TestApp, RecipientPublicKey) {
        let harness = try AgentHarness()
        try await harness.start()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        let app = try await harness.readyApp()
        app.send(.registerForRemoteNotifications(request: 1))
        _ = await app.inbox.next { if case .registered = $0 { true } else { false } }
        let key = try #require(harness.server.published.withLock { $0.last ?? nil })
        return (harness, session, app, key)
    }

    private func sealed(_ text: String, _ key: RecipientPublicKey) throws -> String {
        let payload = Array(#"{"aps":{"alert":{"title":"\#(text)"}},"room":7}"#.utf8)
        return String(
            decoding: try EncryptedPayload.make(payload, to: key, placeholder: placeholder), as: UTF8.self)
    }

    @Test func `what was sealed is shown and handed in place of its carrier`() async throws {
        let (harness, session, app, key) = try await registered()
        session.events(.arrived([outgoing(1, payload: try sealed("The eagle lands", key))]))
        let delivered = await app.inbox.next { if case .deliver = $0 { true } else { false } }
        guard case .deliver(let notification, _)? = delivered else {
            Issue.record("nothing was delivered")
            return
        }
        #expect(notification.payload == #"{"aps":{"alert":{"title":"The eagle lands"}},"room":7}"#)
        #expect(await session.receipts(1) == ["1 decrypted"])
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        #expect(try #require(await harness.desktop.show()).title == "The eagle lands")
        try await harness.stop()
    }

    @Test func `what cannot be opened is shown as its placeholder, with the reason`() async throws {
        let (harness, session, app, _) = try await registered()
        let stranger = RecipientPrivateKey().publicKey
        session.events(.arrived([outgoing(1, payload: try sealed("secret", stranger))]))
        #expect(await session.receipts(1) == ["1 undecryptable(unknownKey)"])
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        let shown = try #require(await harness.desktop.show())
        #expect(shown.title == "Placeholder" && shown.body == "Something came")
        #expect(harness.logged.withLock { lines in lines.contains { $0.contains("unknownKey") } })
        try await harness.stop()
    }

    @Test func `the same message in another notification ends unseen, in one batch and later`() async throws {
        let (harness, session, _, key) = try await registered()
        let payload = try sealed("once", key)
        session.events(.arrived([outgoing(1, payload: payload), outgoing(2, payload: payload)]))
        #expect(await session.acknowledged.next() == [id(1), id(2)])
        session.events(.arrived([outgoing(3, payload: payload)]))
        #expect(await session.acknowledged.next() == [id(3)])
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        let reported = try store.outbox().filter { $0.contains("crypt") }
        #expect(reported == ["1 decrypted", "2 undecryptable(replayed)", "3 undecryptable(replayed)"])
    }

    @Test func `what the server sends again is no replay`() async throws {
        let (harness, session, _, key) = try await registered()
        let payload = try sealed("twice on its way", key)
        session.events(.arrived([outgoing(1, payload: payload)]))
        #expect(await session.acknowledged.next() == [id(1)])
        session.events(.arrived([outgoing(1, payload: payload)]))
        #expect(await session.acknowledged.next() == [id(1)])
        try await harness.stop()
        let store = try AgentStore.open(path: harness.configuration.databasePath, now: noon).store
        #expect(try store.outbox().filter { $0.contains("crypt") } == ["1 decrypted"])
    }

    @Test func `where the manifest says so the app's extension opens it, and the agent has no key`() async throws {
        let harness = try AgentHarness { $0.encryptedPayloads = .extension }
        try await harness.start()
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        let app = try await harness.readyApp()
        app.send(.registerForRemoteNotifications(request: 1))
        _ = await app.inbox.next { if case .registered = $0 { true } else { false } }
        #expect(harness.server.published.withLock { $0 } == [nil])
        let payload = try sealed("the app's own", RecipientPrivateKey().publicKey)
        session.events(.arrived([outgoing(1, payload: payload)]))
        let delivered = await app.inbox.next { if case .deliver = $0 { true } else { false } }
        guard case .deliver(let notification, _)? = delivered else {
            Issue.record("nothing was delivered")
            return
        }
        #expect(notification.payload == payload)
        try await harness.stop()
    }
}

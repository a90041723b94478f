import AgentEngine
import AgentProtocol
import AldabaTestSupport
import DeviceChannel
import DeviceTestSupport
import Foundation
import GRDB
import PushCore
import Testing

@testable import AgentRuntime

/// What must be in no log, whatever its level.
@Suite(.timeLimit(.minutes(5))) struct SecretsTests {
    @Test func `neither secrets nor what notifications say are logged`() async throws {
        let harness = try AgentHarness { $0.lifecycle = .declared }
        var timing = AgentTiming()
        timing.storePause = .milliseconds(10)
        try await harness.start(timing: timing)
        let session = try #require(await harness.server.sessions.next())
        session.events(.loggedIn)
        let stranger = try await TestApp(socket: harness.configuration.socketPath, id: "x")
        stranger.send(.hello(version: 1, app: "com.example.none", secret: "an-app-secret"))
        _ = await stranger.inbox.next()
        stranger.send(bytes: [0, 0, 0, 9] + Array(#"{"type":1"#.utf8))
        let app = try await harness.readyApp()
        app.send(.registerForRemoteNotifications(request: 1))
        _ = await app.inbox.next { if case .registered = $0 { true } else { false } }
        session.events(.arrived([outgoing(1, payload: #"{"aps":{"alert":"a-notification-text"}}"#)]))
        _ = await app.delivery()
        app.send(.handled(notification: 1, outcome: .presented(options: 16)))
        let shown = try #require(await harness.desktop.presented.next())
        // A store that fails is logged with what it was to do.
        var waits = Configuration()
        waits.busyMode = .timeout(10)
        let other = try DatabaseQueue(path: harness.configuration.databasePath, configuration: waits)
        try await other.write {
            try $0.execute(sql: "CREATE TRIGGER fail BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'no'); END")
        }
        shown.complete(.failed(reason: "for the test"))
        _ = await app.inbox.next { _ in false }
        harness.server.known.withLock { $0 = [] }
        try #require(await harness.server.sessions.next()).end(.loginRefused)
        _ = await harness.server.sessions.next()
        try await harness.stop()
        let lines = harness.logged.withLock { $0 }
        #expect(lines.contains { $0.contains("store failed") } && lines.contains { $0.contains("enrols anew") })
        for secret in [AgentHarness.enrolmentKey, "202", "204", "an-app-secret", "a-notification-text"] {
            #expect(!lines.contains { $0.contains(secret) }, "\(secret) in \(lines)")
        }
    }

    @Test func `what holds a secret does not show it`() throws {
        let secret: UInt64 = 1_234_567_890_123
        let device = try #require(DeviceID(7))
        let configuration = AgentConfiguration(
            dataFolder: "/data", socketPath: "/socket", server: nil, enrolmentKey: "\(secret)", environment: .sandbox)
        let identity = DeviceIdentity(device: device, secret: secret)
        let credentials = MCSCredentials(device: device, secret: secret, received: [])
        for holder in [configuration, identity, credentials] as [Any] {
            var dumped = ""
            dump([holder], to: &dumped)
            for text in ["\(holder)", "\([holder])", String(reflecting: holder), dumped] {
                #expect(!text.contains("\(secret)"), "\(text)")
            }
        }
    }
}

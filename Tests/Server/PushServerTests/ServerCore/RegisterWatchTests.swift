import AldabaTestSupport
import Logging
import PushCore
import Testing

@testable import PushServer

/// When the register is read again, and what that ends.
@Suite(.timeLimit(.minutes(5))) struct RegisterWatchTests {
    @Test func `a revoked device's session ends, and its next login is refused`() async throws {
        try await withServer { server in
            let connection = RecordingConnection()
            _ = try await server.login(connection)
            let credentials = CredentialDirectory(store: server.store.base, clock: server.clock.function)
            let apps = AppDirectory(store: server.store.base, clock: server.clock.function)
            let watch = RegisterWatch(
                store: server.store.base, credentials: credentials, apps: apps, mailboxes: server.service,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
            await watch.poll()
            #expect(try await server.store.base.revokeDevice(server.credentials.device, at: server.clock.now))
            await watch.poll()
            guard case .refused = await server.loginVerdict(RecordingConnection()) else {
                Issue.record("a revoked device was let in")
                return
            }
            await server.released()
            #expect(connection.wasRevoked.load())
        }
    }

    /// A watch that tells each reading.
    private func watch(_ server: TestServer, _ readings: Inbox<UInt64>) -> RegisterWatch {
        let (store, clock) = (server.store.base, server.clock.function)
        return RegisterWatch(
            store: store, credentials: CredentialDirectory(store: store, clock: clock),
            apps: AppDirectory(store: store, clock: clock), mailboxes: server.service,
            reloadOthers: { readings.put(store.registerVersion) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test func `the register is read when it has changed, and every thirty seconds although it has not`() async throws {
        try await withServer { server in
            let readings = Inbox<UInt64>()
            let watch = watch(server, readings)
            let begun = server.store.base.registerVersion
            await watch.poll()
            await watch.poll()
            server.clock.advance(milliseconds: 29_999)
            await watch.poll()
            server.clock.advance(milliseconds: 1)
            await watch.poll()
            await watch.poll()
            _ = try await server.store.base.revokeDevice(server.credentials.device, at: server.clock.now)
            await watch.poll()
            readings.finish()
            var read: [UInt64] = []
            while let version = await readings.next() { read.append(version) }
            #expect(read == [begun, begun, server.store.base.registerVersion])
            #expect(begun != server.store.base.registerVersion)
        }
    }

    @Test func `changes are looked at once at a time, with a pause after each look`() async throws {
        try await withServer { server in
            let (readings, pauses) = (Inbox<UInt64>(), Inbox<Int>())
            let watch = watch(server, readings)
            let (changes, noted) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
            let going = Latch()
            let following = Task {
                await watch.follow(changes) {
                    pauses.put(0)
                    await going.wait()
                }
            }
            noted.yield()
            #expect(await readings.next() != nil, "at once")
            #expect(await pauses.next() != nil)
            for number in 0..<50 {
                _ = try await server.store.base.addApp(
                    topic: Topic(rawValue: "com.example.n\(number)"), team: TeamID(rawValue: "TEAM000001"),
                    policy: MailboxPolicy(), at: server.clock.now)
                noted.yield()
            }
            let version = server.store.base.registerVersion
            going.open()
            #expect(await readings.next() == version, "all of them in one look")
            noted.finish()
            await following.value
            readings.finish()
            #expect(await readings.next() == nil)
        }
    }
}

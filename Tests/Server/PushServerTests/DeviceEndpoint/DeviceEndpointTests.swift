import AldabaTestSupport
import DeviceChannel
import Foundation
import Logging
import NIOCore
import NIOPosix
import PushCore
import PushServer
import Testing

private let todo = Topic(rawValue: "com.example.todo")

func notification(_ id: Int64, stored: Bool = true, payload: Int = 20) -> OutgoingNotification {
    OutgoingNotification(
        id: NotificationID(rawValue: id), apnsID: "apns-\(id)", team: TeamID(rawValue: "ABCDE12345"), topic: todo,
        environment: .sandbox, lane: .apns, pushType: .alert, priority: .immediate, collapseID: nil,
        acceptedAt: Timestamp(rawValue: id), expiresAt: stored ? .distantFuture : nil,
        payload: Array("{\"n\":\"\(String(repeating: "x", count: payload))\"}".utf8))
}

/// A running endpoint with a fake server behind it.
final class World {
    let gateway = FakeGateway()
    let certificate: TestCertificate
    let endpoint: DeviceEndpoint
    let port: Int
    let client: MCSClient
    let folder: TemporaryFolder
    let group = NIOSingletons.posixEventLoopGroup
    let device = DeviceID(4242)!
    let secret: UInt64 = 9_876_543_210

    init(
        upstream: UpstreamRegistry = UpstreamRegistry(),
        _ change: (inout DeviceEndpointConfiguration) -> Void = { _ in },
        atHandshake: @escaping @Sendable () -> Void = {}
    ) async throws {
        certificate = try TestCertificate()
        folder = try TemporaryFolder()
        try certificate.pem.write(toFile: folder.path("ca.pem"), atomically: true, encoding: .utf8)
        var configuration = DeviceEndpointConfiguration(host: "127.0.0.1", port: 0)
        change(&configuration)
        endpoint = DeviceEndpoint(
            configuration: configuration,
            tls: { [tls = try certificate.serverContext()] in
                atHandshake()
                return tls
            }, gateway: gateway,
            upstream: upstream, group: group,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        port = try await endpoint.start()
        client = try MCSClient(
            MCSClientTarget(host: "127.0.0.1", port: port, trust: .certificateFile(folder.path("ca.pem"))),
            group: group)
        gateway.enrol(device, secret: secret)
    }

    func logIn(
        _ delegate: RecordingDevice, secret: UInt64? = nil, received: [Int64] = []
    ) -> MCSClientConnection {
        client.connect(
            MCSCredentials(
                device: device, secret: secret ?? self.secret, received: received.map(NotificationID.init(rawValue:))),
            delegate: delegate)
    }

    func raw() async throws -> RawDevice {
        try await RawDevice(port: port, certificate: certificate, group: group)
    }
}

@Suite(.timeLimit(.minutes(5))) struct DeviceEndpointTests {
    @Test func `what waits is replayed in order and what comes later follows it`() async throws {
        let world = try await World { $0.session.confirmationDelay = 100 }
        world.gateway.accept((1...250).map { notification($0) }, for: world.device)
        let device = RecordingDevice()
        let connection = world.logIn(device)
        await device.state.wait { $0.received.count >= 250 }
        world.gateway.accept((251...600).map { notification($0) }, for: world.device)
        let state = await device.state.wait { $0.received.count >= 600 }
        #expect(state.received == (1...600).map { notification($0) })
        let server = await world.gateway.state.wait { $0.acknowledged.count >= 600 }
        #expect(server.acknowledged.map(\.rawValue) == Array(1...600))
        #expect(server.sent.map(\.rawValue) == Array(1...600))
        #expect(server.mailboxes[world.device] == [])
        await device.state.wait { $0.confirmed.count >= 600 }
        connection.close()
        #expect(await device.state.wait { $0.closed != nil }.closed == .ended)
        await world.gateway.state.wait { !$0.closed.isEmpty }
        await world.endpoint.stop()
    }

    @Test func `what was not stored comes again on the next login, and only that`() async throws {
        let world = try await World()
        let forgetful = RecordingDevice(stores: false)
        let first = world.logIn(forgetful)
        world.gateway.accept((1...10).map { notification($0) }, for: world.device)
        await forgetful.state.wait { $0.received.count >= 10 }
        first.acknowledge((1...4).map { NotificationID(rawValue: $0) })
        await world.gateway.state.wait { $0.acknowledged.count >= 4 }
        first.close()
        await world.gateway.state.wait { $0.closed.count == 1 }
        let device = RecordingDevice()
        _ = world.logIn(device, received: [5, 7])
        let state = await device.state.wait { $0.received.count >= 4 }
        #expect(state.received.map(\.id.rawValue) == [6, 8, 9, 10])
        #expect(await device.state.wait { $0.confirmed.count >= 2 }.confirmed.prefix(2).map(\.rawValue) == [5, 7])
        await world.endpoint.stop()
    }

    @Test func `a device that reads slowly gets everything in the end and in order`() async throws {
        let world = try await World()
        let device = RecordingDevice(stores: false)
        let connection = world.logIn(device)
        await device.state.wait { $0.isLoggedIn }
        let all = (1...3000).map { notification($0, payload: 3000) }
        for start in stride(from: 0, to: all.count, by: 300) {
            world.gateway.accept(Array(all[start..<start + 300]), for: world.device)
        }
        // The client stops reading at its limit of what is not stored; storing lets it go on.
        var stored = 0
        while stored < all.count {
            let seen = await device.state.wait { [stored] in $0.received.count > stored }.received
            connection.acknowledge(seen[stored...].map(\.id))
            stored = seen.count
        }
        #expect(device.state.value.received == all)
        await world.gateway.state.wait { $0.acknowledged.count >= all.count }
        await world.endpoint.stop()
    }

    @Test func `one attempt is written to a live device and given back by one that is gone`() async throws {
        let world = try await World()
        let device = RecordingDevice()
        let connection = world.logIn(device)
        await device.state.wait { $0.isLoggedIn }
        world.gateway.accept([notification(1, stored: false)], for: world.device)
        await device.state.wait { $0.received.count == 1 }
        let port = try #require(world.gateway.state.value.connections[world.device])
        connection.close()
        await world.gateway.state.wait { !$0.closed.isEmpty }
        port.deliver([notification(2, stored: false), notification(3)])
        let server = await world.gateway.state.wait { !$0.notSent.isEmpty }
        #expect(server.notSent.map(\.rawValue) == [2])
        await world.endpoint.stop()
    }

    @Test func `the newest session wins and the older one hears Close`() async throws {
        let world = try await World()
        let older = RecordingDevice()
        _ = world.logIn(older)
        await older.state.wait { $0.isLoggedIn }
        let newer = RecordingDevice()
        _ = world.logIn(newer)
        #expect(await older.state.wait { $0.closed != nil }.closed == .closedByServer)
        world.gateway.accept([notification(1)], for: world.device)
        await newer.state.wait { $0.received.count == 1 }
        #expect(world.gateway.state.value.sessions[world.device]?.epoch == 2)
        await world.endpoint.stop()
    }

    @Test func `a wrong secret, an unknown device and a server that cannot tell are answered`() async throws {
        let world = try await World()
        let wrong = RecordingDevice()
        _ = world.logIn(wrong, secret: 1)
        #expect(
            await wrong.state.wait { $0.closed != nil }.closed
                == .loginRefused(code: 401, message: "unknown device or wrong secret"))
        world.gateway.state.change { $0.isAvailable = false }
        let early = RecordingDevice()
        _ = world.logIn(early)
        #expect(
            await early.state.wait { $0.closed != nil }.closed == .loginRefused(code: 503, message: "try again later"))
        await world.endpoint.stop()
    }

    @Test func `receipts are confirmed only once they are durable`() async throws {
        let world = try await World()
        world.gateway.state.change { $0.heldRecords = [] }
        let device = RecordingDevice()
        let connection = world.logIn(device)
        await device.state.wait { $0.isLoggedIn }
        let receipt = Receipt(
            id: NotificationID(rawValue: 1),
            entry: TimelineEntry(at: Timestamp(rawValue: 1), state: .handed, source: .app))
        connection.send([receipt], persistentID: "a")
        connection.send([receipt], persistentID: "b")
        let held = await world.gateway.state.wait { ($0.heldRecords?.count ?? 0) == 2 }.heldRecords ?? []
        #expect(device.state.value.upstreamConfirmed == [])
        held[1](.durable(ignored: 0))
        held[0](.durable(ignored: 0))
        #expect(await device.state.wait { $0.upstreamConfirmed.count == 2 }.upstreamConfirmed == ["a", "b"])
        world.gateway.state.change { state in
            state.heldRecords = nil
            state.recordsDurably = false
        }
        connection.send([receipt], persistentID: "c")
        #expect(await device.state.wait { $0.closed != nil }.closed == .closedByServer)
        #expect(device.state.value.upstreamConfirmed == ["a", "b"])
        await world.endpoint.stop()
    }

    @Test func `garbage, plain text and a cut handshake harm nobody else`() async throws {
        let world = try await World()
        let device = RecordingDevice()
        _ = world.logIn(device)
        await device.state.wait { $0.isLoggedIn }
        let garbage = try await world.raw()
        try await garbage.write([41, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])
        await garbage.state.wait { $0.isClosed }
        let plain = try await ClientBootstrap(group: world.group).connect(host: "127.0.0.1", port: world.port).get()
        try await plain.writeAndFlush(ByteBuffer(string: "GET / HTTP/1.1\r\n\r\n"))
        try await plain.closeFuture.get()
        world.gateway.accept([notification(1)], for: world.device)
        await device.state.wait { $0.received.count == 1 }
        await world.endpoint.stop()
    }

    @Test(arguments: [UInt8(38), 40, 41, 99])
    func `the version that a device sends is mirrored`(version: UInt8) async throws {
        let world = try await World()
        let raw = try await world.raw()
        let login = MCSLoginRequest(device: 4242, secret: world.secret)
        try await raw.write([.login(login)], version: version)
        let state = await raw.state.wait { !$0.packets.isEmpty }
        #expect(state.version == version)
        guard case .loginResponse(let response) = state.packets[0] else { return #expect(Bool(false)) }
        #expect(!response.hasError && response.lastStreamIDReceived == 1 && response.heartbeatConfig.intervalMs > 0)
        await world.endpoint.stop()
    }

    @Test func `a version that nobody speaks is closed without a word`() async throws {
        let world = try await World()
        let raw = try await world.raw()
        try await raw.write([37])
        let state = await raw.state.wait { $0.isClosed }
        #expect(state.version == nil && state.packets == [])
        await world.endpoint.stop()
    }

    @Test func `a connection that does not log in is closed when its time is up`() async throws {
        let world = try await World { $0.session.loginTimeout = 100 }
        let raw = try await world.raw()
        // The time may be up before the handshake is done, and then nothing can be written any more.
        try? await raw.write([41])
        let state = await raw.state.wait { $0.isClosed }
        #expect(state.packets == [] || state.packets == [.close])
        await world.endpoint.stop()
    }

    @Test func `connections beyond the limit are closed at once`() async throws {
        let world = try await World { $0.admission.limits.total = 1 }
        let first = RecordingDevice()
        let connection = world.logIn(first)
        await first.state.wait { $0.isLoggedIn }
        let second = RecordingDevice()
        _ = world.logIn(second)
        await second.state.wait { $0.closed != nil }
        #expect(!second.state.value.isLoggedIn && first.state.value.closed == nil)
        connection.close()
        await world.gateway.state.wait { !$0.closed.isEmpty }
        await world.endpoint.stop()
    }

    @Test func `stopping says Close to every device and frees the port`() async throws {
        let world = try await World()
        let device = RecordingDevice()
        _ = world.logIn(device)
        await device.state.wait { $0.isLoggedIn }
        await world.endpoint.stop()
        #expect(await device.state.wait { $0.closed != nil }.closed == .closedByServer)
        #expect(world.gateway.state.value.closed.count == 1)
    }

    @Test func `a client refuses a server whose certificate it does not trust`() async throws {
        let world = try await World()
        let stranger = try TestCertificate()
        try stranger.pem.write(toFile: world.folder.path("other.pem"), atomically: true, encoding: .utf8)
        let client = try MCSClient(
            MCSClientTarget(
                host: "127.0.0.1", port: world.port, trust: .certificateFile(world.folder.path("other.pem"))),
            group: world.group)
        let device = RecordingDevice()
        _ = client.connect(
            MCSCredentials(device: world.device, secret: world.secret, received: []), delegate: device)
        let reason = await device.state.wait { $0.closed != nil }.closed
        guard case .untrusted = reason else { return #expect(reason == .untrusted("…")) }
        await world.endpoint.stop()
    }

    @Test func `a port in use is reported with its number`() async throws {
        let world = try await World()
        let second = DeviceEndpoint(
            configuration: DeviceEndpointConfiguration(host: "127.0.0.1", port: world.port),
            tls: { [tls = try world.certificate.serverContext()] in tls }, gateway: world.gateway, group: world.group,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        await #expect {
            try await second.start()
        } throws: { error in
            "\(error)".contains("127.0.0.1:\(world.port)")
        }
        await world.endpoint.stop()
    }
}

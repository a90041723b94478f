import DeviceChannel
import NIOCore
import NIOEmbedded
import NIOPosix
import PushCore
import Synchronization
import Testing

@testable import PushServer

/// Too many logins, and too many goodbyes.
@Suite(.timeLimit(.minutes(5))) struct OverloadTests {
    @Test func `a burst is let in, then the rate`() {
        var rate = LoginRate(.init(perSecond: 10, burst: 5))
        let first = (0..<8).map { _ in rate.admit(at: 1000, random: 0) }
        #expect(first.prefix(5).allSatisfy { $0 == nil })
        #expect(first.dropFirst(5).allSatisfy { $0 != nil })
        // A tenth of a second later there is capacity for one.
        #expect(rate.admit(at: 1100, random: 0) == nil)
        #expect(rate.admit(at: 1100, random: 0) != nil)
        #expect((0..<5).allSatisfy { _ in rate.admit(at: 60_000, random: 0) == nil })
    }

    @Test func `those who are sent away get moments of their own, at the rate`() {
        var rate = LoginRate(.init(perSecond: 100, burst: 1))
        _ = rate.admit(at: 0, random: 0)
        let pauses = (0..<1000).compactMap { _ in rate.admit(at: 0, random: 0) }
        #expect(pauses.count == 1000)
        #expect(pauses.allSatisfy { $0 >= LoginRate.shortestPause })
        #expect(pauses.last == 10_000)
        // In no tenth of a second do many more come again than the rate takes, the first second aside.
        let crowd = Dictionary(grouping: pauses.filter { $0 > 1000 }) { $0 / 100 }.values.map(\.count).max() ?? 0
        #expect(crowd <= 10)
        #expect(rate.admit(at: 0, random: .max).map { $0 <= 16_000 } ?? false)
    }

    @Test func `no device is sent away for long, however many there are`() {
        var rate = LoginRate(.init(perSecond: 1, burst: 1))
        for _ in 0..<2000 {
            guard let pause = rate.admit(at: 0, random: .max) else { continue }
            #expect(pause <= LoginRate.longestPause * 3 / 2)
        }
    }

    @Test func `connections are sent away before their handshake as soon as no login would be let in`() {
        var rate = LoginRate(.init(perSecond: 10, burst: 5))
        #expect(rate.reject(at: 1000, waiting: 0, random: 0) == nil)
        for _ in 0..<5 { #expect(rate.admit(at: 1000, random: 0) == nil) }
        let pauses = (0..<20).compactMap { _ in rate.reject(at: 1000, waiting: 0, random: 0) }
        #expect(pauses.count == 20 && Set(pauses.filter { $0 > LoginRate.shortestPause }).count == 10)
        #expect(rate.reject(at: 1100, waiting: 0, random: 0) == nil, "there is capacity for one")
        #expect(rate.reject(at: 1100, waiting: 1, random: 0) != nil, "it is another's")
        #expect(rate.admit(at: 1100, random: 0) == nil, "nothing was counted for those")
        for waiting in [0, 3, 4, 1_000_000, .max, -1] {
            #expect(rate.reject(at: 60_000, waiting: waiting, random: 0) == nil, "silence keeps nobody out")
        }
    }

    /// A connection without a socket, at whose beginning stands a gate.
    private func arriving(_ gate: LoginGate, at uptime: Int64) throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: HandshakeCountHandler(gate, uptime: { uptime }, sentAway: {}))
        channel.connect(to: try SocketAddress(ipAddress: "192.0.2.1", port: 1), promise: nil)
        return channel
    }

    @Test func `a connection counts from its first bytes to its login, and who is silent or sent away never`() throws {
        // Of two places a login takes one, and whoever waits the other.
        let gate = LoginGate(LoginRate(.init(perSecond: 1, burst: 2)))
        #expect(gate.admit(at: 1000) == nil)
        let silent = try (0..<1000).map { _ in try arriving(gate, at: 1000) }
        #expect(gate.reject(at: 1000) == nil, "silence has no place")
        let first = try arriving(gate, at: 1000)
        try first.writeInbound(ByteBuffer(string: "\u{16}"))
        try first.writeInbound(ByteBuffer(string: "\u{3}"))
        #expect(try first.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "\u{16}"))
        #expect(try first.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "\u{3}"))
        #expect(gate.reject(at: 1000) != nil, "it has the last place")

        let second = try arriving(gate, at: 1000)
        try second.writeInbound(ByteBuffer(string: "\u{16}"))
        try second.writeInbound(ByteBuffer(string: "\u{3}"))
        #expect(try second.readInbound(as: ByteBuffer.self) == nil)
        let words = try #require(try second.readOutbound(as: ByteBuffer.self))
        guard case .retryAfter = MCSRejection.read(words.readableBytesView) else {
            Issue.record("the connection does not hear when to come again: \(words)")
            return
        }

        first.pipeline.fireUserInboundEventTriggered(HandshakeCountHandler.LoggedIn())
        #expect(gate.reject(at: 1000) == nil, "the login was judged, and who was sent away has no place")
        let third = try arriving(gate, at: 1000)
        try third.writeInbound(ByteBuffer(string: "\u{16}"))
        #expect(gate.reject(at: 1000) != nil)
        third.close(promise: nil)
        third.embeddedEventLoop.run()
        #expect(gate.reject(at: 1000) == nil, "it is closed")
        for channel in silent + [first, second] { _ = try channel.finish(acceptAlreadyClosed: true) }
    }

    @Test func `connections that say nothing send no device away`() async throws {
        let world = try await World {
            $0.loginsPerSecond = 1
            $0.loginBurst = 20
        }
        var silent: [any Channel] = []
        for _ in 0..<100 {
            let bootstrap = ClientBootstrap(group: world.group)
            silent.append(try await bootstrap.connect(host: "127.0.0.1", port: world.port).get())
        }
        for _ in 0..<10 {
            let device = RecordingDevice()
            let connection = world.logIn(device)
            #expect(await device.state.wait { $0.isLoggedIn || $0.closed != nil }.closed == nil)
            connection.close()
        }
        for channel in silent { channel.close(promise: nil) }
        await world.endpoint.stop()
    }

    private final class Count: Sendable {
        private let number = Mutex(0)
        var value: Int { number.withLock { $0 } }
        func add() { number.withLock { $0 += 1 } }
    }

    @Test func `those beyond the rate cost no handshake and hear when to come again`() async throws {
        let handshakes = Count()
        let world = try await World {
            $0.loginsPerSecond = 1
            $0.loginBurst = 1
        } atHandshake: {
            handshakes.add()
        }
        // One a second is let in: on a slow machine more of them are.
        var (attempts, told): (Int, [Int64]) = (0, [])
        for _ in 0..<200 where told.count < 5 {
            attempts += 1
            let device = RecordingDevice()
            let connection = world.logIn(device)
            let seen = await device.state.wait { $0.isLoggedIn || $0.closed != nil }
            if case .busy(let pause)? = seen.closed { told.append(pause) } else { connection.close() }
        }
        await world.endpoint.stop()
        #expect(told.count == 5)
        #expect(handshakes.value + told.count == attempts)
        #expect(told.allSatisfy { $0 >= LoginRate.shortestPause })
    }

    @Test(arguments: [(0, 0), (-5, -5), (Int.max, Int.max), (1, Int.max)])
    func `limits that make no sense trap nowhere`(perSecond: Int, burst: Int) {
        var rate = LoginRate(.init(perSecond: perSecond, burst: burst))
        for uptime in [0, 1, Int64.max / 1000, Int64.max] { _ = rate.admit(at: uptime, random: .max) }
    }

    @Test func `a device that is sent away hears when to come again`() async throws {
        let world = try await World {
            $0.loginsPerSecond = 1
            $0.loginBurst = 1
        }
        // One a second is let in: on a slow machine the second may come after that, and another tries.
        var told: Int64?
        for _ in 0..<100 where told == nil {
            let device = RecordingDevice()
            _ = world.logIn(device)
            let seen = await device.state.wait { $0.isLoggedIn || $0.closed != nil }
            if case .busy(let pause)? = seen.closed { told = pause }
        }
        await world.endpoint.stop()
        let pause = try #require(told, "all were let in")
        #expect(pause >= LoginRate.shortestPause)
    }

    @Test(arguments: [DeviceEndpointConfiguration.StopPace.alone, .amongOthers])
    func `connections are told to close slice by slice`(pace: DeviceEndpointConfiguration.StopPace) throws {
        let loop = EmbeddedEventLoop()
        // Its loop never runs, so that calls stay and can be counted.
        let calls = DeviceCallQueue(eventLoop: EmbeddedEventLoop())
        let gateway = FakeGateway()
        let registry = DeviceConnectionRegistry(metrics: DeviceEndpointMetrics())
        let count = pace.slice * 3 + 1
        let ports = (0..<count).map { _ in DeviceConnectionPort(calls: calls, gateway: gateway) }
        for port in ports { #expect(registry.add(port)) }
        let stopped = registry.stop(pace, on: loop)
        #expect(calls.count == pace.slice, "one slice at once")
        for slice in 2...3 {
            loop.advanceTime(by: .milliseconds(DeviceConnectionRegistry.sliceInterval - 1))
            #expect(calls.count == (slice - 1) * pace.slice)
            loop.advanceTime(by: .milliseconds(1))
            #expect(calls.count == slice * pace.slice)
        }
        loop.advanceTime(by: .seconds(1))
        #expect(calls.count == count)
        #expect(!registry.add(DeviceConnectionPort(calls: calls, gateway: gateway)), "nobody comes in meanwhile")
        for port in ports { registry.remove(port) }
        try stopped.wait()
    }
}

import DeviceChannel
import FCMProtocol
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import Networking
import PushCore
import Synchronization
import Testing

@testable import PushServer

/// Counts the reads that reach the socket.
private final class ReadCounter: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer
    private(set) var count = 0

    func read(context: ChannelHandlerContext) {
        count += 1
        context.read()
    }
}

/// Browsers' registrations whose readings end when the test lets them.
final class HeldWebRegistrations: WebRegistrationSource {
    typealias Completion = @Sendable (Result<[WebRegistrationKey: WebRegistration], any Error>) -> Void
    private let held = Mutex<[Completion]>([])

    func mayHave(_ device: DeviceID) -> Bool { true }

    func registrations(of device: DeviceID, then complete: @escaping Completion) {
        held.withLock { $0.append(complete) }
    }

    /// Ends the readings that have begun.
    func answer(_ result: Result<[WebRegistrationKey: WebRegistration], any Error>) {
        let due = held.withLock { held in
            defer { held = [] }
            return held
        }
        for complete in due { complete(result) }
    }
}

/// One connection without a socket.
private final class Connection {
    let gateway = FakeGateway()
    let channel = EmbeddedChannel()
    let reads = ReadCounter()
    private var decoder = MCSFrameDecoder()
    private let device = DeviceID(4242)!

    let web: HeldWebRegistrations?

    init(web: HeldWebRegistrations? = nil) throws {
        self.web = web
        gateway.enrol(device, secret: 7)
        let metrics = DeviceEndpointMetrics()
        let surroundings = DeviceConnectionContext(
            gateway: gateway, upstream: UpstreamRegistry(), web: web ?? NoWebRegistrations(),
            refusals: UpstreamRefusalLog(logger: Logger(label: "test")), configuration: MCSServerConfiguration(),
            registry: DeviceConnectionRegistry(metrics: metrics),
            limiter: ConnectionLimiter(
                listener: "device", DeviceEndpointConfiguration(host: "127.0.0.1", port: 0).admission,
                logger: Logger(label: "test")), calls: DeviceCallQueues(), metrics: metrics,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let port = DeviceConnectionPort(calls: DeviceCallQueue(eventLoop: channel.eventLoop), gateway: gateway)
        let shell = DeviceConnectionShell(surroundings, port: port)
        port.attach(shell)
        try channel.pipeline.syncOperations.addHandlers([reads, MCSChannelHandler(peer: shell)])
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    }

    func accept(_ notifications: OutgoingNotification...) {
        gateway.accept(notifications, for: device)
        channel.embeddedEventLoop.run()
    }

    /// The packets that were written since last time.
    func written() throws -> [MCSPacket] {
        var packets: [MCSPacket] = []
        while let buffer = try channel.readOutbound(as: ByteBuffer.self) { decoder.append(buffer.readableBytesView) }
        while let element = try decoder.next() {
            if case .packet(let packet) = element { packets.append(packet) }
        }
        return packets
    }

    func logIn(received: [String] = [], isAgent: Bool = false) throws {
        var login = MCSLoginRequest(device: device.rawValue, secret: 7, received: received)
        if isAgent { login.id = MCSLoginRequest.agentID }
        try receive([.login(login)], version: 41)
    }

    func receive(_ packets: [MCSPacket], version: UInt8? = nil) throws {
        var bytes = version.map { [$0] } ?? []
        for packet in packets { try packet.encode(into: &bytes) }
        try channel.writeInbound(ByteBuffer(bytes: bytes))
        channel.embeddedEventLoop.run()
    }

    func registrationsChanged() {
        gateway.state.change { $0.connections[device] }?.registrationsChanged()
        channel.embeddedEventLoop.run()
    }

    func setWritable(_ isWritable: Bool) {
        channel.isWritable = isWritable
        channel.pipeline.fireChannelWritabilityChanged()
        channel.embeddedEventLoop.run()
    }
}

@Suite struct DeviceConnectionShellTests {
    @Test func `a device that takes no answers is not read until it does`() throws {
        let connection = try Connection()
        try connection.logIn()
        let before = connection.reads.count
        connection.setWritable(false)
        connection.channel.read()
        connection.channel.read()
        #expect(connection.reads.count == before)
        connection.setWritable(true)
        #expect(connection.reads.count == before + 1)
    }

    @Test func `a body that is too large for a login is refused before the login, and taken after it`() throws {
        // The head of a login packet with a body of 512 KiB, of which nothing has come.
        let head: [UInt8] = [2, 0x80, 0x80, 0x20]
        let unknown = try Connection()
        try unknown.channel.writeInbound(ByteBuffer(bytes: [41] + head))
        unknown.channel.embeddedEventLoop.run()
        #expect(!unknown.channel.isActive)
        let known = try Connection()
        try known.logIn()
        try known.channel.writeInbound(ByteBuffer(bytes: head))
        known.channel.embeddedEventLoop.run()
        #expect(known.channel.isActive)
    }

    private static let longID: Int64 = 9_000_000_000_000_000_000

    @Test func `a client that names all it has received in its login is sent no more than a login may name`() throws {
        let first = try Connection()
        for number in 1...Int64(700) { first.accept(notification(Self.longID + number)) }
        try first.logIn()
        var names: [String] = []
        // Acknowledged in between, as some clients do, which name them in the next login all the same.
        for _ in 0..<10 where first.channel.isActive {
            let written = try first.written()
            names += stanzas(written).map(\.persistentID)
            #expect(names.count <= 600)
            try first.receive([.iq(MCSIqStanza(.selective(names)))])
        }
        #expect(names.count == 600 && !first.channel.isActive)
        #expect(try first.written().last == .close)
        let second = try Connection()
        for number in 1...Int64(700) { second.accept(notification(Self.longID + number)) }
        try second.logIn(received: names)
        #expect(stanzas(try second.written()).count == 100 && second.channel.isActive)
    }

    @Test func `a client that was sent as much as it may name keeps its session until it acknowledges it`() throws {
        let connection = try Connection()
        try connection.logIn()
        for number in 1...Int64(601) { connection.accept(notification(number)) }
        let names = stanzas(try connection.written()).map(\.persistentID)
        #expect(names.count == 600 && connection.channel.isActive)
        try connection.receive([.iq(MCSIqStanza(.selective(Array(names.dropLast()))))])
        #expect(connection.channel.isActive)
        try connection.receive([.iq(MCSIqStanza(.selective(names)))])
        #expect(!connection.channel.isActive)
        #expect(connection.gateway.state.value.acknowledged.contains(NotificationID(rawValue: 600)))
    }

    @Test func `an agent of ours is sent as much as the window has capacity for`() throws {
        let connection = try Connection()
        try connection.logIn(isAgent: true)
        for number in 1...Int64(700) { connection.accept(notification(number)) }
        #expect(stanzas(try connection.written()).count == 700)
    }

    @Test func `one attempt that was written and not acknowledged is named when the connection ends`() throws {
        let connection = try Connection()
        try connection.logIn()
        connection.gateway.accept(
            [notification(1, stored: false), notification(2)], for: try #require(DeviceID(4242)))
        connection.channel.embeddedEventLoop.run()
        _ = try connection.channel.finish(acceptAlreadyClosed: true)
        let state = connection.gateway.state.value
        #expect(state.sent.map(\.rawValue) == [2, 1] || state.sent.map(\.rawValue) == [1, 2])
        #expect(state.unacknowledged.map(\.rawValue) == [1])
        #expect(state.closed.count == 1)
    }

    private let place = WebRegistrationKey(topic: Topic(rawValue: "com.example.todo"), environment: .sandbox)
    private let registration = WebRegistration(
        category: "org.chromium.linux", subtype: "wp:com.example.todo#1", sender: "s",
        key: RecipientPrivateKey().publicKey)

    private func stanzas(_ packets: [MCSPacket]) -> [MCSDataMessageStanza] {
        packets.compactMap { packet in
            if case .dataMessage(let stanza) = packet { stanza } else { nil }
        }
    }

    @Test func `a device that does not read costs no more, however much comes for it`() throws {
        let connection = try Connection()
        try connection.logIn()
        _ = try connection.written()
        connection.setWritable(false)
        for number in Int64(1)...2000 { connection.accept(notification(number, payload: 1000)) }
        #expect(try connection.written().isEmpty)
        connection.setWritable(true)
        #expect(stanzas(try connection.written()).map(\.persistentID).first == "1")
    }

    @Test func `nothing is written to a browser before its registrations are read`() throws {
        let web = HeldWebRegistrations()
        let connection = try Connection(web: web)
        connection.accept(notification(1))
        try connection.logIn()
        connection.accept(notification(2))
        #expect(stanzas(try connection.written()).isEmpty)
        web.answer(.success([place: registration]))
        connection.channel.embeddedEventLoop.run()
        let written = stanzas(try connection.written())
        #expect(written.map(\.persistentID) == ["1", "2"])
        #expect(
            written.allSatisfy {
                $0.category == "org.chromium.linux" && $0.appData.first?.value == registration.subtype
            })
        #expect(written.allSatisfy { $0.rawData != Data(notification(1).payload) })
        #expect(written.allSatisfy { $0.lastStreamIDReceived == 1 })
        connection.accept(notification(3))
        #expect(stanzas(try connection.written()).map(\.category) == ["org.chromium.linux"])
    }

    @Test func `a registration that is made while a browser is connected counts at once`() throws {
        let web = HeldWebRegistrations()
        let connection = try Connection(web: web)
        try connection.logIn()
        web.answer(.success([:]))
        connection.channel.embeddedEventLoop.run()
        connection.accept(notification(1))
        #expect(stanzas(try connection.written()).map(\.category) == ["com.example.todo"])
        connection.registrationsChanged()
        connection.accept(notification(2))
        #expect(stanzas(try connection.written()).isEmpty)
        web.answer(.success([place: registration]))
        connection.channel.embeddedEventLoop.run()
        #expect(stanzas(try connection.written()).map(\.category) == ["org.chromium.linux"])
    }

    @Test func `a session whose registrations cannot be read ends`() throws {
        let web = HeldWebRegistrations()
        let connection = try Connection(web: web)
        try connection.logIn()
        web.answer(.failure(Failure()))
        connection.channel.embeddedEventLoop.run()
        #expect(try connection.written().contains(.close))
    }

    private struct Failure: Error {}

    @Test func `a recall is not said to a browser, and does not wait for it`() throws {
        let web = HeldWebRegistrations()
        let connection = try Connection(web: web)
        try connection.logIn()
        web.answer(.success([place: registration]))
        connection.channel.embeddedEventLoop.run()
        let recall = OutgoingNotification(
            .withdrawn(NotificationID(rawValue: 1)), id: NotificationID(rawValue: 5),
            team: TeamID(rawValue: "ABCDE12345"), topic: place.topic, environment: .sandbox, lane: .apns,
            at: Timestamp(rawValue: 5))
        connection.accept(recall, notification(6))
        #expect(stanzas(try connection.written()).map(\.persistentID) == ["6"])
        #expect(connection.gateway.state.value.acknowledged.map(\.rawValue) == [5])
    }
}

import DeviceChannel
import Foundation
import Logging
import PushCore
import Testing

@testable import PushServer

/// Notes what it is given and answers when the test says so.
private final class HeldReceiver: UpstreamReceiver {
    typealias Completion = @Sendable (UpstreamOutcome) -> Void
    let received = Watched<[(message: UpstreamMessage, session: DeviceSessionID, complete: Completion)]>([])

    func receive(_ message: UpstreamMessage, of session: DeviceSessionID, then complete: @escaping Completion) {
        received.change { $0.append((message, session, complete)) }
    }
}

/// What devices send upstream, over real connections.
@Suite(.timeLimit(.minutes(5))) struct UpstreamTests {
    private func stanza(_ persistentID: String, category: String) -> MCSPacket {
        var stanza = MCSDataMessageStanza()
        stanza.persistentID = persistentID
        stanza.category = category
        stanza.rawData = Data([1, 2, 3])
        return .dataMessage(stanza)
    }

    /// A device that is logged in; the login's answer is its first packet.
    private func loggedIn(_ world: World) async throws -> RawDevice {
        let raw = try await world.raw()
        try await raw.write([.login(MCSLoginRequest(device: 4242, secret: world.secret))], version: 41)
        await raw.state.wait { $0.packets.count == 1 }
        return raw
    }

    @Test func `a message is confirmed once its receiver says that it is durable`() async throws {
        let receiver = HeldReceiver()
        let world = try await World(upstream: UpstreamRegistry().adding(receiver, for: "com.example.todo"))
        let device = try await loggedIn(world)
        try await device.write([stanza("a", category: "com.example.todo")])
        let received = await receiver.received.wait { $0.count == 1 }
        #expect(
            received[0].message == UpstreamMessage(persistentID: "a", category: "com.example.todo", raw: [1, 2, 3]))
        #expect(received[0].session.device == world.device)
        try await device.write([.heartbeatPing(MCSHeartbeatPing())])
        let before = await device.state.wait { $0.packets.count == 2 }.packets
        #expect(before[1].tag == .heartbeatAck && before[1].lastStreamIDReceived == 1)
        received[0].complete(.durable())
        let after = await device.state.wait { $0.packets.count == 3 }.packets
        #expect(after[2].tag == .iqStanza && after[2].lastStreamIDReceived == 3)
        await world.endpoint.stop()
    }

    @Test func `a category that nobody takes is refused by name, and others go on`() async throws {
        let world = try await World()
        let device = try await loggedIn(world)
        try await device.write([stanza("a", category: "com.example.nobody")])
        // Devices that are not our agents hear of it twice: as iOS reads it, and as other clients do.
        let packets = await device.state.wait { $0.packets.count == 3 }.packets
        guard case .iq(let iq) = packets[1], packets[2].tag == .dataMessageStanza else { return #expect(Bool(false)) }
        #expect(iq.refusal?.persistentID == "a" && iq.refusal?.refusal.code == 404)
        #expect(iq.refusal?.refusal.reason.contains("com.example.nobody") == true && iq.lastStreamIDReceived == 2)
        try await device.write([.heartbeatPing(MCSHeartbeatPing())])
        await device.state.wait { $0.packets.count == 4 && !$0.isClosed }
        await world.endpoint.stop()
    }

    @Test func `what has no receiver of its own goes to the one for all others`() async throws {
        let receiver = HeldReceiver()
        let world = try await World(upstream: UpstreamRegistry(others: receiver))
        let device = try await loggedIn(world)
        try await device.write([stanza("a", category: "anything")])
        await receiver.received.wait { $0.first?.message.category == "anything" }
        // Receipts are taken in any case.
        try await device.write([stanza("b", category: MCSUpstream.receiptsCategory)])
        let packets = await device.state.wait { $0.packets.count == 3 }.packets
        guard case .iq(let iq) = packets[1], packets[2].tag == .dataMessageStanza else { return #expect(Bool(false)) }
        #expect(iq.refusal?.persistentID == "b" && iq.refusal?.refusal.code == 400)
        await world.endpoint.stop()
    }

    @Test(arguments: [
        (UpstreamOutcome.failed, [MCSTag.close]), (.violation("too much"), [.streamErrorStanza]),
        (.durable(ignored: 5000), [.close]),
    ])
    func `what ends the session says so`(outcome: UpstreamOutcome, tags: [MCSTag]) async throws {
        let receiver = HeldReceiver()
        let world = try await World(upstream: UpstreamRegistry().adding(receiver, for: "x"))
        let device = try await loggedIn(world)
        try await device.write([stanza("a", category: "x")])
        let received = await receiver.received.wait { $0.count == 1 }
        received[0].complete(outcome)
        let state = await device.state.wait { $0.isClosed }
        #expect(state.packets.dropFirst().map(\.tag) == tags)
        if case .violation(let text) = outcome, case .streamError(let error)? = state.packets.last {
            #expect(error.text == text && error.type == MCSServerCloseReason.protocolViolation.rawValue)
        }
        await world.endpoint.stop()
    }

    @Test func `a message whose connection ended before it was durable is answered into nothing`() async throws {
        let receiver = HeldReceiver()
        let world = try await World(upstream: UpstreamRegistry().adding(receiver, for: "x"))
        let device = try await loggedIn(world)
        try await device.write([stanza("a", category: "x")])
        let received = await receiver.received.wait { $0.count == 1 }
        try await device.close()
        await world.gateway.state.wait { !$0.closed.isEmpty }
        received[0].complete(.durable())
        let again = try await loggedIn(world)
        try await again.write([stanza("a", category: "x")])
        await receiver.received.wait { $0.count == 2 }
        await world.endpoint.stop()
    }

    // MARK: Receipts

    private func receive(_ raw: [UInt8], limit: Int = 512, _ gateway: FakeGateway = FakeGateway()) throws
        -> UpstreamOutcome?
    {
        let receiver = ReceiptReceiver(gateway: gateway, metrics: DeviceEndpointMetrics(), limit: limit)
        let session = DeviceSessionID(device: try #require(DeviceID(7)), epoch: 1)
        let outcome = Watched<UpstreamOutcome?>(nil)
        receiver.receive(
            UpstreamMessage(persistentID: "a", category: MCSUpstream.receiptsCategory, raw: raw), of: session
        ) { answer in outcome.change { $0 = answer } }
        return outcome.value
    }

    private func batch(_ count: Int64) throws -> [UInt8] {
        let entry = TimelineEntry(at: Timestamp(rawValue: 5), state: .handed, source: .app)
        let receipts = (1...count).map { Receipt(id: NotificationID(rawValue: $0), entry: entry) }
        return [UInt8](
            try MCSDataMessageStanza(receipts: receipts, persistentID: "a", now: Timestamp(rawValue: 5)).rawData)
    }

    @Test func `receipts are recorded; too many of them, and what is no batch, are not`() throws {
        let gateway = FakeGateway()
        #expect(try receive(batch(3), limit: 3, gateway) == .durable())
        #expect(gateway.state.value.receipts.map(\.id.rawValue) == [1, 2, 3])
        #expect(try receive(batch(4), limit: 3, gateway) == .violation("too many receipts in one batch"))
        #expect(
            try receive([0x0A, 0x50], gateway)
                == .refused(UpstreamRejection(code: 400, reason: "the content is no batch of receipts")))
        #expect(gateway.state.value.receipts.count == 3)
        gateway.state.change { $0.recordsDurably = false }
        #expect(try receive(batch(1), gateway) == .failed)
    }

    // MARK: The log

    @Test func `refusals are told once in ten seconds, with how many there were`() throws {
        let report = UpstreamRefusalLog(
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        let device = try #require(DeviceID(7))
        let told = [0, 1, 9999, 10_000, 10_001, 20_000, 50_000].map { report.refused(refusal, of: device, at: $0) }
        #expect(told == [1, nil, nil, 3, nil, 2, 1])
    }
}

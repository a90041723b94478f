import Foundation
import Logging
import PushCore
import PushServer
import RelayProtocol
import RelayServer
import Synchronization
import Testing

/// Relaying while its database cannot be used.
@Suite struct OutOfServiceTests {
    private let connection = RelayCentreTests.Connection()
    private let isDamaged = Flag()

    private final class Flag: Sendable {
        private let value = Mutex(false)
        var isSet: Bool { value.withLock { $0 } }
        func set() { value.withLock { $0 = true } }
    }

    private func centre() throws -> (RelayBroker, DeviceSessionID) {
        let centre = RelayBroker(
            register: RelayCentreTests.Register(), clock: { Timestamp(rawValue: 1000) }, schedule: { _, _ in },
            fault: { [isDamaged] in isDamaged.isSet ? "relay.sqlite is damaged" : nil }, logger: Logger(label: "test"))
        let session = DeviceSessionID(device: try #require(DeviceID(7)), epoch: 1)
        centre.opened(session, connection)
        return (centre, session)
    }

    private func answer(_ frame: RelayFrame, _ centre: RelayBroker, _ session: DeviceSessionID) throws -> [RelayFrame] {
        connection.frames.withLock { $0 = [] }
        let outcome = Mutex<UpstreamOutcome?>(nil)
        centre.receive(
            UpstreamMessage(persistentID: "", category: "aldaba.relay", raw: try frame.encoded()), of: session
        ) { result in outcome.withLock { $0 = result } }
        #expect(outcome.withLock { $0 } == .durable(), "the session goes on")
        return connection.frames.withLock { $0 }
    }

    @Test func `each frame is refused with the reason or the answer that its sender waits for`() throws {
        let (centre, session) = try centre()
        let hello = RelayFrame.hello(
            token: [UInt8](repeating: 1, count: 32), RelayDevice(id: "", name: "n", kind: "desktop"))
        #expect(try answer(hello, centre, session).count == 1, "it is served before")
        isDamaged.set()
        let refused = RelayFrame.refused("relaying is out of service: relay.sqlite is damaged")
        #expect(try answer(hello, centre, session) == [refused])
        #expect(try answer(.meet(place: [UInt8](repeating: 3, count: 32)), centre, session) == [refused])
        let id = UUID()
        let queuedMessage = QueuedMessage(peer: "8", id: id, deadline: 5000, body: [1])
        #expect(try answer(.queuedMessage(queuedMessage), centre, session) == [.undelivered(id: id, .notKept)])
        #expect(
            try answer(.documentRequest(id: id, .get(key: [UInt8](repeating: 1, count: 32))), centre, session)
                == [.documentAnswer(id: id, .refused(.notKept))])
        #expect(try answer(.goodbye, centre, session) == [])
    }
}

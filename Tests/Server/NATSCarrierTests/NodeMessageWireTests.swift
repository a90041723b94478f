import Crypto
import PushCore
import PushServer
import Testing

@testable import NATSCarrier

@Suite struct NodeMessageWireTests {
    private let device: DeviceID
    private let notification: OutgoingNotification
    private let attempt: NodeAttempt

    init() throws {
        device = try #require(DeviceID(77))
        let apnsID = APNsID(rawValue: "123e4567-e89b-12d3-a456-4266554400a0")
        notification = OutgoingNotification(
            id: NotificationID(rawValue: 9), apnsID: apnsID, team: TeamID(rawValue: "TEAM123456"),
            topic: Topic(rawValue: "com.example.todo"), environment: .sandbox, lane: .apns, pushType: .alert,
            priority: .immediate, collapseID: "ñ", acceptedAt: Timestamp(rawValue: 5),
            expiresAt: Timestamp(rawValue: 6),
            payload: Array(#"{"aps":{}}"#.utf8))
        let record = NotificationRecord(
            id: NotificationID(rawValue: 10),
            subject: TokenSubject(
                cell: 3, device: device, app: AppID(rawValue: 8), environment: .production, generation: 2),
            apnsID: apnsID, pushType: nil, priority: .low, collapseID: nil, acceptedAt: Timestamp(rawValue: 5),
            expiresAt: nil, waits: false, lane: .fcm, payload: .own([1, 2]), note: "a note")
        attempt = NodeAttempt(record, team: notification.team, topic: notification.topic)
    }

    private var messages: [NodeMessage] {
        [
            .deliver([notification, notification], to: device, epoch: 4, revision: 12), .wake(device),
            .attempt(attempt), .heartbeat,
        ]
    }

    @Test func `messages are decoded as they were encoded`() throws {
        let batches = NodeMessageWire.encode(messages, limit: 1 << 20)
        #expect(batches.count == 1)
        #expect(try NodeMessageWire.decode(batches[0]) == messages)
    }

    @Test func `a batch has at most so many bytes, or one message`() throws {
        let batches = NodeMessageWire.encode(messages, limit: 40)
        #expect(batches.count == 4)
        #expect(try batches.flatMap(NodeMessageWire.decode) == messages)
    }

    @Test func `bytes that are cut off are an error, and so are others`() throws {
        let bytes = NodeMessageWire.encode(messages, limit: 1 << 20)[0]
        let ends = try NodeMessageWire.encode(messages, limit: 0).reduce(into: [1]) { ends, batch in
            ends.append(try #require(ends.last) + batch.count - 1)
        }
        for count in 0..<bytes.count where !ends.contains(count) {
            #expect(throws: NodeMessageWire.Malformed.self) { try NodeMessageWire.decode(Array(bytes.prefix(count))) }
        }
        #expect(throws: NodeMessageWire.Malformed.self) { try NodeMessageWire.decode([2]) }
        #expect(throws: NodeMessageWire.Malformed.self) { try NodeMessageWire.decode([1, 9]) }
    }

    @Test func `what was sealed with another key is not opened`() throws {
        let (cipher, other) = (
            MessageCipher(key: SymmetricKey(size: .bits256)), MessageCipher(key: SymmetricKey(size: .bits256))
        )
        var sealed = try cipher.seal([1, 2, 3])
        #expect(cipher.open(sealed) == [1, 2, 3])
        #expect(other.open(sealed) == nil && other.open([]) == nil)
        sealed[sealed.count - 1] ^= 1
        #expect(cipher.open(sealed) == nil)
    }
}

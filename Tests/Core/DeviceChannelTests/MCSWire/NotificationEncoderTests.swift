import AldabaTestSupport
import PushCore
import Testing

@testable import DeviceChannel

/// The packet that is written by hand is the one that the generated code writes.
@Suite struct NotificationEncoderTests {
    private func notification(payload: Int, _ change: (inout OutgoingNotification) -> Void = { _ in })
        -> OutgoingNotification
    {
        var made = OutgoingNotification(
            id: NotificationID(rawValue: 123_456_789_012_345), apnsID: "C0FFEE00-0000-4000-8000-000000000001",
            team: TeamID(rawValue: "TEAM123456"), topic: Topic(rawValue: "com.example.todo"), environment: .sandbox,
            lane: .apns, pushType: .alert, priority: .immediate, collapseID: "a collapse id with ü",
            acceptedAt: Timestamp(rawValue: 1_780_000_000_123), expiresAt: Timestamp(rawValue: 1_780_000_600_123),
            payload: [UInt8](repeating: 0x20, count: payload))
        change(&made)
        return made
    }

    private static let changes: [@Sendable (inout OutgoingNotification) -> Void] = [
        { _ in }, { $0.collapseID = nil }, { $0.pushType = nil }, { $0.expiresAt = nil }, { $0.lane = .fcm },
        { $0.environment = .production }, { $0.priority = .low }, { $0.collapseID = "" },
        { $0.acceptedAt = Timestamp(rawValue: -5) }, { $0.expiresAt = .distantFuture },
        { $0.apnsID = APNsID(rawValue: String(repeating: "x", count: 300)) },
        {
            $0.payload = []
            $0.topic = Topic(rawValue: "a")
            $0.team = TeamID(rawValue: "")
            $0.apnsID = ""
        },
    ]

    private func generated(_ notification: OutgoingNotification, last: Int32, now: Timestamp) throws -> [UInt8] {
        var stanza = MCSDataMessageStanza(notification, now: now)
        stanza.lastStreamIDReceived = last
        var bytes: [UInt8] = []
        try MCSPacket.dataMessage(stanza).encode(into: &bytes)
        return bytes
    }

    @Test(arguments: [0, 1, 84, 127, 128, 200, 284, 4096, 15_900, 16_084, 16_200, 16_384, 70_000], changes.indices)
    func `it is byte for byte what the generated code writes`(payload: Int, change: Int) throws {
        let notification = notification(payload: payload, Self.changes[change])
        let now = Timestamp(rawValue: 1_780_000_005_999)
        for last in [0, 1, 127, 128, Int32.max] as [Int32] {
            var bytes: [UInt8] = [7, 7]
            try notification.encodePacket(into: &bytes, lastStreamID: last, now: now)
            #expect(try Array(bytes.dropFirst(2)) == generated(notification, last: last, now: now))
        }
    }

    @Test func `a notice is what the generated code writes too`() throws {
        let now = Timestamp(rawValue: 1_780_000_005_999)
        let notice = OutgoingNotification(
            .deleted(count: 100, since: Timestamp(rawValue: 1_780_000_000_123)), id: NotificationID(rawValue: 9),
            team: TeamID(rawValue: "TEAM123456"), topic: Topic(rawValue: "com.example.todo"), environment: .sandbox,
            lane: .fcm, at: now)
        var bytes: [UInt8] = []
        try notice.encodePacket(into: &bytes, lastStreamID: 5, now: now)
        #expect(try bytes == generated(notice, last: 5, now: now))
    }

    @Test func `what is too large for any reader is refused, and nothing is appended`() {
        let notification = notification(payload: MCSFrame.defaultMaximumSize)
        var bytes: [UInt8] = [1, 2, 3]
        #expect(throws: MCSFrameError.self) {
            try notification.encodePacket(into: &bytes, lastStreamID: 1, now: notification.acceptedAt)
        }
        #expect(bytes == [1, 2, 3])
    }
}

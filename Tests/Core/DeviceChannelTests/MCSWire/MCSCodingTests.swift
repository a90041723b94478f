import AldabaTestSupport
import DeviceChannel
import Foundation
import PushCore
import SwiftProtobuf
import Testing

private let notification = OutgoingNotification(
    id: NotificationID(rawValue: 7_215_545_057_280_001), apnsID: "11111111-2222-3333-4444-555555555555",
    team: TeamID(rawValue: "ABCDE12345"), topic: Topic(rawValue: "com.example.todo"), environment: .sandbox,
    lane: .apns, pushType: .alert, priority: .considerate, collapseID: "list-7",
    acceptedAt: Timestamp(seconds: 1_795_234_567),
    expiresAt: Timestamp(seconds: 1_795_238_167),
    payload: Array(#"{"aps":{"alert":"Milk – and bread"},"todo":"milk"}"#.utf8))

@Suite struct MCSCodingTests {
    @Test func `a notification becomes the stanza that the fixture holds`() throws {
        var stanza = MCSDataMessageStanza(
            notification, now: notification.acceptedAt.adding(milliseconds: 2500))
        stanza.lastStreamIDReceived = 1
        #expect(try packet("notification") == .dataMessage(stanza))
    }

    @Test(arguments: [MCSUpstream.receiptsCategory, MCSUpstream.relayCategory, MCSUpstream.serverAddress])
    func `a category of the server's own is no app's topic`(name: String) {
        #expect(Topic.isReserved(name))
    }

    @Test func `a notification survives the way there and back`() throws {
        var other = notification
        #expect(try MCSDataMessageStanza(other, now: other.acceptedAt).notification() == other)
        other.collapseID = nil
        other.pushType = nil
        other.expiresAt = nil
        other.lane = .fcm
        other.environment = .production
        other.priority = .low
        let stanza = MCSDataMessageStanza(other, now: other.acceptedAt)
        #expect(stanza.ttl == 0)
        #expect(try stanza.notification() == other)
    }

    @Test func `instants at the ends of time are written without a trap`() throws {
        var other = notification
        other.acceptedAt = Timestamp(rawValue: .min)
        other.expiresAt = .distantFuture
        let stanza = MCSDataMessageStanza(other, now: .distantFuture)
        #expect(stanza.ttl == .max && stanza.queued == .max)
        #expect(try stanza.notification() == other)
    }

    private static let deleted = OutgoingNotification(
        .deleted(count: 100, since: Timestamp(rawValue: 5)), id: NotificationID(rawValue: 9),
        team: notification.team, topic: notification.topic, environment: .production, lane: .fcm,
        at: Timestamp(rawValue: 7))

    @Test func `cleared notifications are told as FCM tells them, and read back`() throws {
        let stanza = MCSDataMessageStanza(Self.deleted, now: Timestamp(rawValue: 7))
        let values = Dictionary(uniqueKeysWithValues: stanza.appData.map { ($0.key, $0.value) })
        #expect(values["message_type"] == "deleted_messages" && values["total_deleted"] == "100")
        #expect(stanza.category == "com.example.todo" && stanza.persistentID == "9" && !stanza.hasRawData)
        #expect(stanza.ttl == 2_419_200)
        #expect(try stanza.notification() == Self.deleted)
    }

    @Test func `a withdrawal is told under a kind of message of its own, and read back`() throws {
        let withdrawn = OutgoingNotification(
            .withdrawn(NotificationID(rawValue: 77)), id: NotificationID(rawValue: 99), team: notification.team,
            topic: notification.topic, environment: .sandbox, lane: .apns, at: Timestamp(rawValue: 7))
        var stanza = MCSDataMessageStanza(withdrawn, now: Timestamp(rawValue: 9))
        #expect(try stanza.notification() == withdrawn)
        stanza.appData.removeAll { $0.key == MCSKey.withdrawn }
        #expect(throws: MCSStanzaError.field(MCSKey.withdrawn)) { try stanza.notification() }
    }

    @Test(arguments: [
        ("message_type", "send_error"), ("total_deleted", "many"), ("total_deleted", "0"),
        ("aldaba.deleted-since", "99999999999999999999"), ("aldaba.environment", "moon"),
    ])
    func `a notice whose values are malformed says which`(key: String, value: String) {
        var stanza = MCSDataMessageStanza(Self.deleted, now: Timestamp(rawValue: 7))
        for index in stanza.appData.indices where stanza.appData[index].key == key {
            stanza.appData[index].value = value
        }
        #expect(throws: MCSStanzaError.field(key)) { try stanza.notification() }
    }

    static let broken: [(String, @Sendable (inout MCSDataMessageStanza) -> Void)] = [
        ("persistent_id", { $0.persistentID = "0:1795%7a" }),
        ("persistent_id", { $0.clearPersistentID() }),
        ("persistent_id", { $0.persistentID = "-5" }),
        ("category", { $0.category = "" }),
        ("category", { $0.category = "com/example" }),
        (MCSKey.apnsID, { $0.appData.removeAll { $0.key == MCSKey.apnsID } }),
        (MCSKey.environment, { $0.appData.removeAll { $0.key == MCSKey.environment } }),
        (
            MCSKey.expiration,
            { stanza in
                for index in stanza.appData.indices where stanza.appData[index].key == MCSKey.expiration {
                    stanza.appData[index].value = "tomorrow"
                }
            }
        ),
    ]

    @Test(arguments: broken.indices)
    func `a stanza that is no notification says which field is wrong`(index: Int) {
        let (field, damage) = Self.broken[index]
        var stanza = MCSDataMessageStanza(notification, now: notification.acceptedAt)
        damage(&stanza)
        #expect(throws: MCSStanzaError.field(field)) { try stanza.notification() }
    }

    @Test func `receipts that another hand encoded are read, and what a device cannot know is passed over`() throws {
        guard case .dataMessage(let stanza) = try packet("receipts") else { return #expect(Bool(false)) }
        let first = Receipt(
            id: NotificationID(rawValue: 7_215_545_057_280_001),
            entry: TimelineEntry(at: Timestamp(rawValue: 1_795_234_568_123), state: .handed, source: .app))
        let second = Receipt(
            id: NotificationID(rawValue: 7_215_545_057_280_002),
            entry: TimelineEntry(
                at: Timestamp(rawValue: 1_795_234_568_124), state: .action("snooze"), source: .desktop,
                note: "second button"))
        #expect(stanza.receipts() == MCSReceiptReading(receipts: [first, second], ignoredCount: 2))
        #expect(stanza.category == MCSUpstream.receiptsCategory && stanza.persistentID == "out-7")
    }

    @Test func `receipts survive the way there and back, a long note excepted`() throws {
        let entry = TimelineEntry(
            at: Timestamp(rawValue: 5), state: .suppressed(.settings), source: .agent,
            note: String(repeating: "n", count: 1025))
        let stanza = try MCSDataMessageStanza(
            receipts: [Receipt(id: notification.id, entry: entry)], persistentID: "1", now: Timestamp(rawValue: 9))
        #expect(stanza.ttl > 0)
        var shortened = entry
        shortened.note = nil
        #expect(stanza.receipts() == MCSReceiptReading(receipts: [Receipt(id: notification.id, entry: shortened)]))
    }

    @Test func `raw data that is no batch of receipts is no batch`() {
        var stanza = MCSDataMessageStanza()
        stanza.category = MCSUpstream.receiptsCategory
        stanza.rawData = Data([0x0A, 0x50])
        #expect(stanza.receipts() == nil)
    }

    @Test func `an upstream stanza is read whole; of a key that came twice the first value counts`() {
        var stanza = MCSDataMessageStanza()
        stanza.persistentID = "7"
        stanza.category = "com.example.todo"
        stanza.from = "todo"
        stanza.to = "provider"
        stanza.appData = [("a", "1"), ("b", "2"), ("a", "3")].map { key, value in
            var pair = MCSAppData()
            pair.key = key
            pair.value = value
            return pair
        }
        stanza.rawData = Data([0, 255])
        stanza.id = "note-1"
        stanza.ttl = 60
        stanza.queued = 5
        #expect(
            UpstreamMessage(stanza)
                == UpstreamMessage(
                    persistentID: "7", category: "com.example.todo", sender: "todo", recipient: "provider",
                    appData: ["a": "1", "b": "2"], raw: [0, 255], messageID: "note-1", timeToLive: 60, queued: 5))
        #expect(UpstreamMessage(MCSDataMessageStanza()) == UpstreamMessage(persistentID: "", category: ""))
    }

    @Test func `a refusal survives the way there and back, and is no acknowledgement`() throws {
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        var bytes: [UInt8] = []
        try MCSPacket.iq(MCSIqStanza(refusal, of: "7")).encode(into: &bytes)
        var decoder = MCSFrameDecoder()
        decoder.append([41] + bytes)
        _ = try decoder.next()
        guard case .packet(.iq(let read))? = try decoder.next() else { return #expect(Bool(false)) }
        #expect(read.refusal?.persistentID == "7" && read.refusal?.refusal == refusal)
        #expect(read.acknowledgement == nil && MCSIqStanza(.stream).refusal == nil && read.id == "7")
    }

    @Test func `a refusal is small, whatever the device sent`() {
        let long = String(repeating: "é", count: 10_000)
        let iq = MCSIqStanza(UpstreamRejection(code: 400, reason: long), of: long)
        #expect(iq.persistentID.isEmpty && iq.error.message == String(long.prefix(255)))
    }

    @Test func `acknowledgements are read from their extensions`() throws {
        guard case .iq(let stream) = try packet("stream-ack"), case .iq(let selective) = try packet("selective-ack")
        else { return #expect(Bool(false)) }
        #expect(stream.acknowledgement == .stream && stream.lastStreamIDReceived == 11)
        #expect(selective.acknowledgement == .selective(["101", "103"]))
        #expect(MCSIqStanza(.selective(["101", "103"])) == selective)
        #expect(MCSIqStanza().acknowledgement == nil)
    }

    @Test func `a login keeps what Aldaba does not read`() throws {
        guard case .login(let request) = try packet("login") else { return #expect(Bool(false)) }
        #expect(request.user == "4242" && request.authToken == "9876543210987654321")
        #expect(request.receivedPersistentID == ["101", "102"])
        #expect(request.heartbeatStat.intervalMs == 20_000 && request.authService == .androidID)
    }

    @Test func `the checkin's messages have the numbers of the public clients`() throws {
        let request = try MCSCheckinRequest(serializedBytes: fixture("checkin-request"))
        #expect(request.id == 4242 && request.securityToken == 9_876_543_210_987_654_321)
        #expect(request.checkin.type == 3 && request.version == 3)
        let response = try MCSCheckinResponse(serializedBytes: fixture("checkin-response"))
        #expect(response.androidID == 4242 && response.securityToken == 9_876_543_210_987_654_321)
        #expect(response.statsOk && response.timeMsec == 1_795_234_567_890)
    }
}

import AldabaTestSupport
import DeviceChannel
import Foundation
import PushCore

/// Uptime and wall clock move together in these tests.
func at(_ milliseconds: Int64) -> SessionTime {
    SessionTime(uptime: milliseconds, wall: Timestamp(rawValue: 1_780_000_000_000 + milliseconds))
}

func id(_ value: Int64) -> NotificationID { NotificationID(rawValue: value) }

func notification(_ value: Int64, stored: Bool = true) -> OutgoingNotification {
    OutgoingNotification(
        id: id(value), apnsID: "apns-\(value)", team: TeamID(rawValue: "ABCDE12345"),
        topic: Topic(rawValue: "com.example.todo"), environment: .sandbox, lane: .apns, pushType: nil,
        priority: .immediate,
        collapseID: nil, acceptedAt: Timestamp(rawValue: 1_780_000_000_000),
        expiresAt: stored ? Timestamp(rawValue: 1_790_000_000_000) : nil, payload: Array("{}".utf8))
}

func notifications(_ values: some Sequence<Int64>, stored: Bool = true) -> [OutgoingNotification] {
    values.map { notification($0, stored: stored) }
}

/// The packets among what a server's session directed.
func packets(_ directives: [MCSServerDirective]) -> [MCSPacket] {
    directives.compactMap { directive in
        switch directive {
        case .send(let packet): return packet
        case .deliver(let notification, let lastStreamID, let now):
            var stanza = MCSDataMessageStanza(notification, now: now)
            stanza.lastStreamIDReceived = lastStreamID
            return .dataMessage(stanza)
        default: return nil
        }
    }
}

/// The packets among what a device's session directed.
func packets(_ directives: [MCSClientDirective]) -> [MCSPacket] {
    directives.compactMap { if case .send(let packet) = $0 { packet } else { nil } }
}

func login(user: String = "4242", secret: String = "99", received: [String] = []) -> MCSPacket {
    var request = MCSLoginRequest()
    request.id = "test"
    request.user = user
    request.authToken = secret
    request.receivedPersistentID = received
    return .login(request)
}

func ping(last: Int32? = nil) -> MCSPacket {
    var ping = MCSHeartbeatPing()
    if let last { ping.lastStreamIDReceived = last }
    return .heartbeatPing(ping)
}

func streamAck(_ last: Int32) -> MCSPacket {
    var packet = MCSPacket.iq(MCSIqStanza(.stream))
    packet.lastStreamIDReceived = last
    return packet
}

func receipts(_ persistentID: String, of value: Int64 = 1) -> MCSPacket {
    let entry = TimelineEntry(at: Timestamp(rawValue: 5), state: .handed, source: .app)
    let stanza = try? MCSDataMessageStanza(
        receipts: [Receipt(id: id(value), entry: entry)], persistentID: persistentID, now: Timestamp(rawValue: 5))
    return .dataMessage(stanza ?? MCSDataMessageStanza())
}

func upstream(_ persistentID: String, category: String) -> MCSPacket {
    var stanza = MCSDataMessageStanza()
    stanza.id = persistentID
    stanza.persistentID = persistentID
    stanza.category = category
    stanza.from = "todo"
    stanza.to = "provider"
    var pair = MCSAppData()
    pair.key = "key"
    pair.value = "value"
    stanza.appData = [pair]
    stanza.rawData = Data([1, 2, 3])
    return .dataMessage(stanza)
}

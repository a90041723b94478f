import DeviceChannel
import FCMProtocol
import Foundation
import PushCore
import WebPushProtocol

/// What clients say at their registration, what senders say, and what is written to clients: no subtype, envelope or payload may trap, and an
/// envelope is read back as it was written.
enum WebPushFuzz: FuzzTest {
    private static let key = RecipientPrivateKey().publicKey

    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let input = Array(input)
        _ = WebRegistration.topic(ofSubtype: String(decoding: input, as: UTF8.self))
        let text = String(decoding: input, as: UTF8.self)
        _ = try? VAPIDToken(authorization: text, cryptoKey: text)
        _ = VAPIDToken.key(ofSender: text)
        if let asked = try? WebPushRequest(body: input, field: { _ in text }) {
            precondition(WebPushEnvelope(bytes: asked.envelope.bytes) == asked.envelope)
        }
        if let envelope = WebPushEnvelope(bytes: input) {
            precondition(envelope.bytes == input, "an envelope was not written as it was read")
        }
        let notification = OutgoingNotification(
            id: NotificationID(rawValue: 77), apnsID: APNsID(rawValue: "a"),
            team: TeamID(rawValue: "DEMOTEAM01"), topic: Topic(rawValue: "com.example.todo"),
            environment: .sandbox, lane: .fcm, pushType: nil, priority: .immediate, collapseID: nil,
            acceptedAt: Timestamp(rawValue: 0), expiresAt: nil, payload: input)
        for category in ["org.chromium.linux", "com.example.todo"] {
            for key in [WebPushFuzz.key, nil] {
                let registration = WebRegistration(category: category, subtype: "s", sender: "s", key: key)
                guard
                    let stanza = try? WebPushStanza.make(
                        notification, to: registration, now: Timestamp(rawValue: 1))
                else { fatalError("a message was not written") }
                var bytes: [UInt8] = []
                try? MCSPacket.dataMessage(stanza).encode(into: &bytes)
            }
        }
    }
}

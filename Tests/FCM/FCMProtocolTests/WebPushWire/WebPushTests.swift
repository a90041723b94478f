import DeviceChannel
import Foundation
import PushCore
import Testing
import WebPushProtocol

@testable import FCMProtocol

/// How notifications travel to browsers' registrations.
@Suite struct WebPushTests {
    let now = Timestamp(seconds: 1_780_272_000)
    let registration = WebRegistration(
        category: "org.chromium.linux", subtype: "wp:com.example.todo#1", sender: "BDOU",
        key: RecipientPrivateKey().publicKey)

    private func notification(_ payload: [UInt8], collapseID: String? = nil) throws -> OutgoingNotification {
        OutgoingNotification(
            id: try #require(NotificationID(text: "77")), apnsID: APNsID(rawValue: "a"),
            team: TeamID(rawValue: "DEMOTEAM01"), topic: Topic(rawValue: "com.example.todo"), environment: .sandbox,
            lane: .fcm, pushType: nil, priority: .immediate, collapseID: collapseID, acceptedAt: now, expiresAt: now,
            payload: payload)
    }

    private func message(_ payload: String, collapseID: String? = nil) throws -> NSDictionary {
        let bytes = WebMessage(try notification(Array(payload.utf8), collapseID: collapseID)).bytes
        return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary)
    }

    @Test(
        arguments: [
            ("wp:com.example.todo#8d3f", "com.example.todo"), ("com.example.todo", "com.example.todo"),
            ("wp:https://shop.example/#8D-V2", "shop.example"), ("wp:http://localhost:8080/a/#8D", "localhost"),
            ("wp:#8D", nil), ("", nil), ("wp:https:///#1", nil), ("wp:a b#1", nil), ("#", nil),
        ] as [(String, String?)])
    func `a subtype names an app or the host of a page`(subtype: String, topic: String?) {
        #expect(WebRegistration.topic(ofSubtype: subtype)?.rawValue == topic)
    }

    @Test func `a notification becomes what web clients show, and the rest data`() throws {
        let read = try message(
            """
            {"aps":{"alert":{"title":"Milk","body":"and bread"},"category":"buy","thread-id":"list"},"count":2,
             "deep":{"a":[1,null]},"text":"t","gcm.message_id":"5","google.c.sender.id":"9","from":"123",
             "fcm_options":{"image":"https://x/y.png","link":"https://x/"}}
            """, collapseID: "c")
        #expect(
            read == [
                "fcmMessageId": "77", "priority": "high", "from": "123", "collapse_key": "c",
                "notification": [
                    "title": "Milk", "body": "and bread", "click_action": "buy", "tag": "list",
                    "image": "https://x/y.png",
                ],
                "data": ["count": "2", "deep": #"{"a":[1,null]}"#, "text": "t"], "fcmOptions": ["link": "https://x/"],
            ] as NSDictionary)
    }

    @Test func `what is said for browsers alone is laid over the rest`() throws {
        let payload = """
            {"aps":{"alert":{"title":"Milk","body":"and bread"}},"count":2,"from":"123","fcm_options":{"link":"https://x/"},
             "gcm.notification.tag":"t7","gcm.webpush":{"notification":{"title":"W","actions":[{"action":"a"}],"renotify":true},
             "data":{"w":"x"},"link":"https://w/","analytics_label":"web"}}
            """
        #expect(
            try message(payload) == [
                "fcmMessageId": "77", "priority": "high", "from": "123",
                "notification": [
                    "title": "W", "body": "and bread", "tag": "t7", "actions": [["action": "a"]], "renotify": true,
                ],
                "data": ["w": "x"], "fcmOptions": ["link": "https://w/", "analytics_label": "web"],
            ] as NSDictionary)
        let pairs = WebMessage(try notification(Array(payload.utf8))).pairs.map { "\($0.key)=\($0.value)" }
        #expect(
            pairs == [
                "count=2", "gcm.n.e=1", "gcm.notification.body=and bread", "gcm.notification.tag=t7",
                "gcm.notification.title=Milk", "google.message_id=77",
            ])
    }

    @Test(arguments: ["[1]", "{", "", "\u{0}", String(repeating: "[", count: 4000)])
    func `what is no JSON object is one value`(payload: String) throws {
        #expect((try message(payload)["data"] as? NSDictionary)?["message"] as? String == payload)
    }

    @Test func `a message without anything to show has no notification`() throws {
        #expect(try message(#"{"aps":{"content-available":1},"k":"v"}"#)["notification"] == nil)
        #expect(try message(#"{"k":"v"}"#)["notification"] == nil)
    }

    @Test func `a stanza names the client's subscription and hides the content`() throws {
        let outgoing = try notification(Array(#"{"aps":{"alert":"secret words"}}"#.utf8))
        let stanza = try #require(try WebPushStanza.make(outgoing, to: registration, now: now))
        #expect(stanza.category == "org.chromium.linux")
        #expect(stanza.persistentID == "77")
        #expect(stanza.from == registration.sender)
        #expect(stanza.immediateAck)
        let values = Dictionary(uniqueKeysWithValues: stanza.appData.map { ($0.key, $0.value) })
        #expect(Set(values.keys) == ["subtype", "crypto-key", "encryption"])
        #expect(values["subtype"] == registration.subtype)
        // Some clients read neither without padding.
        #expect(values["crypto-key"]?.utf8.count == 3 + 88)
        #expect(values["encryption"]?.utf8.count == 5 + 24)
        #expect(stanza.rawData.range(of: Data("secret words".utf8)) == nil)
        #expect(!stanza.rawData.isEmpty)
    }

    @Test func `an Android library gets its message in pairs`() throws {
        let registration = WebRegistration(category: "com.example.todo", subtype: "123", sender: "123")
        let payload = #"{"aps":{"alert":{"title":"Milk"}},"from":"123","count":2,"google.c.a.e":"1"}"#
        let stanza = try #require(
            try WebPushStanza.make(notification(Array(payload.utf8)), to: registration, now: now))
        #expect(stanza.category == "com.example.todo")
        #expect(stanza.from == "123")
        #expect(!stanza.hasRawData)
        #expect(
            stanza.appData.map { "\($0.key)=\($0.value)" } == [
                "subtype=123", "count=2", "gcm.n.e=1", "gcm.notification.title=Milk", "google.message_id=77",
            ])
    }

    @Test func `without a key a stanza says only that there is something`() throws {
        var registration = registration
        registration.key = nil
        let stanza = try #require(
            try WebPushStanza.make(notification(Array(#"{"k":"v"}"#.utf8)), to: registration, now: now))
        #expect(!stanza.hasRawData)
        #expect(stanza.appData.map(\.key) == ["subtype"])
    }

    @Test func `what a sender has encrypted goes through as it is`() throws {
        let envelope = WebPushEnvelope(contentEncoding: "aes128gcm", body: [1, 2, 3])
        let stanza = try #require(
            try WebPushStanza.make(notification(envelope.bytes), to: registration, now: now))
        #expect(stanza.appData.map(\.key) == ["subtype", "content-encoding"])
        #expect(Array(stanza.rawData) == [1, 2, 3])
    }

    @Test func `an envelope is read back, and nothing else is one`() {
        let envelope = WebPushEnvelope(
            contentEncoding: "aesgcm", encryption: "salt=a", cryptoKey: "dh=b", body: Array(0...255))
        let bytes = envelope.bytes
        #expect(WebPushEnvelope(bytes: bytes) == envelope)
        for length in 0..<bytes.count { #expect(WebPushEnvelope(bytes: Array(bytes[..<length])) == nil) }
        #expect(WebPushEnvelope(bytes: bytes + [0]) == nil)
        #expect(WebPushEnvelope(bytes: Array("{}".utf8)) == nil)
        var long = bytes
        long.replaceSubrange(3..<7, with: [255, 255, 255, 255])
        #expect(WebPushEnvelope(bytes: long) == nil)
    }

    @Test func `a cleared mailbox is told, a recall is not`() throws {
        func notice(_ notice: DeviceNotice) throws -> MCSDataMessageStanza? {
            try WebPushStanza.make(
                OutgoingNotification(
                    notice, id: try #require(NotificationID(text: "9")), team: TeamID(rawValue: "DEMOTEAM01"),
                    topic: Topic(rawValue: "com.example.todo"), environment: .sandbox, lane: .fcm, at: now),
                to: registration, now: now)
        }
        let told = try #require(try notice(.deleted(count: 3, since: now)))
        #expect(
            told.appData.map { "\($0.key)=\($0.value)" } == [
                "subtype=wp:com.example.todo#1", "message_type=deleted_messages", "total_deleted=3",
            ])
        #expect(try notice(.withdrawn(try #require(NotificationID(text: "5")))) == nil)
    }
}

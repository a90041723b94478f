import PushCore
import Testing

@testable import FCMProtocol

/// Requests of chat servers, and the messages that they become.
@Suite struct ChatGatewayTests {
    private static let token = String(repeating: "0a", count: 32)
    private static let base64 = "CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo="

    private func matrix(_ members: String, device: String = "") throws -> (MatrixNotification, FCMMessage) {
        let body = """
            {"notification":{\(members)"devices":[{"app_id":"a","pushkey":"\(Self.token)"\(device)}]}}
            """
        let notification = try MatrixNotification(body: Array(body.utf8))
        return (notification, notification.message(for: try #require(notification.devices.first)))
    }

    private func aps(_ message: FCMMessage) throws -> JSONValue {
        let payload = try #require(message.apns?.payload)
        return try #require(JSONValue.object(payload)["aps"])
    }

    @Test(
        arguments: [
            (token, token), (base64, token), (String(base64.dropLast()), token), ("short", "short"),
            (String(repeating: "!", count: 44), String(repeating: "!", count: 44)),
        ])
    func `a device's key is a token in hexadecimal digits or base64`(key: String, expected: String) {
        #expect(ChatText.deviceToken(key) == expected)
    }

    @Test func `a text that is too long is cut at a character`() {
        #expect(ChatText.shortened("", to: 10) == nil)
        #expect(ChatText.shortened("short", to: 10) == "short")
        #expect(ChatText.shortened("ñañañañaña", to: 10) == "ñaña…")
        let cut = ChatText.shortened(String(repeating: "👩‍👩‍👧", count: 5), to: 40)
        #expect(cut == "👩‍👩‍👧👩‍👩‍👧…")
    }

    @Test(
        arguments: [
            (#""event_id":"$1","type":"m.room.message","content":{"body":"Hi"},"#, "Hi"),
            (#""event_id":"$1","type":"m.room.encrypted","content":{},"#, "New message"),
            (#""event_id":"$1","type":"m.call.invite","#, "Incoming call"),
            (#""event_id":"$1","type":"m.room.member","user_is_target":true,"#, "Invitation to a room"),
            (#""event_id":"$1","type":"m.room.member","#, "New message"),
            (#""event_id":"$1","content":{"body":7},"#, "New message"),
        ])
    func `an event of Matrix has a text of its kind`(members: String, text: String) throws {
        let (_, message) = try matrix(members)
        #expect(try aps(message)["alert"]?["body"]?.text == text)
        #expect(message.apns?.priority == 10)
    }

    @Test func `numbers of unread messages alone show nothing`() throws {
        let (_, message) = try matrix(#""prio":"low","counts":{"unread":2,"missed_calls":1},"#)
        #expect(try aps(message).json == #"{"badge":3}"#)
        #expect(message.apns?.collapseID == "matrix-counts" && message.apns?.priority == 5)
    }

    @Test func `the same event has the same collapse id, another one another`() throws {
        let ids = try [#""event_id":"$1","#, #""event_id":"$1","#, #""event_id":"$2","#].map {
            try matrix($0).1.apns?.collapseID ?? ""
        }
        #expect(ids[0] == ids[1] && ids[0] != ids[2])
        #expect(ids.allSatisfy { $0.utf8.count <= 64 })
    }

    @Test func `the app's own payload is the base, and the event's content stays out where the app wants it`() throws {
        let (_, message) = try matrix(
            #""event_id":"$1","sender":"@a:b","content":{"body":"secret"},"counts":{"unread":2},"#,
            device: """
                ,"data":{"format":"event_id_only","default_payload":{"aps":{"alert":{"loc-key":"K"},"badge":9},"x":1}},
                "tweaks":{"highlight":true}
                """)
        let payload = JSONValue.object(try #require(message.apns?.payload))
        #expect(payload.json == #"{"aps":{"alert":{"loc-key":"K"},"badge":2},"x":1,"event_id":"$1","highlight":true}"#)
    }

    @Test func `an app of UnifiedPush gets the request with its own device, and no content that is too large`() throws {
        let body = """
            {"notification":{"event_id":"$1","content":{"body":"\(String(repeating: "x", count: 5000))"},
            "devices":[{"pushkey":"one"},{"pushkey":"two","app_id":"a"}]}}
            """
        let notification = try MatrixNotification(body: Array(body.utf8))
        let whole = try JSONValue(object: notification.body(for: notification.devices[1], limit: 10_000))
        #expect(whole["notification"]?["devices"]?.json == #"[{"pushkey":"two","app_id":"a"}]"#)
        #expect(whole["notification"]?["content"] != nil)
        let small = try JSONValue(object: notification.body(for: notification.devices[1], limit: 4096))
        #expect(small["notification"]?["content"] == nil && small["notification"]?["event_id"]?.text == "$1")
    }

    @Test(
        arguments: [
            ("message", true, 10), ("session", true, 10), ("test", true, 10), ("clear", false, 5),
            ("update_badge", false, 5), ("another", false, 5),
        ] as [(String, Bool, UInt8)])
    func `a push of Mattermost is shown by its type`(kind: String, isShown: Bool, priority: UInt8) throws {
        let body = #"{"device_id":"\#(Self.token)","type":"\#(kind)","message":"Hi","badge":-1,"sound":"none"}"#
        let message = try MattermostPush(body: Array(body.utf8)).fcm
        let aps = try aps(message)
        #expect((aps["alert"] != nil) == isShown)
        #expect(aps["badge"] == nil && aps["sound"] == nil)
        #expect(message.apns?.priority == priority)
        // Two messages without an id are two.
        #expect((message.apns?.collapseID == nil) == isShown)
    }

    @Test func `an app of Mattermost that loads posts itself may change the notification`() throws {
        let body = #"{"device_id":"t","is_id_loaded":true,"post_id":"p","message":"You have a message"}"#
        let message = try MattermostPush(body: Array(body.utf8)).fcm
        let payload = JSONValue.object(try #require(message.apns?.payload))
        #expect(payload["aps"]?["mutable-content"]?.integer == 1)
        #expect(payload["is_id_loaded"]?.isTrue == true && payload["post_id"]?.text == "p")
    }

    @Test func `a message of Rocket.Chat has its payload as text`() throws {
        let body = """
            {"token":"\(Self.base64)","options":{"title":"T","text":"B","contentAvailable":1,
            "payload":{"rid":"r","messageId":"m"}}}
            """
        let push = try RocketChatPush(body: Array(body.utf8))
        #expect(push.token == Self.token)
        let payload = JSONValue.object(try #require(push.fcm.apns?.payload))
        #expect(payload["aps"]?.json == #"{"alert":{"title":"T","body":"B"},"thread-id":"r","content-available":1}"#)
        #expect(payload["ejson"]?.text == #"{"rid":"r","messageId":"m"}"#)
    }

    @Test func `a gateway's key is another one than a server key, and neither opens as the other`() throws {
        let legacy = try #require(ServerKeySealer(secrets: [[1]]))
        let gateway = try #require(ServerKeySealer(secrets: [[1]], purpose: .gateway))
        let key = gateway.seal(keyID: "id")
        #expect(gateway.open(key) == "id" && legacy.open(legacy.seal(keyID: "id")) == "id")
        #expect(legacy.open(key) == nil && gateway.open(legacy.seal(keyID: "id")) == nil)
        #expect(legacy.open(key.replacing(".", with: ":")) == nil)
        #expect(gateway.open(key + "x") == nil && gateway.open("") == nil && gateway.open("a.b.c") == nil)
        #expect(ServerKeySealer(secrets: [[2], [1]], purpose: .gateway)?.open(key) == "id")
    }
}

import PushCore
import Testing
import WebPushProtocol

/// The messages of the WebSocket, the ids in them, and the addresses of subscriptions.
@Suite struct AutopushMessageTests {
    private static let uuid = "0e8f1b2a-1c3d-4e5f-8a9b-0c1d2e3f4a5b"
    private static let client = "00000000000000070000000000000009"

    private func read(_ text: String) throws -> AutopushRequest { try AutopushRequest(Array(text.utf8)) }

    @Test func `each message of a client is read`() throws {
        let known = PushClientID(device: try #require(DeviceID(7)), secret: 9)
        let messages: [(String, AutopushRequest)] = [
            (#"{"messageType":"hello","use_webpush":true}"#, .hello(nil)), (#"{"messageType":"hello"}"#, .hello(nil)),
            (#"{"messageType":"hello","use_webpush":true,"uaid":"\#(Self.client)","broadcasts":{}}"#, .hello(known)),
            (
                #"{"messageType":"hello","use_webpush":true,"uaid":"\#(Self.uuid)"}"#,
                .hello(PushClientID(text: Self.uuid))
            ),
            (#"{"messageType":"hello","use_webpush":true,"uaid":"other"}"#, .hello(nil)),
            (#"{"messageType":"register","channelID":"c"}"#, .register(channel: "c", key: nil)),
            (#"{"messageType":"register","channelID":"c","key":null}"#, .register(channel: "c", key: nil)),
            (#"{"messageType":"register","channelID":"c","key":"k"}"#, .register(channel: "c", key: "k")),
            (#"{"messageType":"unregister","channelID":"c","code":200}"#, .unregister(channel: "c")),
            (
                #"{"messageType":"ack","updates":[{"channelID":"c","version":"5","code":101},{"version":"6"}]}"#,
                .acknowledge([.init(version: "5", code: 101), .init(version: "6", code: 100)])
            ),
            (#"{"messageType":"nack","version":"5","code":302}"#, .reject(version: "5", code: 302)),
            (#"{"messageType":"broadcast_subscribe","broadcasts":{"a":"b"}}"#, .subscribeBroadcasts),
            ("{}", .ping), (#"{"messageType":"ping"}"#, .ping),
        ]
        for (text, request) in messages { #expect(try read(text) == request, "\(text)") }
    }

    @Test(arguments: [
        ("", "a message must be a JSON object"), ("[]", "a message must be a JSON object"),
        (#"{"channelID":"c"}"#, "messageType is missing"), (#"{"messageType":"hallo"}"#, "messageType is none of"),
        (#"{"messageType":7}"#, "messageType is none of"),
        (#"{"messageType":"hello","use_webpush":false}"#, "use_webpush must be true"),
        (#"{"messageType":"hello","use_webpush":"true"}"#, "use_webpush must be true"),
        (#"{"messageType":"hello","use_webpush":null}"#, "use_webpush must be true"),
        (#"{"messageType":"register"}"#, "channelID must be a string"),
        (#"{"messageType":"register","channelID":"c","key":5}"#, "key must be a string"),
        (#"{"messageType":"unregister","channelID":5}"#, "channelID must be a string"),
        (#"{"messageType":"ack"}"#, "updates must be a list of at most 1000"),
        (#"{"messageType":"ack","updates":[{}]}"#, "version must be a string"),
        (#"{"messageType":"nack"}"#, "version must be a string"),
    ])
    func `a message that is not as it must be has a fault that names the member`(text: String, fault: String) throws {
        let thrown = #expect(throws: AutopushRequest.Fault.self) { _ = try read(text) }
        #expect(thrown?.reason.contains(fault) == true, "\(thrown?.reason ?? "")")
    }

    @Test func `each message of the server has its text`() throws {
        let channel = try #require(PushChannelID(text: Self.uuid))
        let client = PushClientID(device: try #require(DeviceID(7)), secret: 9)
        let replies: [(AutopushReply, String)] = [
            (
                .hello(client),
                #"{"messageType":"hello","uaid":"\#(Self.client)","status":200,"use_webpush":true,"broadcasts":{}}"#
            ),
            (
                .helloRefused(status: 401, reason: "no"),
                #"{"messageType":"hello","uaid":"","status":401,"error":"no"}"#
            ),
            (
                .registered(channel: channel, address: "https://a/b"),
                #"{"messageType":"register","channelID":"\#(Self.uuid)","status":200,"pushEndpoint":"https://a/b"}"#
            ),
            (
                .registerRefused(channel: "c", status: 400, reason: "no"),
                #"{"messageType":"register","channelID":"c","status":400,"error":"no"}"#
            ),
            (.unregistered(channel: "c", status: 200), #"{"messageType":"unregister","channelID":"c","status":200}"#),
            (.broadcast, #"{"messageType":"broadcast","broadcasts":{}}"#), (.ping, "{}"),
            (
                .notification(
                    ChannelMessage(channel: channel, envelope: WebPushEnvelope(contentEncoding: "", body: [])),
                    version: "12", ttl: 0),
                #"{"messageType":"notification","channelID":"\#(Self.uuid)","version":"12","ttl":0}"#
            ),
            (
                .notification(
                    ChannelMessage(
                        channel: channel,
                        envelope: WebPushEnvelope(
                            contentEncoding: "aesgcm", encryption: "salt=s", cryptoKey: "dh=k", body: [1, 2, 255])),
                    version: "12", ttl: 60),
                #"{"messageType":"notification","channelID":"\#(Self.uuid)","version":"12","ttl":60,"data":"AQL_","#
                    + #""headers":{"encoding":"aesgcm","encryption":"salt=s","crypto_key":"dh=k"}}"#
            ),
        ]
        for (reply, text) in replies { #expect(reply.text == text) }
    }

    @Test(arguments: [
        "", "0e8f1b2a1c3d4e5f8a9b0c1d2e3f4a5b", "0E8F1B2A-1C3D-4E5F-8A9B-0C1D2E3F4A5B",
        "0e8f1b2a-1c3d-4e5f-8a9b-0c1d2e3f4a5", "0e8f1b2ag1c3d-4e5f-8a9b-0c1d2e3f4a5b",
        "0e8f1b2a-1c3d-4e5f-8a9b-0c1d2e3f4a5g",
    ])
    func `an id in another form is none`(text: String) {
        #expect(PushChannelID(text: text) == nil)
    }

    @Test func `ids are read as they were written`() throws {
        #expect(PushChannelID(text: Self.uuid)?.description == Self.uuid)
        #expect(PushClientID(text: Self.client)?.text == Self.client)
        for other in ["", "0", String(repeating: "0", count: 32), String(repeating: "g", count: 32)] {
            #expect(PushClientID(text: other) == nil, "\(other)")
        }
    }

    @Test func `a stored message is read as it was written, and nothing else`() throws {
        let message = ChannelMessage(
            channel: try #require(PushChannelID(text: Self.uuid)),
            envelope: WebPushEnvelope(contentEncoding: "aes128gcm", body: [1, 2, 3]))
        let bytes = message.bytes
        #expect(ChannelMessage(bytes: bytes) == message)
        for length in 0..<bytes.count { #expect(ChannelMessage(bytes: Array(bytes[..<length])) == nil) }
        #expect(ChannelMessage(bytes: bytes + [0]) == nil)
        #expect(ChannelMessage(bytes: message.envelope.bytes) == nil)
        #expect(WebPushEnvelope(bytes: bytes) == nil)
    }

    @Test func `an address opens to its subscription, with an earlier key too, and no other text does`() throws {
        let (old, new) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let device = try #require(DeviceID(7))
        let subjects = try (0..<2).map {
            SubscriptionSealer.Subject(
                device: device, channel: try #require(PushChannelID(bytes: [UInt8](repeating: $0, count: 16))))
        }
        let sealer = SubscriptionSealer(keys: [old])
        let addresses = try subjects.map(sealer.seal)
        #expect(try sealer.seal(subjects[0]) == addresses[0], "it is always the same")
        #expect(addresses[0].utf8.count == 54)
        #expect(zip(addresses[0], addresses[1]).count { $0 == $1 } < 12, "two of one client have nothing in common")
        #expect(addresses.map(sealer.open) == subjects)
        #expect(addresses.map(SubscriptionSealer(keys: [new, old]).open) == subjects)
        #expect(addresses.map(SubscriptionSealer(keys: [new]).open) == [nil, nil])
        for index in addresses[0].indices {
            var changed = addresses[0]
            changed.replaceSubrange(index...index, with: changed[index] == "A" ? "B" : "A")
            #expect(sealer.open(changed) == nil)
        }
        for other in ["", "A", String(repeating: "a", count: 64)] { #expect(sealer.open(other) == nil) }
        #expect(throws: (any Error).self) { _ = try SubscriptionSealer(keys: []).seal(subjects[0]) }
    }

    @Test func `the address of a message opens for that message alone`() throws {
        let sealer = SubscriptionSealer(keys: [[UInt8](repeating: 1, count: 32)])
        let subject = SubscriptionSealer.Subject(
            device: try #require(DeviceID(7)), channel: try #require(PushChannelID(text: Self.uuid)))
        let (first, second) = (NotificationID(rawValue: 5), NotificationID(rawValue: 6))
        let address = try sealer.seal(subject, message: first)
        #expect(sealer.open(address, message: first) == subject)
        #expect(sealer.open(address, message: second) == nil)
        #expect(sealer.open(address) == nil, "it is no address of a subscription")
        #expect(sealer.open(try sealer.seal(subject), message: first) == nil)
        #expect(try sealer.seal(subject, message: second) != address)
    }
}

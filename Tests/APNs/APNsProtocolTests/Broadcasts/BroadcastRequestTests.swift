import APNsProtocol
import PushCore
import Testing

@Suite struct BroadcastRequestTests {
    private static let channelText = "AAECAwQFBgcICQoLDA0ODw=="
    private static let uuid = "C0FFEE00-aaaa-BBBB-cccc-0123456789aB"
    private static let other = "00000000-0000-4000-8000-000000000001"
    private static let payload = #"{"aps":{"event":"update","timestamp":1,"content-state":{}}}"#

    private func request(
        _ method: String, _ path: BroadcastPath, _ fields: [(String, String)] = [], body: String = ""
    ) throws(APNsRejection) -> BroadcastRequest {
        var block = HeaderBlock()
        block.append(":method", method)
        for (name, value) in fields { block.append(name, value) }
        return try BroadcastRequest(path, method: method, headers: block, body: Array(body.utf8))
    }

    private func create(_ body: String) throws(APNsRejection) -> BroadcastRequest {
        try request("POST", .channels("a"), body: body)
    }

    /// Publishes with the fields of a right request, some of them changed; `nil` takes one away.
    private func publish(
        _ changes: [(String, String?)] = [], body: String = Self.payload
    ) throws(APNsRejection) -> BroadcastFields {
        var fields = [("apns-channel-id", Self.channelText), ("apns-push-type", "liveactivity")]
        for (name, value) in changes {
            fields.removeAll { $0.0 == name }
            if let value { fields.append((name, value)) }
        }
        guard case .publish(let id, let sent) = try request("POST", .broadcasts("a"), fields, body: body) else {
            throw APNsRejection(.internalServerError, note: "it is no message to a channel")
        }
        #expect(id.description == Self.channelText)
        return sent
    }

    // MARK: Channels

    @Test(arguments: [
        (#"{"message-storage-policy":0,"push-type":"LiveActivity"}"#, ChannelStoragePolicy.noMessageStored),
        (#"{"push-type":"LiveActivity","message-storage-policy":1}"#, .mostRecentMessageStored),
        (#" { "push-type" : "liveactivity" , "message-storage-policy" : 1 } "#, .mostRecentMessageStored),
    ])
    func `a channel is created with its policy`(body: String, policy: ChannelStoragePolicy) throws {
        #expect(try create(body) == .create(policy))
    }

    @Test(arguments: [
        ("", APNsReason.payloadEmpty, "the channel's configuration is absent"),
        ("{", .badRequestPayload, "the configuration is not JSON"),
        ("\u{FEFF}{}", .badRequestPayload, "the configuration is not JSON"),
        ("[]", .badRequestPayload, "the configuration is not a JSON object"),
        ("1", .badRequestPayload, "the configuration is not a JSON object"),
        ("{}", .missingPushType, "the configuration has no push-type"),
        (#"{"message-storage-policy":1}"#, .missingPushType, "the configuration has no push-type"),
        (
            #"{"message-storage-policy":1,"push-type":"alert"}"#, .invalidPushType,
            "the push-type of a channel is LiveActivity"
        ),
        (
            #"{"message-storage-policy":1,"push-type":1}"#, .invalidPushType,
            "the push-type of a channel is LiveActivity"
        ),
        (
            #"{"push-type":"LiveActivity"}"#, .missingChannelQueueSize,
            "the configuration has no message-storage-policy"
        ),
        (
            #"{"message-storage-policy":2,"push-type":"LiveActivity"}"#, .badRequestParams,
            "message-storage-policy is 0 or 1"
        ),
        (
            #"{"message-storage-policy":-1,"push-type":"LiveActivity"}"#, .badRequestParams,
            "message-storage-policy is 0 or 1"
        ),
        (
            #"{"message-storage-policy":"1","push-type":"LiveActivity"}"#, .badRequestParams,
            "message-storage-policy is 0 or 1"
        ),
        (
            #"{"message-storage-policy":null,"push-type":"LiveActivity"}"#, .badRequestParams,
            "message-storage-policy is 0 or 1"
        ),
        (
            #"{"message-storage-policy":1,"push-type":"LiveActivity","name":"x"}"#, .badRequestParams,
            "the configuration has no attribute name"
        ),
        (#"{"Push-Type":"LiveActivity"}"#, .badRequestParams, "the configuration has no attribute Push-Type"),
    ])
    func `a configuration with a fault is refused with its reason`(body: String, reason: APNsReason, note: String) {
        let error = #expect(throws: APNsRejection.self) { try create(body) }
        #expect(error?.reason == reason)
        #expect(error?.note?.hasPrefix(note) == true, "\(error?.note ?? "-")")
    }

    @Test func `a channel is read and deleted by its id`() throws {
        let fields = [("apns-channel-id", Self.channelText)]
        let id = try #require(ChannelID(text: Self.channelText))
        #expect(try request("GET", .channels("a"), fields) == .read(id))
        #expect(try request("DELETE", .channels("a"), fields) == .delete(id))
    }

    @Test(
        arguments: ["GET", "DELETE", "POST"],
        [
            (nil, .missingChannelId), ("", .missingChannelId), ("AAEC", .badChannelId),
            ("AAECAwQFBgcICQoLDA0ODw", .badChannelId), ("not a channel of base64!", .badChannelId),
        ] as [(String?, APNsReason)])
    func `a channel's id is asked for`(method: String, id: (String?, APNsReason)) {
        let path: BroadcastPath = method == "POST" ? .broadcasts("a") : .channels("a")
        let fields = [("apns-push-type", "liveactivity")] + (id.0.map { [("apns-channel-id", $0)] } ?? [])
        let error = #expect(throws: APNsRejection.self) {
            try request(method, path, fields, body: method == "POST" ? Self.payload : "")
        }
        #expect(error?.reason == id.1)
        #expect(error?.note?.hasPrefix("apns-channel-id is ") == true)
    }

    @Test func `a list needs nothing`() throws {
        #expect(try request("GET", .allChannels("a")) == .list)
        #expect(try request("GET", .allChannels("a"), [("apns-channel-id", "x")]) == .list)
    }

    // MARK: Header fields of all requests

    @Test(arguments: [
        "apns-channel-id", "apns-request-id", "apns-push-type", "apns-expiration", "apns-priority",
    ])
    func `a field that appears twice is refused`(name: String) {
        let error = #expect(throws: APNsRejection.self) {
            try request("GET", .allChannels("a"), [(name, "1"), ("x-other", "1"), (name, "1")])
        }
        #expect(error?.reason == .duplicateHeaders)
        #expect(error?.note == "\(name) appears twice")
    }

    @Test func `other fields may appear twice`() throws {
        #expect(try request("GET", .allChannels("a"), [("x-other", "1"), ("x-other", "1")]) == .list)
    }

    @Test(arguments: ["", "1", "c0ffee00", "C0FFEE00-aaaa-BBBB-cccc-0123456789ag", "C0FFEE00aaaaBBBBcccc0123456789aB"])
    func `an id that is no UUID is refused`(id: String) {
        for name in ["apns-request-id", "apns-id"] {
            let error = #expect(throws: APNsRejection.self) { try request("GET", .allChannels("a"), [(name, id)]) }
            #expect(error?.reason == .badMessageId)
        }
    }

    @Test func `a message has the id of its request, else its apns-id`() throws {
        #expect(try publish().requestID == nil)
        #expect(try publish([("apns-request-id", Self.uuid)]).requestID == Self.uuid)
        #expect(try publish([("apns-id", Self.uuid)]).requestID == Self.uuid)
        #expect(
            try publish([("apns-id", Self.other), ("apns-request-id", Self.uuid)]).requestID == Self.uuid,
            "whichever comes first")
    }

    // MARK: Messages

    @Test func `absent fields have Apple's defaults`() throws {
        let fields = try publish()
        #expect(fields.expiry == .policyDefault && fields.priority == .immediate)
        #expect(fields.payload == Array(Self.payload.utf8))
    }

    @Test(arguments: [("10", Priority.immediate), ("5", .considerate)])
    func `a priority is read`(text: String, priority: Priority) throws {
        #expect(try publish([("apns-priority", text)]).priority == priority)
    }

    @Test(arguments: [
        ("0", Expiry.once), ("1780000000", .until(Timestamp(seconds: 1_780_000_000))),
    ])
    func `an expiration is read`(text: String, expiry: Expiry) throws {
        #expect(try publish([("apns-expiration", text)]).expiry == expiry)
    }

    @Test(arguments: ["liveactivity", "LiveActivity", "LIVEACTIVITY"])
    func `the push type may have any case`(type: String) throws {
        #expect(try publish([("apns-push-type", type)]).requestID == nil)
    }

    @Test(
        arguments: [
            ("apns-push-type", nil, .missingPushType, "apns-push-type is absent"),
            ("apns-push-type", "alert", .invalidPushType, "the apns-push-type of a broadcast is liveactivity"),
            ("apns-push-type", "", .invalidPushType, "the apns-push-type of a broadcast is liveactivity"),
            ("apns-expiration", "soon", .badExpirationDate, "apns-expiration 'soon'"),
            ("apns-expiration", "-1", .badExpirationDate, "apns-expiration '-1'"),
            ("apns-expiration", "", .badExpirationDate, "apns-expiration ''"),
            ("apns-priority", "7", .badPriority, "apns-priority '7'"),
            ("apns-priority", "high", .badPriority, "apns-priority 'high'"),
        ] as [(String, String?, APNsReason, String)])
    func `a field with a fault is refused with its reason`(
        name: String, value: String?, reason: APNsReason, note: String
    ) {
        let error = #expect(throws: APNsRejection.self) { try publish([(name, value)]) }
        #expect(error?.reason == reason)
        #expect(error?.note?.hasPrefix(note) == true, "\(error?.note ?? "-")")
    }

    @Test(arguments: [
        ("", APNsReason.payloadEmpty), ("{", .badRequestPayload), ("[]", .badRequestPayload),
        ("{}{}", .badRequestPayload), (#"{"a":1e400}"#, .badRequestPayload),
    ])
    func `a payload that is no object is refused`(body: String, reason: APNsReason) {
        let error = #expect(throws: APNsRejection.self) { try publish(body: body) }
        #expect(error?.reason == reason)
    }

    @Test(arguments: [(5120, true), (5121, false)])
    func `a payload has at most 5120 bytes`(count: Int, isTaken: Bool) throws {
        let body = #"{"a":""# + String(repeating: "x", count: count - 8) + #""}"#
        #expect(body.utf8.count == count)
        guard !isTaken else {
            #expect(try publish(body: body).payload.count == count)
            return
        }
        let error = #expect(throws: APNsRejection.self) { try publish(body: body) }
        #expect(error?.reason == .payloadTooLarge)
        #expect(error?.note == "the payload has 5121 bytes, at most 5120 are allowed")
    }

    @Test func `of two faults the header's is answered`() {
        let error = #expect(throws: APNsRejection.self) { try publish([("apns-priority", "7")], body: "") }
        #expect(error?.reason == .badPriority)
        let earlier = #expect(throws: APNsRejection.self) {
            try publish([("apns-channel-id", "x"), ("apns-push-type", nil), ("apns-priority", "7")])
        }
        #expect(earlier?.reason == .badChannelId)
    }
}

import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing

@Suite struct APNsRequestHeadTests {
    private func head(_ fields: [(String, String)]) -> APNsRequestHead {
        var block = HeaderBlock()
        for (name, value) in fields { block.append(name, value) }
        return APNsRequestHead(block)
    }

    @Test func `absent fields have Apple's defaults`() throws {
        let fields = try head([(":method", "POST")]).fields()
        #expect(fields.apnsID == nil && fields.expiry == .policyDefault && fields.priority == .immediate)
        #expect(fields.collapseID == nil && fields.pushType == nil)
    }

    @Test func `every field is read as sent`() throws {
        let fields = try head([
            ("apns-id", "C0FFEE00-aaaa-BBBB-cccc-0123456789aB"), ("apns-expiration", "1780000000"),
            ("apns-priority", "5"), ("apns-collapse-id", "news of the day"), ("apns-push-type", "alert"),
        ]).fields()
        #expect(fields.apnsID == "C0FFEE00-aaaa-BBBB-cccc-0123456789aB")
        #expect(fields.expiry == .until(Timestamp(seconds: 1_780_000_000)))
        #expect(fields.priority == .considerate)
        #expect(fields.collapseID == "news of the day")
        #expect(fields.pushType == .alert)
    }

    @Test(arguments: [
        ("apns-id", "c0ffee00", APNsReason.badMessageId), ("apns-id", "", .badMessageId),
        ("apns-id", "c0ffee00-aaaa-bbbb-cccc-0123456789ag", .badMessageId),
        ("apns-expiration", "tomorrow", .badExpirationDate), ("apns-expiration", "-1", .badExpirationDate),
        ("apns-expiration", "", .badExpirationDate), ("apns-expiration", "99999999999999999999", .badExpirationDate),
        ("apns-expiration", "1.5", .badExpirationDate), ("apns-priority", "7", .badPriority),
        ("apns-priority", "high", .badPriority), ("apns-priority", "266", .badPriority),
        ("apns-collapse-id", String(repeating: "x", count: 65), .badCollapseId),
        ("apns-collapse-id", String(repeating: "é", count: 33), .badCollapseId),
        ("apns-push-type", "Alert", .invalidPushType), ("apns-push-type", "", .invalidPushType),
    ])
    func `a malformed field is refused with its reason and a note`(name: String, value: String, reason: APNsReason) {
        let error = #expect(throws: APNsRejection.self) { try head([(name, value)]).fields() }
        #expect(error?.reason == reason)
        #expect(error?.note?.contains(name) == true)
    }

    @Test(arguments: [("9223372036854775807", Expiry.until(.distantFuture)), ("0", .once), ("00", .once)])
    func `an expiration at the edge is taken`(text: String, expiry: Expiry) throws {
        #expect(try head([("apns-expiration", text)]).fields().expiry == expiry)
    }

    @Test func `a collapse id of exactly 64 bytes is taken`() throws {
        let id = String(repeating: "é", count: 32)
        #expect(try head([("apns-collapse-id", id)]).fields().collapseID == id)
    }

    @Test(arguments: [
        "apns-id", "apns-topic", "apns-priority", "apns-push-type", "apns-expiration", "apns-collapse-id",
        "authorization",
    ])
    func `a repeated field is refused`(name: String) {
        #expect(head([(name, "a"), ("x", "y"), (name, "a")]).duplicateRefusal?.reason == .duplicateHeaders)
        #expect(head([(name, "a"), ("x", "y"), ("x", "y")]).duplicateRefusal == nil)
    }

    @Test(arguments: [
        ("/3/device/abc", true), ("/3/device/", false), ("/3/device", false), ("/3/devices/abc", nil),
        ("/3/device/a/b", nil),
        ("/3/%64evice/abc", true), ("/%33/device/%61bc", true), ("/3/%64evice/", false), ("/3%2Fdevice/abc", nil),
        ("/3/device/a%2Fb", true), ("/3/%44evice/abc", nil), ("/3/device/a/%62", nil),
        ("/2/device/abc", nil), ("", nil), ("/", nil), ("*", nil), ("/4/broadcasts/apps/x", nil),
    ])
    func `paths are told apart`(path: String, hasToken: Bool?) {
        switch head([(":path", path)]).path {
        case .device: #expect(hasToken == true)
        case .deviceWithoutToken: #expect(hasToken == false)
        case .other: #expect(hasToken == nil)
        }
    }

    @Test func `a token may be percent-encoded`() {
        #expect(head([(":path", "/3/device/%61b%43d")]).path == .device(Array("abCd".utf8)[...]))
    }

    @Test(arguments: [
        ("not a uuid", true), ("x", true), ("C0FFEE00-aaaa-BBBB-cccc-0123456789aB", true), ("ñandú", true),
        (String(repeating: "x", count: 64), true), (String(repeating: "x", count: 65), false), ("", false),
        (" x", false), ("x\t", false), ("a\nb", false), ("a\u{7F}b", false),
    ])
    func `an id is repeated as it was sent where an answer may have it`(id: String, isRepeated: Bool) {
        let head = head([("apns-id", id)])
        #expect(head.echoedID.map { String(decoding: $0, as: UTF8.self) } == (isRepeated ? id : nil))
    }

    @Test(arguments: [
        ("", APNsReason.badTopic), ("com.example todo", .badTopic), (String(repeating: "a", count: 256), .badTopic),
        ("com.éxample", .badTopic),
    ])
    func `a malformed topic is refused`(topic: String, reason: APNsReason) {
        #expect(throws: APNsRejection.self) { try head([("apns-topic", topic)]).topic() }
    }

    @Test func `a missing topic is its own reason`() {
        let error = #expect(throws: APNsRejection.self) { try head([]).topic() }
        #expect(error?.reason == .missingTopic)
    }
}

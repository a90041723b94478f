import HubProtocol
import Networking
import PushCore
import Testing

@testable import HubServer

private let askedAt = Timestamp(seconds: 1_800_000_000)

private func answer(_ status: Int, _ body: String, retryAfter: String? = nil) -> OutboundResponse {
    OutboundResponse(
        status: status, headers: retryAfter.map { ["retry-after": $0] } ?? [:], body: Array(body.utf8))
}

private func appleAnswer(_ status: Int, _ body: String, retryAfter: String? = nil) -> HTTP2Response {
    var headers = HeaderBlock()
    headers.append(":status", String(status))
    if let retryAfter { headers.append("retry-after", retryAfter) }
    return HTTP2Response(status: status, headers: headers, body: Array(body.utf8))
}

@Test(arguments: [
    (200, "", SendOutcome.success, Int64?.none),
    (400, #"{"reason":"BadDeviceToken"}"#, .badChannel, nil),
    (400, #"{"reason":"DeviceTokenNotForTopic"}"#, .wrongChannel, nil),
    (403, #"{"reason":"InvalidProviderToken"}"#, .invalidCredentials, nil),
    (400, #"{"reason":"BadPriority"}"#, .invalidNotificationFormat, nil),
    (413, #"{"reason":"PayloadTooLarge"}"#, .invalidNotificationSize, nil),
    (429, #"{"reason":"TooManyRequests"}"#, .unavailable, 7000),
    (503, #"{"reason":"Shutdown"}"#, .unavailable, 7000),
    (502, "<html>", .unavailable, 7000),
    (418, #"{"reason":"Teapot"}"#, .unknownError, nil),
])
func `what Apple says is what became of it`(
    status: Int, body: String, outcome: SendOutcome, retryAfter: Int64?
) {
    let verdict = AppleVerdict.read(appleAnswer(status, body, retryAfter: "7"), askedAt: askedAt)
    #expect(verdict.outcome == outcome)
    #expect(verdict.retryAfter == retryAfter)
}

@Test func `Apple's time of a death counts, and else that of the question`() {
    let dated = AppleVerdict.read(
        appleAnswer(410, #"{"reason":"Unregistered","timestamp":1700000000123}"#), askedAt: askedAt)
    #expect(dated.outcome == .expiredChannel)
    #expect(dated.diedAt == Timestamp(rawValue: 1_700_000_000_123))
    #expect(AppleVerdict.read(appleAnswer(410, #"{"reason":"ExpiredToken"}"#), askedAt: askedAt).diedAt == askedAt)
}

private func fcm(_ code: String?, field: String? = nil) -> String {
    var details = code.map { [#"{"@type":"x","errorCode":"\#($0)"}"#] } ?? []
    if let field { details.append(#"{"fieldViolations":[{"field":"\#(field)"}]}"#) }
    return #"{"error":{"code":1,"status":"S","details":[\#(details.joined(separator: ","))]}}"#
}

@Test(arguments: [
    (200, "{}", SendOutcome.success, Int64?.none),
    (404, fcm("UNREGISTERED"), .expiredChannel, nil),
    (404, fcm(nil), .invalidCredentials, nil),
    (403, fcm("SENDER_ID_MISMATCH"), .wrongChannel, nil),
    (400, fcm("INVALID_ARGUMENT", field: "message.token"), .badChannel, nil),
    (400, fcm("INVALID_ARGUMENT", field: "message.android.ttl"), .invalidNotificationFormat, nil),
    (401, fcm("THIRD_PARTY_AUTH_ERROR"), .invalidCredentials, nil),
    (429, fcm("QUOTA_EXCEEDED"), .unavailable, 60_000),
    (503, fcm("UNAVAILABLE"), .unavailable, 0),
])
func `what FCM says is what became of it`(status: Int, body: String, outcome: SendOutcome, retryAfter: Int64?) {
    let verdict = FCMVerdict.read(answer(status, body), askedAt: askedAt)
    #expect(verdict.outcome == outcome)
    #expect(verdict.retryAfter == retryAfter)
}

@Test(arguments: [
    (201, SendOutcome.success, Int64?.none), (410, .expiredChannel, nil), (404, .expiredChannel, nil),
    (403, .invalidCredentials, nil), (413, .invalidNotificationSize, nil), (429, .unavailable, 3000),
    (500, .unavailable, 3000), (301, .unknownError, nil),
])
func `what a Web Push service says is what became of it`(status: Int, outcome: SendOutcome, retryAfter: Int64?) {
    let verdict = WebPushVerdict.read(answer(status, "", retryAfter: "3"), askedAt: askedAt)
    #expect(verdict.outcome == outcome)
    #expect(verdict.retryAfter == retryAfter)
}

@Test(arguments: [
    ("https://Push.Example/a/b?c", "https://push.example"), ("https://push.example:443/a", "https://push.example"),
    ("https://push.example:8443/a", "https://push.example:8443"), ("http://127.0.0.1:80/x", "http://127.0.0.1"),
    ("https://[::1]:99/x", "https://[::1]:99"),
])
func `the audience of VAPID is the origin`(endpoint: String, origin: String) {
    #expect(WebPushSender.origin(endpoint) == origin)
}

@Test func `an installation's environment chooses among Apple's credentials`() {
    func credential(_ environment: PushEnvironment) -> PushCredential {
        PushCredential(
            hub: 1, kind: .apns, environment: environment, address: "", name: environment.rawValue, owner: "",
            secret: "",
            createdAt: askedAt)
    }
    let both = [credential(.sandbox), credential(.production)]
    #expect(AppleSender.credential(for: .sandbox, of: both)?.environment == .sandbox)
    #expect(AppleSender.credential(for: nil, of: both)?.environment == .production)
    #expect(AppleSender.credential(for: nil, of: [credential(.sandbox)])?.environment == .sandbox)
    #expect(AppleSender.credential(for: .production, of: [credential(.sandbox)]) == nil)
}

@Test func `a body of FCM's old interface becomes a message of HTTP v1`() throws {
    let old =
        #"{"to":"x","notification":{"title":"T","tag":"t"},"data":{"n":1,"s":"a"},"priority":"high","time_to_live":5}"#
    let made = try FCMBody.read(Array(old.utf8), token: "tok", options: PushOptions([:], now: askedAt), now: askedAt)
    #expect(
        String(decoding: made, as: UTF8.self)
            == #"{"message":{"notification":{"title":"T"},"data":{"n":"1","s":"a"},"android":{"priority":"HIGH","ttl":"5s"},"token":"tok"}}"#
    )
}

@Test func `a message of HTTP v1 goes to the installation's token alone, as its send says`() throws {
    let body = #"{"message":{"topic":"all","data":{"a":"b"}}}"#
    let headers = ["servicebusnotification-timetolive": "60", "apns-priority": "5", "apns-collapse-id": "c"]
    let made = try FCMBody.read(
        Array(body.utf8), token: "tok", options: PushOptions(headers, now: askedAt), now: askedAt)
    #expect(
        String(decoding: made, as: UTF8.self)
            == #"{"message":{"data":{"a":"b"},"token":"tok","android":{"priority":"NORMAL","collapse_key":"c","ttl":"60s"}}}"#
    )
}

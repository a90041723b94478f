import PushCore
import Testing

@testable import FCMProtocol

/// Requests and keys of FCM's legacy HTTP API.
@Suite struct LegacyFCMRequestTests {
    private func read(_ json: String) throws -> LegacyFCMRequest {
        try LegacyFCMRequest(body: Array(json.utf8)) { $0.hasPrefix("group") }
    }

    @Test(
        arguments: [
            (#"{"to":"abc"}"#, .token("abc")), (#"{"to":"group1"}"#, .group("group1")),
            (#"{"to":"/topics/news"}"#, .audience(.topic("news"))),
            (#"{"condition":"'a' in topics"}"#, .audience(.condition("'a' in topics"))),
            (#"{"registration_ids":["a","b"]}"#, .tokens(["a", "b"])),
        ] as [(String, LegacyFCMRequest.Targets)])
    func `a target is one of four kinds`(json: String, targets: LegacyFCMRequest.Targets) throws {
        #expect(try read(json).targets == targets)
    }

    @Test func `a message becomes the same as one of the present interface`() throws {
        let request = try read(
            """
            {"to":"t","dry_run":true,"priority":"high","collapse_key":"k","time_to_live":60,"content_available":true,
             "mutable_content":true,"restricted_package_name":"com.example.a","unknown":1,
             "data":{"a":"b","n":5,"o":{"p":true}},
             "notification":{"title":"T","body":"B","sound":"s.wav","badge":"3","click_action":"C","tag":"g",
              "title_loc_key":"TK","title_loc_args":"[\\"x\\"]","body_loc_key":"BK","body_loc_args":["y"],
              "subtitle":"S","icon":"i","color":"#fff"}}
            """)
        #expect(request.isDryRun)
        let message = request.message(to: .token("t"))
        #expect(message.target == .token("t"))
        #expect(message.data == ["a": "b", "n": "5", "o": #"{"p":true}"#])
        #expect(message.notification == FCMNotification(title: "T", body: "B"))
        let android = try #require(message.android)
        #expect(android.isUrgent == true && android.collapseKey == "k" && android.timeToLive == 60)
        #expect(android.package == "com.example.a")
        let shown = try #require(android.notification)
        #expect(shown.sound == "s.wav" && shown.count == 3 && shown.clickAction == "C" && shown.tag == "g")
        #expect(shown.titleKey == "TK" && shown.titleArguments == ["x"])
        #expect(shown.bodyKey == "BK" && shown.bodyArguments == ["y"])
        let aps = try #require(message.apns?.payload?.first)
        #expect(
            aps.value.json
                == #"{"content-available":1,"mutable-content":1,"alert":{"subtitle":"S"}}"#)
    }

    @Test(
        arguments: [
            ("[]", nil), (#"{"data":{}}"#, "to"), (#"{"to":"a","registration_ids":["b"]}"#, "to"),
            (#"{"registration_ids":[1]}"#, "registration_ids[0]"), (#"{"to":"a","time_to_live":-1}"#, "time_to_live"),
            (#"{"to":"a","priority":"urgent"}"#, "priority"), (#"{"to":"a","data":{"from":"x"}}"#, "data[from]"),
            (#"{"to":"a","notification":{"body_loc_args":5}}"#, "notification.body_loc_args"),
        ] as [(String, String?)])
    func `a fault names its field`(json: String, field: String?) {
        let error = #expect(throws: FCMRejection.self) { try read(json) }
        #expect(error?.field == field)
    }

    @Test(
        arguments: [
            (FCMRejection(.unregistered, "x"), .notRegistered), (FCMRejection(.unavailable, "x"), .unavailable),
            (FCMRejection.invalid("message.token", "x"), .invalidRegistration),
            (FCMRejection.invalid("message.topic", "x"), .invalidParameters),
            (FCMRejection(.quotaExceeded, "x"), .deviceMessageRateExceeded),
        ] as [(FCMRejection, LegacyFCMError)])
    func `a refusal has its old name`(rejection: FCMRejection, error: LegacyFCMError) {
        #expect(LegacyFCMError(rejection, isAudience: false) == error)
    }

    @Test func `a server key names its account, after the secret was replaced too, and no other's key is read`() throws
    {
        let (old, new) = ([UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32))
        let key = try #require(ServerKeySealer(secrets: [old])).seal(keyID: "0123abc")
        #expect(ServerKeySealer(secrets: [new, old])?.open(key) == "0123abc")
        #expect(ServerKeySealer(secrets: [new])?.open(key) == nil)
        #expect(ServerKeySealer(secrets: [old])?.open(String(key.dropLast(2)) + "AA") == nil)
        #expect(ServerKeySealer(secrets: [old])?.open("a:b:c") == nil && ServerKeySealer(secrets: []) == nil)
    }
}

import PushCore
import Testing

@testable import FCMProtocol

/// A row of the table of refusals: what a message says, and which field is named.
struct RefusedMessage: CustomTestStringConvertible, Sendable {
    var message: String
    var field: String
    var says: String

    init(_ message: String, _ field: String, _ says: String) {
        self.message = message
        self.field = field
        self.says = says
    }

    var testDescription: String { message }
}

@Suite struct FCMRequestTests {
    private func read(_ message: String, rest: String = "") throws(FCMRejection) -> FCMRequest {
        try FCMRequest(body: Array(#"{"message":\#(message)\#(rest)}"#.utf8))
    }

    @Test(arguments: [
        #"{"token":"t","android":{"collapse_key":"k","priority":"high","ttl":"3.5s","restricted_package_name":"p"}}"#,
        #"{"token":"t","android":{"collapseKey":"k","priority":"HIGH","ttl":"3.999999999s","restrictedPackageName":"p"}}"#,
    ])
    func `names are in snake_case or in camelCase`(message: String) throws {
        let android = try #require(try read(message).message.android)
        #expect(android.collapseKey == "k")
        #expect(android.isUrgent == true)
        #expect(android.timeToLive == 3)
        #expect(android.package == "p")
    }

    @Test(arguments: [
        (#"{"token":"t","data":{"a":"b"},"apns":{"payload":{"aps":{"alert":"x"},"g":1e400}}}"#, 84),
        (#"{"token":"t","android":{"notification":{"title":"x","notification_count":-1e400}}}"#, 84),
    ])
    func `a number that no device reads is refused with its place`(message: String, offset: Int) {
        let refusal = #expect(throws: FCMRejection.self) { try read(message) }
        #expect(refusal.map { "\($0)" }?.contains("byte \(offset): number out of range") == true)
    }

    @Test func `every field of the API is read`() throws {
        let everything = #"""
            {"token":"t","data":{"a":"b"},"notification":{"title":"T","body":"B","image":"https://i"},
             "fcm_options":{"analytics_label":"l"},
             "android":{"data":{"c":"d"},"direct_boot_ok":true,"bandwidth_constrained_ok":false,
              "restricted_satellite_ok":true,"fcm_options":{"analytics_label":"l2"},
              "notification":{"title":"T","body":"B","icon":"i","color":"#a0b1C2","sound":"s","tag":"g",
               "click_action":"OPEN","body_loc_key":"bk","body_loc_args":["1"],"title_loc_key":"tk",
               "title_loc_args":["2"],"channel_id":"c","ticker":"t","sticky":true,
               "event_time":"2026-01-01T00:00:00Z","local_only":true,"notification_priority":"PRIORITY_MAX",
               "default_sound":true,"default_vibrate_timings":true,"default_light_settings":true,
               "vibrate_timings":["1s"],"visibility":"SECRET","notification_count":7,
               "light_settings":{"color":{"red":1,"alpha":0.5},"light_on_duration":"1s","light_off_duration":"0.5s"},
               "image":"https://a","proxy":"DENY","bypass_proxy_notification":true}},
             "apns":{"headers":{"apns-priority":"5","apns-expiration":"0"},"payload":{"aps":{"badge":1},"x":{"y":[1]}},
              "fcm_options":{"analytics_label":"l3","image":"https://p"}},
             "webpush":{"headers":{"TTL":"5"},"data":{"e":"f"},"notification":{"title":"W","vibrate":[1]},
              "fcm_options":{"link":"https://w","analytics_label":"l4"}}}
            """#
        let request = try read(everything, rest: #","validate_only":true"#)
        #expect(request.isDryRun)
        #expect(request.message.target == .token("t"))
        #expect(request.message.label == "l")
        #expect(request.message.android?.notification?.count == 7)
        #expect(request.message.apns?.expiration == 0)
        #expect(request.message.webpush?.timeToLive == 5 && request.message.webpush?.link == "https://w")
        #expect(request.message.apns?.priority == 5)
    }

    @Test(arguments: [
        (#"{"token":"t"}"#, FCMTarget.token("t")), (#"{"topic":"news"}"#, .topic("news")),
        (#"{"condition":"'a' in topics"}"#, .condition("'a' in topics")),
        (#"{"fid":"f"}"#, .fid("f")), (#"{"token":"t","topic":""}"#, .token("t")),
    ])
    func `a message has one recipient`(message: String, target: FCMTarget) throws {
        #expect(try read(message).message.target == target)
    }

    @Test(arguments: ["gcmx", "collapse_key", "Google.x", "from_user"])
    func `a name that only begins like one of FCM's own is the provider's`(name: String) throws {
        #expect(try read(#"{"token":"t","data":{"\#(name)":"x"}}"#).message.data == [name: "x"])
    }

    @Test(arguments: ["3", "3.0", "3e0", "30e-1", #""3""#, #""3.0""#])
    func `a whole number has the forms of protobuf's JSON`(number: String) throws {
        let message = #"{"token":"t","android":{"notification":{"title":"T","notification_count":\#(number)}}}"#
        #expect(try read(message).message.android?.notification?.count == 3)
    }

    @Test(arguments: [("0", false), ("1", true), (#""HIGH""#, true), (#""normal""#, false)])
    func `a value of an enumeration is a name or a number`(priority: String, isUrgent: Bool) throws {
        let message = #"{"token":"t","android":{"priority":\#(priority),"notification":{"notification_priority":5}}}"#
        let android = try read(message).message.android
        #expect(android?.isUrgent == isUrgent && android?.notification?.interruptionLevel == "time-sensitive")
    }

    @Test func `the second form of Android's options is mapped like the first`() throws {
        let shown = #"{"title":"T","id":42,"notification_count":1,"event_time":"2026-07-08T18:00:00.000001+02:00"}"#
        let remote = #"{"mutable_content":true,"use_as_v1_data_message":false,"notification":\#(shown)}"#
        let common = #""collapse_key":"c","ttl":"5s","data":{"a":"b"},"fcm_options":{"analytics_label":"l"}"#
        let second = try read(#"{"topic":"t","android_v2":{\#(common),"remote_notification":\#(remote)}}"#).message
            .android
        let first = #"{"title":"T","notification_count":1}"#
        #expect(try read(#"{"topic":"t","android":{\#(common),"notification":\#(first)}}"#).message.android == second)
        #expect(try read(#"{"topic":"t","androidV2":{"backgroundSync":{}}}"#).message.android?.isUrgent == false)
    }

    @Test(arguments: [
        RefusedMessage("{}", "message", "the recipient is missing"),
        RefusedMessage(#"{"token":"t","topic":"x"}"#, "message", "several recipients"),
        RefusedMessage(#"{"topic":"no blanks"}"#, "message.topic", "characters"),
        RefusedMessage(#"{"topic":"/topics/news"}"#, "message.topic", "no /topics/ before it"),
        RefusedMessage(#"{"token":5}"#, "message.token", "must be a string, not a number"),
        RefusedMessage(#"{"token":"t","tokens":[]}"#, "message.tokens", "no such field"),
        RefusedMessage(#"{"token":"t","data":{"a":1}}"#, "message.data[a]", "must be a string, not a number"),
        RefusedMessage(#"{"token":"t","data":{"from":"x"}}"#, "message.data[from]", "reserved"),
        RefusedMessage(#"{"token":"t","data":{"google.x":"x"}}"#, "message.data[google.x]", "reserved"),
        RefusedMessage(#"{"token":"t","data":{"gcm.x":"x"}}"#, "message.data[gcm.x]", "reserved"),
        RefusedMessage(#"{"token":"t","data":{"aps":"x"}}"#, "message.data[aps]", "reserved"),
        RefusedMessage(#"{"token":"t","data":{"a":"x","a":"y"}}"#, "message.data[a]", "twice"),
        RefusedMessage(#"{"token":"t","notification":{"titel":"x"}}"#, "message.notification.titel", "no such field"),
        RefusedMessage(#"{"token":"t","notification":"x"}"#, "message.notification", "must be an object"),
        RefusedMessage(
            #"{"token":"t","android":{"collapse_key":"a","collapseKey":"b"}}"#, "message.android.collapse_key", "twice"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"-1s"}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"1"}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"s"}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":""}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"1.s"}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"99999999999999999999s"}}"#, "message.android.ttl", "duration"),
        RefusedMessage(#"{"token":"t","android":{"ttl":"2419201s"}}"#, "message.android.ttl", "28 days"),
        RefusedMessage(#"{"token":"t","android":{"priority":"urgent"}}"#, "message.android.priority", "NORMAL, HIGH"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"color":"red"}}}"#, "message.android.notification.color",
            "#rrggbb"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"visibility":"SOME"}}}"#,
            "message.android.notification.visibility", "PRIVATE, PUBLIC, SECRET"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"title_loc_args":["a",1]}}}"#,
            "message.android.notification.title_loc_args[1]", "must be a string"),
        RefusedMessage(
            #"{"token":"t","fcm_options":{"analytics_label":"not this"}}"#, "message.fcm_options.analytics_label",
            "1 to 50"),
        RefusedMessage(
            #"{"token":"t","apns":{"headers":{"apns-priority":"9"}}}"#, "message.apns.headers[apns-priority]",
            "1, 5 or 10"),
        RefusedMessage(
            #"{"token":"t","apns":{"headers":{"apns-expiration":"soon"}}}"#, "message.apns.headers[apns-expiration]",
            "seconds"),
        RefusedMessage(#"{"token":"t","apns":{"headers":{"x":"y"}}}"#, "message.apns.headers[x]", "no such header"),
        RefusedMessage(#"{"token":"t","apns":{"payload":{"x":1}}}"#, "message.apns.payload.aps", "is missing"),
        RefusedMessage(#"{"token":"t","apns":{"payload":{}}}"#, "message.apns.payload.aps", "is missing"),
        RefusedMessage(
            #"{"token":"t","apns":{"headers":{"apns-push-type":"background","apns-priority":"10"}}}"#,
            "message.apns.headers[apns-priority]", "must be 5"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"event_time":"soon"}}}"#,
            "message.android.notification.event_time", "an instant"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"event_time":"2026-13-01T00:00:00Z"}}}"#,
            "message.android.notification.event_time", "an instant"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"event_time":"2026-01-01 00:00:00"}}}"#,
            "message.android.notification.event_time", "an instant"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"vibrate_timings":["1s","soon"]}}}"#,
            "message.android.notification.vibrate_timings[1]", "duration"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"light_settings":{"light_on_duration":"1s","light_off_duration":"1s"}}}}"#,
            "message.android.notification.light_settings.color", "is missing"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"light_settings":{"color":{},"light_on_duration":"1s"}}}}"#,
            "message.android.notification.light_settings.light_off_duration", "is missing"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"light_settings":{"color":{"red":2},"light_on_duration":"1s","light_off_duration":"1s"}}}}"#,
            "message.android.notification.light_settings.color.red", "0 to 1"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"notification_count":3.5}}}"#,
            "message.android.notification.notification_count", "whole number"),
        RefusedMessage(
            #"{"token":"t","android":{"notification":{"notification_count":3e10}}}"#,
            "message.android.notification.notification_count", "whole number"),
        RefusedMessage(
            #"{"token":"t","android":{"priority":2}}"#, "message.android.priority", "NORMAL, HIGH, or 0 to 1"),
        RefusedMessage(#"{"token":"t","android":{},"android_v2":{}}"#, "message.android_v2", "one of the two"),
        RefusedMessage(
            #"{"token":"t","android_v2":{"background_sync":{},"remote_notification":{}}}"#, "message.android_v2",
            "not both"),
        RefusedMessage(
            #"{"token":"t","android_v2":{"priority":"HIGH"}}"#, "message.android_v2.priority", "no such field"),
        RefusedMessage(#"{"token":"t","apns":{"payload":{"aps":5}}}"#, "message.apns.payload.aps", "an object"),
        RefusedMessage(
            #"{"token":"t","apns":{"live_activity_token":5}}"#, "message.apns.live_activity_token", "a string"),
        RefusedMessage(
            #"{"token":"t","webpush":{"headers":{"TTL":"soon"}}}"#, "message.webpush.headers[TTL]", "seconds"),
        RefusedMessage(
            #"{"token":"t","webpush":{"headers":{"TTL":"-1"}}}"#, "message.webpush.headers[TTL]", "negative"),
        RefusedMessage(
            #"{"token":"t","webpush":{"headers":{"Urgency":"now"}}}"#, "message.webpush.headers[Urgency]", "very-low"),
        RefusedMessage(
            #"{"token":"t","webpush":{"headers":{"Topic":"a b"}}}"#, "message.webpush.headers[Topic]", "1 to 32"),
        RefusedMessage(#"{"token":"t","webpush":{"notification":5}}"#, "message.webpush.notification", "an object"),
        RefusedMessage(
            #"{"token":"t","webpush":{"notification":{"title":5}}}"#, "message.webpush.notification.title", "a string"),
        RefusedMessage(#"{"token":"t","webpush":{"data":{"from":"x"}}}"#, "message.webpush.data[from]", "reserved"),
        RefusedMessage(
            #"{"token":"t","webpush":{"fcm_options":{"link":"http://x"}}}"#, "message.webpush.fcm_options.link",
            "https://"),
    ])
    func `what is wrong is named with its place`(row: RefusedMessage) {
        let refusal = #expect(throws: FCMRejection.self) { try read(row.message) }
        #expect(refusal?.field == row.field)
        #expect(refusal?.message.contains(row.says) == true, "\(refusal?.message ?? "")")
        #expect(refusal?.status == .invalidArgument)
    }

    @Test(arguments: [(#""x""#, true), (#""""#, false), ("null", false)])
    func `a Live Activity's token is taken, and one that is empty names none`(token: String, isNamed: Bool) throws {
        for name in ["live_activity_token", "liveActivityToken"] {
            let message = try read(#"{"token":"t","apns":{"\#(name)":\#(token)}}"#).message
            #expect(message.apns?.isForLiveActivity == isNamed)
        }
    }

    @Test(arguments: ["", "[]", "{", #"{"message":}"#, "{}", #"{"message":{"token":"t"},"x":1}"#])
    func `a body that is no request is refused`(body: String) {
        #expect(throws: FCMRejection.self) { try FCMRequest(body: Array(body.utf8)) }
    }

    @Test func `a refusal has the form that libraries parse`() throws {
        let refusal = FCMRejection(.unregistered, "gone \"away\"", field: "message.token")
        #expect(
            String(decoding: refusal.body(noted: "7"), as: UTF8.self) == #"""
                {"error":{"code":404,"message":"message.token: gone \"away\"","status":"NOT_FOUND","details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"UNREGISTERED"},{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"message.token","description":"gone \"away\""}]},{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"7"}]}}
                """#)
        let bare = FCMRejection(.unauthenticated, "no token")
        #expect(
            String(decoding: bare.body(), as: UTF8.self)
                == #"{"error":{"code":401,"message":"no token","status":"UNAUTHENTICATED"}}"#)
    }
}

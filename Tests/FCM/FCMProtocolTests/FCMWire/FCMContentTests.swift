import PushCore
import Testing

@testable import FCMProtocol

@Suite struct FCMContentTests {
    private let now = Timestamp(seconds: 1_780_272_000)
    private let team = TeamID(rawValue: "ALDABADEMO")

    private func content(_ message: String, for readers: FCMReaders = .agents) throws -> (JSONValue, FCMDelivery) {
        let request = try FCMRequest(body: Array(#"{"message":\#(message)}"#.utf8))
        let content = try request.message.content()
        let delivery = FCMDelivery(request.message, isShown: content.isShown, now: now, readers: readers)
        return (try JSONValue(object: content.bytes(team: team, delivery: delivery, readers: readers)), delivery)
    }

    private func text(_ value: JSONValue?) -> String { value.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "-" }

    @Test func `a notification becomes what APNs has, with the data beside it`() throws {
        let (content, delivery) = try content(
            #"{"token":"t","notification":{"title":"T","body":"B"},"data":{"k":"v"}}"#)
        #expect(text(content["aps"]) == #"{"alert":{"title":"T","body":"B"}}"#)
        #expect(content["k"] == .string("v"))
        #expect(content["from"] == .string("1075884059246928"))
        #expect(content["google.c.sender.id"] == content["from"])
        #expect(content["gcm.ttl"] == .string("2419200"))
        #expect(content["google.c.a.e"] == nil && content["collapse_key"] == nil)
        #expect(delivery.priority == .immediate)
        #expect(delivery.expiry == .until(now + .seconds(28 * 86_400)))
    }

    @Test func `data alone has no aps and is not urgent`() throws {
        let (content, delivery) = try content(#"{"token":"t","data":{"k":"v"}}"#)
        #expect(content["aps"] == nil)
        #expect(content["k"] == .string("v"))
        #expect(delivery.priority == .considerate)
    }

    @Test func `a message to a topic says from where it is, and may have its id already`() throws {
        let message = try FCMRequest(body: Array(#"{"message":{"topic":"news","data":{"k":"v"}}}"#.utf8)).message
        let content = try message.content()
        let delivery = FCMDelivery(message, isShown: content.isShown, now: now)
        let bytes = content.bytes(team: team, delivery: delivery, topic: "news", id: NotificationID(rawValue: 9))
        let read = try JSONValue(object: bytes)
        #expect(read["from"] == .string("/topics/news"))
        #expect(read["google.c.sender.id"] == .string("1075884059246928"))
        #expect(read.members?.first == .init("gcm.message_id", .string("9")))
    }

    @Test func `what only wakes the app is not urgent, unless the message says so`() throws {
        let payload = #""payload":{"aps":{"content-available":1}}"#
        let (quiet, considerate) = try content(#"{"token":"t","apns":{\#(payload)}}"#)
        #expect(text(quiet["aps"]) == #"{"content-available":1}"# && considerate.priority == .considerate)
        let (_, urgent) = try content(#"{"token":"t","android":{"priority":"high"},"apns":{\#(payload)}}"#)
        #expect(urgent.priority == .immediate)
    }

    @Test func `android fills in, and the payload for Apple's platforms has the last word`() throws {
        let (content, delivery) = try content(
            #"""
            {"token":"t","notification":{"title":"T","body":"B","image":"https://n"},"data":{"k":"v","l":"w"},
             "android":{"ttl":"60s","priority":"normal","collapse_key":"c",
              "notification":{"title":"A","click_action":"OPEN","sound":"s","notification_count":3}},
             "apns":{"headers":{"apns-priority":"10","apns-collapse-id":"d"},
              "payload":{"aps":{"alert":{"title":"P"},"badge":9,"thread-id":"h"},"l":[1,2.50]},
              "fcm_options":{"image":"https://p","analytics_label":"mine"}},
             "fcm_options":{"analytics_label":"all"}}
            """#)
        #expect(
            text(content["aps"])
                == #"{"alert":{"body":"B","title":"P"},"badge":9,"sound":"s","category":"OPEN","thread-id":"h","mutable-content":1}"#
        )
        #expect(text(content["l"]) == "[1,2.50]")
        #expect(text(content["fcm_options"]) == #"{"image":"https://p"}"#)
        #expect(content["google.c.a.e"] == .string("1"))
        #expect(content["google.c.a.m_l"] == .string("mine"))
        #expect(content["collapse_key"] == .string("d"))
        #expect(delivery.collapseID == "d")
        #expect(delivery.priority == .immediate)
        #expect(delivery.expiry == .until(now + .seconds(60)))
    }

    @Test(arguments: [
        (#"{"aps":{},"x":1}"#, 0), (#"{"aps":{"badge":1},"aps":{},"x":1}"#, 0), (#"{"aps":{"badge":1},"x":1}"#, 1),
        (#"{"aps":{"badge":1},"aps":{"badge":2},"x":1}"#, 1),
    ])
    func `the payload's own aps is never let through beside the mapped one`(payload: String, count: Int) throws {
        let (content, _) = try content(#"{"token":"t","data":{"k":"v"},"apns":{"payload":\#(payload)}}"#)
        #expect(content.members?.count { $0.name == "aps" } == count)
        #expect(content["x"] == .number("1") && content["k"] == .string("v"))
    }

    private let forBrowsers = #"""
        {"token":"t","notification":{"title":"T"},"data":{"k":"v"},"android":{"ttl":"60s","collapse_key":"c"},
         "apns":{"headers":{"apns-priority":"10","apns-expiration":"0"}},
         "webpush":{"headers":{"TTL":"90","Urgency":"very-low","Topic":"t_1","image":"https://i"},"data":{"w":"x"},
          "notification":{"title":"W","icon":"/i.png","actions":[{"action":"a"}],"badge":null},
          "fcm_options":{"link":"https://w","analytics_label":"web"}}}
        """#

    @Test func `to a browser webpush is asked first`() throws {
        let (content, delivery) = try content(forBrowsers, for: .browsers)
        #expect(delivery.priority == .low && delivery.collapseID == "t_1")
        #expect(delivery.expiry == .until(now + .seconds(90)) && delivery.timeToLive == 90)
        #expect(content["google.c.a.m_l"] == .string("web"))
        #expect(
            text(content["gcm.webpush"])
                == #"{"notification":{"title":"W","icon":"/i.png","actions":[{"action":"a"}],"image":"https://i"},"data":{"w":"x"},"link":"https://w","analytics_label":"web"}"#
        )
    }

    @Test func `an agent is sent nothing of webpush, and waits by what is its own`() throws {
        let (content, delivery) = try content(forBrowsers)
        #expect(content["gcm.webpush"] == nil && content["google.c.a.m_l"] == nil)
        #expect(delivery.priority == .immediate && delivery.collapseID == "c" && delivery.expiry == .once)
        let (shared, same) = try self.content(forBrowsers, for: .anybody)
        #expect(shared["gcm.webpush"] != nil && same == delivery)
    }

    @Test(arguments: [
        (#""TTL":"0""#, Expiry.once, Priority.considerate),
        (#""ttl":"99999999999999999999""#, .until(Timestamp(seconds: 1)), .considerate),
        (#""Urgency":"high""#, .until(Timestamp(seconds: 1)), .immediate),
        (#""urgency":"Low""#, .until(Timestamp(seconds: 1)), .considerate),
        (#""x":"y""#, .until(Timestamp(seconds: 1)), .considerate),
    ])
    func `a browser's header fields`(fields: String, expiry: Expiry, priority: Priority) throws {
        let message = #"{"token":"t","data":{"k":"v"},"webpush":{"headers":{\#(fields)}}}"#
        let (_, delivery) = try content(message, for: .browsers)
        let longest = now + .seconds(28 * 86_400)
        #expect(delivery.expiry == (expiry == .once ? .once : .until(longest)))
        #expect(delivery.priority == priority)
    }

    @Test func `what a browser shows is urgent, and is limited by itself`() throws {
        let (_, delivery) = try content(#"{"token":"t","webpush":{"notification":{"title":"W"}}}"#, for: .browsers)
        #expect(delivery.priority == .immediate)
        let long = String(repeating: "x", count: 4096)
        let refusal = #expect(throws: FCMRejection.self) {
            try content(#"{"token":"t","webpush":{"data":{"k":"\#(long)"}}}"#)
        }
        #expect(refusal?.field == "message.webpush")
    }

    @Test(arguments: [
        ("PRIORITY_MIN", "passive"), ("PRIORITY_LOW", "passive"), ("PRIORITY_DEFAULT", "-"), ("PRIORITY_HIGH", "-"),
        ("PRIORITY_MAX", "time-sensitive"), ("PRIORITY_UNSPECIFIED", "-"),
    ])
    func `how much a notification of Android may interrupt`(priority: String, level: String) throws {
        let shown = #"{"title":"T","notification_priority":"\#(priority)"}"#
        let (said, _) = try content(#"{"token":"t","android":{"notification":\#(shown)}}"#)
        #expect((said["aps"]?["interruption-level"]?.text ?? "-") == level)
        let apns = #"{"payload":{"aps":{"interruption-level":"critical"}}}"#
        let (over, _) = try content(#"{"token":"t","android":{"notification":\#(shown)},"apns":\#(apns)}"#)
        #expect(over["aps"]?["interruption-level"]?.text == "critical")
    }

    @Test func `a tag goes to the device, and replaces nothing that waits`() throws {
        let (said, delivery) = try content(#"{"token":"t","android":{"notification":{"title":"T","tag":"mail-7"}}}"#)
        #expect(said["gcm.notification.tag"] == .string("mail-7"))
        #expect(delivery.collapseID == nil)
    }

    @Test(arguments: [
        (#""android":{"ttl":"0s"}"#, Expiry.once, Int64(0)), (#""android":{"ttl":"0.9s"}"#, .once, 0),
        (#""apns":{"headers":{"apns-expiration":"0"}},"android":{"ttl":"9s"}"#, .once, 0),
        (
            #""apns":{"headers":{"apns-expiration":"1780272100"}}"#, .until(Timestamp(seconds: 1_780_272_100)), 100
        ),
        (#""apns":{"headers":{"apns-expiration":"1780271999"}}"#, .until(Timestamp(seconds: 1_780_271_999)), 0),
        (
            #""apns":{"headers":{"apns-expiration":"1799999999"}}"#,
            .until(Timestamp(seconds: 1_780_272_000 + 2_419_200)), 2_419_200
        ),
    ])
    func `how long a message waits`(fields: String, expiry: Expiry, timeToLive: Int64) throws {
        let (_, delivery) = try content("{\"token\":\"t\",\(fields)}")
        #expect(delivery.expiry == expiry)
        #expect(delivery.timeToLive == timeToLive)
    }

    @Test(arguments: [("token", 4096), ("topic", 2048), ("condition", 2048)])
    func `a message has a limit`(target: String, limit: Int) throws {
        func message(_ count: Int) throws -> FCMMessage {
            // The name has one byte. A quotation mark counts once, though JSON writes two bytes.
            let text = String(repeating: #"\""#, count: count - 1)
            return try FCMRequest(body: Array(#"{"message":{"\#(target)":"t","data":{"k":"\#(text)"}}}"#.utf8)).message
        }
        _ = try message(limit).content()
        let refusal = #expect(throws: FCMRejection.self) { try message(limit + 1).content() }
        #expect(refusal?.message.contains("\(limit + 1) bytes, at most \(limit)") == true)
    }

    @Test(arguments: [("token", 4096), ("topic", 2048), ("condition", 2048)])
    func `names and values of a payload for Apple's devices have that limit`(target: String, limit: Int) throws {
        func message(_ count: Int) throws -> FCMMessage {
            let alert = String(repeating: "x", count: count - "aps".utf8.count - "alert".utf8.count)
            let payload = #"{"aps":{"alert":"\#(alert)"}}"#
            return try FCMRequest(body: Array(#"{"message":{"\#(target)":"t","apns":{"payload":\#(payload)}}}"#.utf8))
                .message
        }
        _ = try message(limit).content()
        #expect(throws: FCMRejection.self) { try message(limit + 1).content() }
    }

    @Test(arguments: [
        (#""notification":{"title":"ab","body":"c\n"}"#, 13), (#""data":{"k":"é"}"#, 3),
        (#""notification":{"title":"T"},"data":{"a":"b"}"#, 8), (#""notification":{"image":"https://i"}"#, 14),
        (#""apns":{"payload":{"aps":{"badge":12},"x":{"y":[1,true,null]}}}"#, 3 + 7 + 2 + 1 + 4 + 4),
        (#""apns":{"payload":{"aps":{"alert":"x"}}}"#, 3 + 5 + 1),
        (#""apns":{"payload":{"aps":{"alert":{"title":"x"},"mutable-content":1}}}"#, 3 + 5 + 6 + 15 + 1),
        (#""notification":{"body":"b"},"apns":{"payload":{"aps":{"badge":1}}}"#, 3 + 5 + 6),
        (#""apns":{"payload":{"aps":{"badge":1},"fcm_options":{"image":"https://i"}}}"#, 3 + 6 + 11 + 5 + 9),
        (#""webpush":{"data":{"k":"vv"}}"#, 0),
    ])
    func `names and values count, and nothing of JSON`(fields: String, count: Int) throws {
        let message = try FCMRequest(body: Array("{\"message\":{\"token\":\"t\",\(fields)}}".utf8)).message
        #expect(FCMContent(message).countedBytes == count)
    }

    @Test func `the data's own collapse key goes to the device`() throws {
        let (content, delivery) = try content(
            #"{"token":"t","data":{"collapse_key":"d"},"android":{"collapse_key":"c"}}"#)
        #expect(content["collapse_key"] == .string("d") && delivery.collapseID == "c")
    }

    @Test func `a project has a number, and its team is found by it`() throws {
        #expect(ProjectNumber(team)?.rawValue == UInt64("ALDABADEMO", radix: 36))
        #expect(ProjectNumber.team(of: try #require(ProjectNumber(team)).description) == team)
        let zeros = TeamID(rawValue: "000000000Z")
        #expect(ProjectNumber(zeros)?.description == "35")
        #expect(ProjectNumber.team(of: "35") == zeros)
        #expect(ProjectNumber.team(of: "18446744073709551615") == nil)
        #expect(ProjectNumber.team(of: "3x") == nil)
        #expect(ProjectName.names("aldabademo", team) && ProjectName.names("ALDABADEMO", team))
        #expect(ProjectName.names("1075884059246928", team) && !ProjectName.names("other", team))
    }

    @Test(arguments: [
        #"{"a":[1,2.5e3,true,false,null,{"b":"\"\\ é \u0001"}],"c":{}}"#, #"{"":[[],{}],"x":"\n"}"#,
    ])
    func `JSON comes out as it went in`(text: String) throws {
        #expect(String(decoding: try JSONValue(object: Array(text.utf8)).bytes, as: UTF8.self) == text)
    }
}

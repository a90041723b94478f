import Foundation
import PushCore
import Testing

@testable import AldabaAPNs

@Suite struct PayloadTests {
    private struct Own: Encodable, Sendable {
        var order = 7
        var place: String?
    }

    private func json(_ notification: APNsNotification) -> String {
        String(decoding: notification.payload, as: UTF8.self)
    }

    @Test func `an alert has its texts, and the app's own keys stand beside it`() throws {
        let notification = try APNsNotification.alert(
            APNsAlert(title: "Hello", body: "World"), bundleID: "com.example.app", custom: Own(place: "Vigo"))
        let tree = try JSONValue(notification.payload)
        #expect(tree["aps"] == (try JSONValue(text: #"{"alert":{"title":"Hello","body":"World"}}"#)))
        #expect(tree["order"]?.integer == 7 && tree["place"]?.text == "Vigo")
        #expect(notification.topic == "com.example.app" && notification.priority == .immediate)
    }

    @Test func `every key of an alert is written by its name`() throws {
        var alert = APNsAlert(
            title: .localized(key: "T", arguments: ["1"]), subtitle: .localized(key: "S"),
            body: .localized(key: "B", arguments: ["2", "3"]))
        alert.launchImage = "launch"
        alert.badge = 0
        alert.sound = .critical(name: "bell", volume: 2)
        alert.threadID = "thread"
        alert.category = "category"
        alert.isMutable = true
        alert.wakesApp = true
        alert.interruptionLevel = .timeSensitive
        alert.relevanceScore = 0.5
        alert.targetContentID = "window"
        alert.filterCriteria = "work"
        let expected = #"""
            {"aps":{"alert":{"title-loc-key":"T","title-loc-args":["1"],"subtitle-loc-key":"S","loc-key":"B",
            "loc-args":["2","3"],"launch-image":"launch"},"badge":0,
            "sound":{"critical":1,"name":"bell","volume":1.0},"thread-id":"thread","category":"category",
            "mutable-content":1,"content-available":1,"interruption-level":"time-sensitive","relevance-score":0.5,
            "target-content-id":"window","filter-criteria":"work"}}
            """#
        let notification = try APNsNotification.alert(alert, bundleID: "com.example.app")
        #expect(json(notification) == expected.replacing("\n", with: ""))
    }

    @Test func `a background notification wakes its app at a low priority`() throws {
        var notification = try APNsNotification.background(bundleID: "com.example.app", custom: Own())
        #expect(json(notification) == #"{"aps":{"content-available":1},"order":7}"#)
        #expect(notification.priority == .considerate)
        notification.priority = .immediate
        let message = notification.message(to: "00", id: UUID(), authority: "a")
        #expect(message.headers.first("apns-priority").map { message.headers.text($0) } == "5")
    }

    @Test func `a call has the payload alone and is not stored`() throws {
        let notification = try APNsNotification.voip(Own(), bundleID: "com.example.app")
        #expect(json(notification) == #"{"order":7}"#)
        #expect(notification.topic == "com.example.app.voip" && notification.expiration == .once)
    }

    @Test func `a Live Activity begins, changes and ends`() throws {
        let time = Date(timeIntervalSince1970: 1_700_000_000.7)
        var start = try APNsLiveActivity.start(attributesType: "Game", attributes: ["home": "A"], state: ["score": 1])
        start.timestamp = time
        start.input = .channel("Y2hhbm5lbA==")
        start.alertTitle = .localized(key: "K", arguments: ["x"])
        start.alertBody = "Begun"
        start.staleDate = time + 60
        let expected = #"""
            {"aps":{"timestamp":1700000000,"event":"start","content-state":{"score":1},"attributes-type":"Game",
            "attributes":{"home":"A"},"stale-date":1700000060,"input-push-channel":"Y2hhbm5lbA==",
            "alert":{"title":{"loc-key":"K","loc-args":["x"]},"body":"Begun"}}}
            """#
        let notification = APNsNotification.liveActivity(start, bundleID: "com.example.app")
        #expect(json(notification) == expected.replacing("\n", with: ""))
        #expect(notification.topic == "com.example.app.push-type.liveactivity")
        var update = try APNsLiveActivity.update(state: ["score": 2])
        update.timestamp = time
        update.input = .pushToken
        update.relevanceScore = 100
        #expect(
            json(.liveActivity(update, bundleID: "a"))
                == #"{"aps":{"timestamp":1700000000,"event":"update","content-state":{"score":2},"#
                + #""relevance-score":100.0,"input-push-token":1}}"#)
        var end = try APNsLiveActivity.end()
        end.timestamp = time
        end.dismissalDate = time
        #expect(
            json(.liveActivity(end, bundleID: "a"))
                == #"{"aps":{"timestamp":1700000000,"event":"end","dismissal-date":1700000000}}"#)
    }

    @Test func `keys that are no object, or aps itself, are refused`() {
        #expect(throws: APNsPayloadFault.self) {
            try APNsNotification.alert(APNsAlert(body: "x"), bundleID: "a", custom: [1, 2])
        }
        #expect(throws: APNsPayloadFault.self) {
            try APNsNotification.alert(APNsAlert(body: "x"), bundleID: "a", custom: ["aps": 1])
        }
    }

    @Test(arguments: [
        (APNsExpiration.default, nil), (.once, "0"), (.until(Date(timeIntervalSince1970: 1_700_000_000)), "1700000000"),
        (.until(Date(timeIntervalSince1970: 0)), "1"), (.until(.distantFuture), "64092211200"),
    ])
    func `an expiration has one of three meanings`(expiration: APNsExpiration, field: String?) {
        var notification = APNsNotification(pushType: .alert, bundleID: "a", payload: [0x7B, 0x7D])
        notification.expiration = expiration
        let message = notification.message(to: "00", id: UUID(), authority: "a")
        #expect(message.headers.first("apns-expiration").map { message.headers.text($0) } == field)
    }

    @Test func `what APNs would refuse for its size is refused at once`() {
        func reason(_ type: APNsPushType, bytes: Int, collapse: String? = nil) -> String? {
            var notification = APNsNotification(
                pushType: type, bundleID: "a", payload: [UInt8](repeating: 0x20, count: bytes))
            notification.collapseID = collapse
            return notification.localRefusal(token: "00")?.rawValue
        }
        #expect(reason(.alert, bytes: 4096) == nil && reason(.alert, bytes: 4097) == "PayloadTooLarge")
        #expect(reason(.voip, bytes: 5120) == nil && reason(.voip, bytes: 5121) == "PayloadTooLarge")
        #expect(reason(.alert, bytes: 0) == "PayloadEmpty")
        #expect(reason(.alert, bytes: 1, collapse: String(repeating: "é", count: 33)) == "BadCollapseId")
        #expect(reason(APNsPushType(rawValue: "a\nb"), bytes: 1) == "InvalidPushType")
    }

    @Test func `a push type that is new is sent as it is`() {
        let type = APNsPushType(rawValue: "brandnew")
        let notification = APNsNotification(pushType: type, bundleID: "com.example.app.new", payload: [0x7B, 0x7D])
        #expect(notification.topic == "com.example.app.new")
    }
}

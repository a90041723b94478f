import PushCore
import Testing
import Texts

@testable import Console

@Suite struct ComposeViewsTests {
    private func message(_ fields: [String: String]) -> ComposedMessage {
        var form = ComposeForm()
        for (name, value) in fields { form[name] = value }
        return ComposedMessage(form)
    }

    private func views(
        _ fields: [String: String], _ target: ComposedTarget = .token("a0"),
        web: String = #"{"notification":{"title":"T"}}"#
    ) throws -> MessageViews {
        MessageViews(
            message: message(fields), target: target,
            payloads: [
                "apns": try JSONValue(text: #"{"aps":{"alert":{"title":"T","body":"it's"}},"a":"1"}"#),
                "fcmV1": try JSONValue(
                    text: #"{"message":{"notification":{"title":"T"},"android":{"notification":{"sound":"s"}}}}"#),
                "browser": try JSONValue(text: web),
            ], topic: "com.x", now: Timestamp(seconds: 1000))
    }

    @Test func `a request to APNs has the fields and the payload`() throws {
        let text = try views(["title": "T", "ttl": "60"]).apns
        #expect(
            text.hasPrefix("POST /3/device/a0\napns-topic: com.x\napns-push-type: alert\napns-expiration: 1060\n\n{"))
    }

    @Test(arguments: [
        (ComposedTarget.token("a0"), "token", "a0"), (.topic("news"), "topic", "news"),
        (.condition("'a' in topics"), "condition", "'a' in topics"), (.everybody, "token", "TOKEN"),
    ])
    func `a message of FCM names its recipient`(_ target: ComposedTarget, _ name: String, _ value: String) throws {
        let message = try JSONValue(text: views(["ttl": "60", "priority": "10", "collapseId": "c"], target).fcm)[
            "message"]
        #expect(message?[name]?.text == value)
        #expect(message?["android"]?["ttl"]?.text == "60s" && message?["android"]?["priority"]?.text == "high")
        #expect(message?["android"]?["notification"]?["sound"]?.text == "s")
        #expect(message?["apns"]?["headers"]?["apns-collapse-id"]?.text == "c")
    }

    @Test func `a declarative message needs a link`() throws {
        #expect(try views([:]).declarative == nil)
        let declared = try views([:], web: #"{"web_push":8030,"notification":{"title":"T","navigate":"https://a"}}"#)
        #expect(declared.declarative?.contains("8030") == true && !declared.webPush.contains("8030"))
    }

    @Test func `commands quote what a shell would read`() throws {
        let made = try views(["priority": "5"])
        #expect(made.curl.contains(#"it'\''s"#) && made.curl.contains("/3/device/a0'"))
        #expect(made.command.contains("aldaba send --token a0 --topic 'com.x' --priority '5' --payload -"))
    }

    @Test func `a template has expressions in place of the texts`() throws {
        let text = try views([:]).azure
        #expect(text.contains(#""title": "$(title)""#) && text.contains(#""body": "it's""#))
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"Hello"}}"#, ["body": "Hello"]),
        (
            #"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"},"badge":2,"sound":{"name":"s"},"category":"c"},"k":"v","Simulator Target Bundle":"com.x"}"#,
            [
                "title": "T", "subtitle": "S", "body": "B", "badge": "2", "sound": "s", "category": "c", "data": "k=v",
                "app": "com.x",
            ]
        ),
        (#"{"aps":{"content-available":1},"k":1}"#, ["silent": "yes", "data": "{\n  \"k\": 1\n}"]),
        (
            #"{"aps":{"alert":{"body":"B"},"mutable-content":1},"attachment-url":"https://a/b.mp4"}"#,
            ["body": "B", "media": "https://a/b.mp4", "mediaKind": "video"]
        ),
        (
            #"{"message":{"topic":"news","notification":{"title":"T","body":"B","image":"https://a/b"},"data":{"link":"a://b","k":"v"},"android":{"ttl":"60s","priority":"HIGH","collapse_key":"c"}}}"#,
            [
                "to": "topic", "topic": "news", "title": "T", "body": "B", "media": "https://a/b", "link": "a://b",
                "data": "k=v", "ttl": "60", "priority": "10", "collapseId": "c",
            ]
        ),
    ])
    func `a payload becomes the form`(_ payload: String, _ fields: [String: String]) throws {
        let form = PayloadFileReader.form(try JSONValue(text: payload))
        for (name, value) in fields { #expect(form[name] == value, "\(name)") }
    }

    @Test(arguments: [
        (ScreenPreview.Screen.iphone, 38), (.gnome, 46), (.dunst, 42), (.android, 40),
    ])
    func `a screen cuts a long title`(_ screen: ScreenPreview.Screen, _ most: Int) throws {
        let long = try #require(
            ScreenPreview(message(["title": String(repeating: "a", count: 100)]), in: nil, on: screen))
        #expect(long.lines.first?.count == most && long.isCut)
        let short = try #require(ScreenPreview(message(["title": "a", "body": "b"]), in: nil, on: screen))
        #expect(short.lines == ["a", "b"] && !short.isCut)
    }

    @Test func `desktops have title and subtitle in one line, and a silent notification is on no screen`() {
        let fields = ["title": "T", "subtitle": "S", "body": "B"]
        #expect(ScreenPreview(message(fields), in: nil, on: .gnome)?.lines == ["T - S", "B"])
        #expect(ScreenPreview(message(fields), in: nil, on: .iphone)?.lines == ["T", "S", "B"])
        #expect(ScreenPreview(message(["silent": "yes"]), in: nil, on: .iphone) == nil)
    }

    @Test func `the largest language counts`() throws {
        let answer = try JSONValue(
            text:
                #"{"limits":{"apns":10,"voip":20},"renderings":[{"platform":"apns","bytes":5},{"platform":"apns","locale":"de","bytes":12}]}"#
        )
        let usage = PayloadUsage.read(answer)
        #expect(usage.map(\.service) == ["apns", "voip"] && usage.map(\.bytes) == [12, 12])
        #expect(usage.map(\.isTooLarge) == [true, false] && usage[0].language == "de")
    }

    @Test(arguments: [
        (500_000, 10, nil, 5_000_000, nil), (500_000, 1_000_000, nil, 500_000_000_000, 20),
        (500_000, 1_000_000, 10, 5_000_000, nil), (20_000_000, 1000, nil, 20_000_000_000, 1),
    ])
    func `a picture for many is offered a spread`(
        _ bytes: Int, _ devices: Int, _ rate: Int?, _ perSecond: Int, _ offer: Int?
    ) {
        let load = PictureLoad(bytes: bytes, devices: devices, rate: rate)
        #expect(load.perSecond == perSecond && load.offer == offer)
    }

    @Test func `a size is written in words`() {
        #expect(
            PictureLoad.size(1_540_000, .of(.english)) == "1.5 MB" && PictureLoad.size(900, .of(.spanish)) == "0,9 kB")
    }

    @Test func `a body of several parts is read`() throws {
        let body =
            "--x\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\na\r\nb\r\n"
            + "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"p.png\"\r\nContent-Type: image/png\r\n\r\n\u{1}\r\n"
            + "--x\r\nContent-Disposition: form-data; name=\"language\"\r\n\r\nde\r\n--x--\r\n"
        let boundary = MultipartForm.boundary(of: "multipart/form-data; boundary=x")
        #expect(boundary == "x" && MultipartForm.boundary(of: "text/plain") == nil)
        let form = try ComposeForm(MultipartForm.parts(of: Array(body.utf8), boundary: "x"))
        #expect(form["title"] == "a\nb" && form.languages == ["de"] && form.file?.bytes == [1])
        #expect(throws: (any Error).self) { try MultipartForm.parts(of: Array(body.utf8.dropLast(5)), boundary: "x") }
        #expect(throws: (any Error).self) { try MultipartForm.parts(of: [], boundary: "x") }
    }

    @Test(arguments: [
        ("de", true), ("pt-BR", true), ("zh_Hans", true), ("d", false), ("d.e", false), ("", false), ("1a", false),
    ])
    func `a language may stand in the name of a field`(_ text: String, _ isLanguage: Bool) {
        #expect(ComposeForm.isLanguage(text) == isLanguage)
    }
}

import HubProtocol
import PushCore
import Testing

private func content(_ text: String) throws -> CampaignContent { try CampaignContent.read(Array(text.utf8)) }

private let rich = #"""
    {"title":"Fresh","subtitle":"Today","body":"Until noon","category":"SHOP","thread":"bread","level":"time-sensitive",
     "badge":2,"image":"https://h/p.png","video":"https://h/f.mp4","link":"https://h/shop","data":{"k":"v"},
     "actions":[{"id":"buy","title":"Buy","link":"https://h/buy"},{"id":"later","title":"Later"}],
     "locales":{"de":{"title":"Frisch","actions":{"buy":"Kaufen"}}}}
    """#

private func payload(_ platform: HubPlatform, locale: String? = nil, of text: String = rich) throws -> String {
    String(decoding: try content(text).payload(locale: locale, for: platform), as: UTF8.self)
}

@Test(arguments: [HubPlatform.aldaba, .apns])
func `Apple's devices and this server's have everything in the payload`(platform: HubPlatform) throws {
    #expect(
        try payload(platform)
            == #"{"aps":{"alert":{"title":"Fresh","subtitle":"Today","body":"Until noon","#
            + #""actions":[{"id":"buy","title":"Buy"},{"id":"later","title":"Later"}]},"category":"SHOP","#
            + #""thread-id":"bread","interruption-level":"time-sensitive","badge":2,"mutable-content":1},"k":"v","#
            + #""link":"https://h/shop","action-links":{"buy":"https://h/buy"},"attachment-url":"https://h/f.mp4","#
            + #""ab":{"att":{"url":"https://h/f.mp4","type":"mp4"}},"att":{"file":"https://h/f.mp4"}}"#)
}

@Test func `FCM's message has its own words, and data for what it has none for`() throws {
    #expect(
        try payload(.fcmv1)
            == #"{"message":{"notification":{"title":"Fresh","body":"Until noon","image":"https://h/p.png"},"#
            + #""data":{"k":"v","link":"https://h/shop","subtitle":"Today","actions":"[{\"id\":\"buy\",\"title\":\"Buy\","#
            + #"\"link\":\"https://h/buy\"},{\"id\":\"later\",\"title\":\"Later\"}]","video":"https://h/f.mp4"},"#
            + #""android":{"notification":{"click_action":"SHOP","notification_count":2,"#
            + #""notification_priority":"PRIORITY_HIGH"}},"apns":{"payload":{"aps":{"alert":{"title":"Fresh","#
            + #""subtitle":"Today","body":"Until noon"},"category":"SHOP","thread-id":"bread","#
            + #""interruption-level":"time-sensitive","mutable-content":1},"attachment-url":"https://h/f.mp4","#
            + #""ab":{"att":{"url":"https://h/f.mp4","type":"mp4"}},"att":{"file":"https://h/f.mp4"}}}}}"#)
}

@Test(arguments: [
    ("https://h/p.JPEG?x=1.gif", "jpg"), ("https://h.png", "jpg"), ("https://h/p", "jpg"),
    ("https://h/v.1/p.png", "png"),
])
func `a picture is where each known extension looks for it, with Braze's type`(image: String, type: String) throws {
    #expect(
        try payload(.apns, of: #"{"title":"x","image":"\#(image)"}"#)
            == #"{"aps":{"alert":{"title":"x"},"mutable-content":1},"attachment-url":"\#(image)","#
            + #""ab":{"att":{"url":"\#(image)","type":"\#(type)"}},"fcm_options":{"image":"\#(image)"},"#
            + #""att":{"file":"\#(image)"}}"#)
}

@Test(arguments: [
    (#"["ab.att"]"#, ["ab"]), (#"["att","attachment-url"]"#, ["att", "attachment-url"]), ("[]", []),
    ("null", ["attachment-url", "ab", "fcm_options", "att"]),
])
func `pictureKeys chooses the members that name a picture`(keys: String, names: [String]) throws {
    let text = #"{"title":"x","image":"https://h/p.png","pictureKeys":\#(keys)}"#
    #expect(try JSONValue(text: payload(.aldaba, of: text)).members?.map(\.name) == ["aps"] + names)
}

@Test func `of the keys those are left out that would not fit, or that data has taken`() throws {
    func names(_ body: Int, _ data: String = "{}") throws -> [String]? {
        let text = String(repeating: "x", count: body)
        let content = #"{"body":"\#(text)","image":"https://h/p.png","data":\#(data)}"#
        return try JSONValue(text: payload(.aldaba, of: content)).members?.map(\.name)
    }
    #expect(try names(3975) == ["aps", "attachment-url", "att"])
    #expect(try names(4096) == ["aps", "attachment-url"])
    #expect(try names(1, #"{"ab":{"c":"x"}}"#) == ["aps", "ab", "attachment-url", "fcm_options", "att"])
}

@Test func `a browser's message has the actions with their links`() throws {
    #expect(
        try payload(.browser)
            == #"{"web_push":8030,"notification":{"title":"Fresh","body":"Until noon","navigate":"https://h/shop","#
            + #""image":"https://h/p.png","actions":[{"action":"buy","title":"Buy","navigate":"https://h/buy"},"#
            + #"{"action":"later","title":"Later"}],"data":{"k":"v","subtitle":"Today","category":"SHOP","#
            + #""thread":"bread","video":"https://h/f.mp4"},"requireInteraction":true},"app_badge":2}"#)
}

@Test func `actions speak the recipient's language, those without words the language of all`() throws {
    let tree = try JSONValue(text: try payload(.aldaba, locale: "de-AT"))
    #expect(
        tree["aps"]?["alert"]?["actions"]?.json == #"[{"id":"buy","title":"Kaufen"},{"id":"later","title":"Later"}]"#)
    #expect(try payload(.fcmv1, locale: "de").contains(#"\"title\":\"Kaufen\""#))
}

@Test func `plain words make plain messages`() throws {
    let plain = #"{"title":"Hello"}"#
    #expect(try payload(.aldaba, of: plain) == #"{"aps":{"alert":{"title":"Hello"}}}"#)
    #expect(try payload(.fcmv1, of: plain) == #"{"message":{"notification":{"title":"Hello"}}}"#)
    #expect(try payload(.browser, of: plain) == #"{"notification":{"title":"Hello"}}"#)
}

@Test(arguments: [
    (#"{"body":"x","pictureKeys":["ab"]}"#, "/pictureKeys"), (#"{"body":"x","pictureKeys":"att"}"#, "/pictureKeys"),
    (#"{"body":"x","pictureKeys":["ab.att"],"data":{"ab":1}}"#, "/pictureKeys"),
    (#"{"body":"x","video":"http://h"}"#, "/video"), (#"{"body":"x","actions":{}}"#, "/actions"),
    (#"{"body":"x","actions":[{"id":"a"}]}"#, "/actions/0/title"),
    (#"{"body":"x","actions":[{"title":"a"}]}"#, "/actions/0/id"), (#"{"body":"x","actions":[7]}"#, "/actions/0/id"),
    (#"{"body":"x","actions":[{"id":"a","title":"A","icon":"i"}]}"#, "/actions/0/icon"),
    (#"{"body":"x","actions":[{"id":"a","title":"A"},{"id":"a","title":"B"}]}"#, "/actions/1/id"),
    (#"{"body":"x","actions":[{"id":"a","title":"A","link":1}]}"#, "/actions/0/link"),
    (#"{"body":"x","locales":{"de":{"actions":{"b":"B"}}}}"#, "/locales/de/actions/b"),
    (
        #"{"body":"x","actions":[\#((0..<9).map { #"{"id":"\#($0)","title":"A"}"# }.joined(separator: ","))]}"#,
        "/actions"
    ),
])
func `actions and films that cannot be taken are told where`(text: String, path: String) {
    #expect { try content(text) } throws: { ($0 as? InstallationError)?.path == path }
}

@Test(arguments: [
    ("zh-Hant-TW", "trad"), ("zh-Hant", "trad"), ("zh-Hans", "any"), ("zh", "any"), ("de_AT", "wien"),
    ("de-CH", "hello"),
    ("sr-Latn-RS", "latin"), ("sr", "hello"), ("", "hello"),
])
func `the most exact language that holds is chosen, in either spelling`(locale: String, title: String) throws {
    let text = #"""
        {"title":"hello","locales":{"zh":{"title":"any"},"zh-Hant":{"title":"trad"},"de_at":{"title":"wien"},
         "sr-Latn":{"title":"latin"}}}
        """#
    #expect(try payload(.aldaba, locale: locale, of: text).contains(#""title":"\#(title)""#))
    var template = InstallationTemplate(name: "t", body: "hello")
    template.locales = [
        .init("zh", .string("any")), .init("zh-hant", .string("trad")), .init("de-at", .string("wien")),
        .init("sr-latn", .string("latin")),
    ]
    #expect(template.body(locale: locale) == title)
}

@Test func `a language that is there twice is refused`() {
    #expect(throws: InstallationError("/locales/de_AT", "this language is there twice")) {
        try content(#"{"title":"a","locales":{"de-at":{"title":"b"},"de_AT":{"title":"c"}}}"#)
    }
}

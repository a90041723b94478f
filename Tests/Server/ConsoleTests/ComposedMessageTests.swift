import PushCore
import Testing

@testable import Console

@Suite struct ComposedMessageTests {
    private let now = Timestamp(seconds: 1_000)

    private func form(_ fields: [String: String], languages: [String] = []) -> ComposeForm {
        var form = ComposeForm()
        for (name, value) in fields { form[name] = value }
        form.languages = languages
        return form
    }

    @Test(arguments: [
        (["title": "Hello"], #"{"title":"Hello"}"#),
        (["title": "Hello", "badge": "3", "sound": "default"], #"{"title":"Hello","sound":"default","badge":3}"#),
        (["body": "B", "badge": "three"], #"{"body":"B","badge":"three"}"#),
        (["body": "B", "media": " https://a/b.png "], #"{"body":"B","image":"https://a/b.png"}"#),
        (["body": "B", "media": "https://a/b.mp4", "mediaKind": "video"], #"{"body":"B","video":"https://a/b.mp4"}"#),
        (["body": "B", "data": "a=1\n\nb=x=y"], #"{"body":"B","data":{"a":"1","b":"x=y"}}"#),
        (["body": "B", "data": #"{"a":[1]}"#], #"{"body":"B","data":{"a":[1]}}"#),
        (["silent": "yes", "data": "a=1"], #"{"data":{"a":"1"},"silent":true}"#),
        (
            ["body": "B", "action1.id": "go", "action1.title": "Go", "action1.link": "app://x"],
            #"{"body":"B","actions":[{"id":"go","title":"Go","link":"app://x"}]}"#
        ),
    ])
    func `a form becomes a content`(_ fields: [String: String], _ content: String) throws {
        #expect(try ComposedMessage(form(fields)).content().json == content)
    }

    @Test func `a language has its own texts and titles of buttons`() throws {
        let fields = [
            "title": "Hello", "body": "B", "title.de": "Hallo", "action0.id": "go", "action0.title": "Go",
            "action0.title.de": "Los",
        ]
        let message = ComposedMessage(form(fields, languages: ["de", "es"]))
        #expect(
            try message.content()["locales"]?.json == #"{"de":{"title":"Hallo","actions":{"go":"Los"}},"es":{}}"#)
        #expect(message.words(in: "de").title == "Hallo" && message.words(in: "de").body == "B")
        #expect(message.actions(in: "de").map(\.title) == ["Los"] && message.actions(in: "es").map(\.title) == ["Go"])
        #expect(message.words(in: "es").title == "Hello")
    }

    @Test(arguments: [("a", "compose.fault.line"), ("=x", "compose.fault.line"), ("{a", "compose.fault.json")])
    func `data that cannot be read are a fault of their field`(_ data: String, _ text: String) {
        #expect {
            try ComposedMessage(form(["body": "B", "data": data])).content()
        } throws: { error in
            (error as? ComposeFault)?.field == "data" && (error as? ComposeFault)?.text == text
        }
    }

    @Test(arguments: [
        ("/content/title", "title"), ("/content/locales/de/body", "body.de"),
        ("/content/actions/1/link", "action1.link"),
        ("/content/locales/de/actions/go", "action0.title.de"), ("/content/image", "media"), ("/ttl", "ttl"),
        ("/local/past", "past"), ("/local/time", "localTime"), ("/quiet/to", "quietTo"), ("/cap/most", "capMost"),
        ("/experiment/variants/1/content/title", "titleB"), ("/experiment/variants", "shareA"),
        ("/audience", "expression"),
    ])
    func `a refusal is shown at the field that it is about`(_ pointer: String, _ field: String) {
        let message = ComposedMessage(form(["action0.id": "go", "action0.title": "Go"]))
        #expect(message.field(of: pointer) == field)
    }

    @Test(arguments: [
        (["title": "A"], ["apns-push-type": "alert"]),
        (["silent": "yes"], ["apns-push-type": "background", "apns-priority": "5"]),
        (
            ["ttl": "60", "priority": "10", "collapseId": "c"],
            ["apns-push-type": "alert", "apns-expiration": "1060", "apns-priority": "10", "apns-collapse-id": "c"]
        ),
        (["ttl": "0"], ["apns-push-type": "alert", "apns-expiration": "0"]),
        (["ttl": "soon"], ["apns-push-type": "alert", "apns-expiration": "soon"]),
    ])
    func `a push has these header fields`(_ fields: [String: String], _ headers: [String: String]) {
        let made = ComposedMessage(form(fields)).apnsHeaders(topic: "", now: now)
        #expect(Dictionary(made.map { ($0.name, $0.value) }) { $1 } == headers)
    }

    @Test func `a message has the same fields after it was read from them`() {
        let fields = [
            "title": "T", "subtitle": "S", "body": "B", "title.de": "D", "sound": "default", "badge": "1", "ttl": "5",
            "action0.id": "go", "action0.title": "Go", "media": "https://a/b.png", "data": "a=1", "silent": "yes",
        ]
        let message = ComposedMessage(form(fields, languages: ["de"]))
        #expect(ComposedMessage(message.fields) == message)
    }

    @Test(arguments: [
        ("token", "a0", nil), ("person", "ann", "$UserId:{ann}"), ("expression", "a && b", "a && b"),
        ("everybody", "", ""),
        ("topic", "news", nil),
    ])
    func `recipients of a hub are an expression`(_ kind: String, _ value: String, _ expression: String?) {
        let target = ComposedTarget(form(["to": kind, kind: value]))
        #expect(target.expression == expression && !target.isEmpty)
    }

    @Test func `a campaign's document has what was filled in`() throws {
        let fields = [
            "to": "expression", "expression": "news", "name": "n", "when": "local", "localTime": "2030-01-01T09:00",
            "past": "next-day", "gap": "end", "overlap": "first", "unknownZone": "skip", "rate": "5",
            "quietFrom": "22:00",
            "quietTo": "08:00", "quietThen": "wait", "quietUnknownZone": "skip", "capMost": "2", "capHours": "24",
            "withB": "yes", "shareA": "45", "shareB": "45", "holdOut": "10", "titleB": "Other", "title": "T",
        ]
        let send = ComposedSend(form(fields))
        let document = send.campaign(content: try send.message.content(), at: nil)
        #expect(
            document.json
                == #"{"name":"n","audience":"news","rate":5,"local":{"time":"2030-01-01T09:00","past":"next-day","gap":"end","overlap":"first","unknownZone":"skip"},"quiet":{"from":"22:00","to":"08:00","then":"wait","unknownZone":"skip"},"cap":{"most":2,"hours":24},"experiment":{"holdOut":10,"variants":[{"name":"A","share":45,"content":{"title":"T"}},{"name":"B","share":45,"content":{"title":"Other"}}]}}"#
        )
    }

    @Test(arguments: [
        (
            ["token": "a0", "app": "com.x"],
            #"{"token":"a0","headers":{"apns-topic":"com.x","apns-push-type":"alert"},"payload":{}}"#
        ),
        (["to": "device", "device": "7"], #"{"device":"7","headers":{"apns-push-type":"alert"},"payload":{}}"#),
    ])
    func `a push names its device`(_ fields: [String: String], _ body: String) {
        #expect(ComposedSend(form(fields)).push(payload: .object([]), now: now).json == body)
    }
}

import AgentProtocol
import Testing

@testable import AgentEngine

@Suite struct LiveActivityPushTests {
    private func push(_ aps: String) throws(LiveActivityPush.Fault) -> LiveActivityPush {
        try LiveActivityPush(payload: Array(#"{"aps":{\#(aps)}}"#.utf8))
    }

    private static let update = #""event":"update","timestamp":1790000000,"content-state":{"stop":1}"#
    private static let start =
        #""event":"start","timestamp":1790000000,"attributes-type":"Delivery","attributes":{"order":"A 7"},"content-state":{}"#
    private static let end = #""event":"end","timestamp":1790000000"#

    // MARK: Faults

    @Test(arguments: [
        ("", "the payload is not JSON"), ("{", "the payload is not JSON"), ("[]", "the payload has no aps"),
        ("{}", "the payload has no aps"), (#"{"aps":1}"#, "the payload has no aps"),
        (#"{"aps":[]}"#, "the payload has no aps"),
        (#"{"aps":{}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"event":"update","content-state":{}}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":"1790000000","event":"end"}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":0,"event":"end"}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":-5,"event":"end"}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":1790000000000,"event":"end"}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":1e300,"event":"end"}}"#, "aps.timestamp is to be seconds since 1970"),
        (#"{"aps":{"timestamp":1}}"#, "aps.event is to be start, update or end"),
        (#"{"aps":{"timestamp":1,"event":"stop"}}"#, "aps.event is to be start, update or end"),
        (#"{"aps":{"timestamp":1,"event":7}}"#, "aps.event is to be start, update or end"),
        (#"{"aps":{"timestamp":1,"event":"update"}}"#, "an update has aps.content-state"),
        (
            #"{"aps":{"timestamp":1,"event":"start","attributes":{},"content-state":{}}}"#,
            "a start has aps.attributes-type, the name of the attributes' type"
        ),
        (
            #"{"aps":{"timestamp":1,"event":"start","attributes-type":"","attributes":{},"content-state":{}}}"#,
            "a start has aps.attributes-type, the name of the attributes' type"
        ),
        (
            #"{"aps":{"timestamp":1,"event":"start","attributes-type":"A","content-state":{}}}"#,
            "a start has aps.attributes, an object"
        ),
        (
            #"{"aps":{"timestamp":1,"event":"start","attributes-type":"A","attributes":[],"content-state":{}}}"#,
            "a start has aps.attributes, an object"
        ),
        (
            #"{"aps":{"timestamp":1,"event":"start","attributes-type":"A","attributes":{}}}"#,
            "a start has aps.content-state"
        ),
    ])
    func `a payload with a fault is refused with a sentence`(payload: String, sentence: String) {
        let error = #expect(throws: LiveActivityPush.Fault.self) {
            try LiveActivityPush(payload: Array(payload.utf8))
        }
        #expect(error?.sentence == sentence)
    }

    // MARK: Events

    @Test func `an update replaces the content`() throws {
        let push = try push(Self.update + #","stale-date":1790000060,"relevance-score":75"#)
        #expect(push.event == .update && push.timestamp == 1_790_000_000 && push.alert == nil)
        #expect(
            push.content
                == LiveActivityContent(
                    state: #"{"stop":1}"#, staleDate: 1_790_000_060_000, relevanceScore: 75))
    }

    @Test(arguments: [
        (#"{"stop":1}"#, #"{"stop":1}"#), (#"{ "a" : [ 1, 2.50 ] }"#, #"{"a":[1,2.50]}"#), ("7", "7"),
        (#""text""#, #""text""#), ("null", "null"), ("[]", "[]"),
    ])
    func `a content state may be any value`(state: String, text: String) throws {
        let push = try push(#""event":"update","timestamp":1,"content-state":\#(state)"#)
        #expect(push.content?.state == text)
    }

    @Test(arguments: [("1790000000.9", 1_790_000_000), ("1.79e9", 1_790_000_000), ("1", 1)] as [(String, Int64)])
    func `a timestamp may have a fraction`(text: String, seconds: Int64) throws {
        #expect(try push(#""event":"end","timestamp":\#(text)"#).timestamp == seconds)
    }

    @Test(
        arguments: [
            ("", .none), (#","input-push-token":1"#, .token), (#","input-push-token":0"#, .none),
            (#","input-push-token":"1""#, .none), (#","input-push-channel":"c""#, .channel("c")),
            (#","input-push-token":1,"input-push-channel":"c""#, .channel("c")),
        ] as [(String, LiveActivityPushes)])
    func `a start names its attributes and the pushes that update it`(
        members: String, pushes: LiveActivityPushes
    ) throws {
        let push = try push(Self.start + members)
        #expect(push.event == .start(attributesType: "Delivery", attributes: #"{"order":"A 7"}"#, pushes))
        #expect(push.content == LiveActivityContent(state: "{}"))
    }

    @Test(
        arguments: [
            ("", .standard), (#","dismissal-date":"now""#, .standard),
            (#","dismissal-date":1790000060"#, .after(1_790_000_060_000)),
            (#","dismissal-date":1790000000"#, .immediate), (#","dismissal-date":1"#, .immediate),
            (#","dismissal-date":0"#, .immediate),
        ] as [(String, LiveActivityDismissal)])
    func `an end may say when the activity leaves the screen`(
        members: String, dismissal: LiveActivityDismissal
    ) throws {
        let push = try push(Self.end + members)
        #expect(push.event == .end(dismissal) && push.content == nil)
    }

    @Test func `an end may bring the last content`() throws {
        let push = try push(Self.end + #","content-state":{"stop":9}"#)
        #expect(push.content == LiveActivityContent(state: #"{"stop":9}"#))
    }

    // MARK: Alerts

    @Test(
        arguments: [
            (#""alert":"Milk is here""#, LiveActivityAlert(title: "", body: "Milk is here")),
            (#""alert":{"title":"Milk","body":"Here"}"#, LiveActivityAlert(title: "Milk", body: "Here")),
            (
                #""alert":{"title":"Milk","body":"Here","sound":"bell.wav"}"#,
                LiveActivityAlert(title: "Milk", body: "Here", sound: NotificationSound(name: "bell.wav"))
            ),
            (
                #""alert":{"body":"Here","sound":"default"}"#,
                LiveActivityAlert(title: "", body: "Here", sound: NotificationSound())
            ),
            (
                #""alert":"Here","sound":"default""#,
                LiveActivityAlert(title: "", body: "Here", sound: NotificationSound())
            ),
            (
                #""alert":{"title":{"loc-key":"T"},"body":{"loc-key":"B","loc-args":["1"]}}"#,
                LiveActivityAlert(title: "T", body: "B")
            ),
            (#""alert":{}"#, LiveActivityAlert(title: "", body: "")),
        ])
    func `an alert has its texts and its sound`(members: String, alert: LiveActivityAlert) throws {
        #expect(try push(Self.update + "," + members).alert == alert)
    }

    @Test func `a sound without an alert draws no attention`() throws {
        #expect(try push(Self.update + #","sound":"default""#).alert == nil)
    }
}

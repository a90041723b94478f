import AgentProtocol
import Testing

struct PayloadContentTests {
    private func content(_ payload: String) -> NotificationContent { NotificationContent(payload: payload) }

    @Test(arguments: [
        (#"{"aps":{"alert":"Hello"}}"#, "", "", "Hello"),
        (#"{"aps":{"alert":{"title":"T","subtitle":"S","body":"B"}}}"#, "T", "S", "B"),
        (#"{"aps":{"alert":{"title":"T"}}}"#, "T", "", ""),
        (#"{"aps":{"alert":{"title":7,"subtitle":null,"body":["B"]}}}"#, "", "", ""),
        (#"{"aps":{"alert":7}}"#, "", "", ""),
        (#"{"aps":{"alert":["a"]}}"#, "", "", ""),
        (#"{"aps":{}}"#, "", "", ""),
        (#"{"aps":"Hello"}"#, "", "", ""),
        (#"{"todo":"milk"}"#, "", "", ""),
        ("[]", "", "", ""),
        ("Hello", "", "", ""),
        ("", "", "", ""),
    ])
    func `an alert is a body or a dictionary, and what is neither is no text`(
        payload: String, title: String, subtitle: String, body: String
    ) {
        let content = content(payload)
        #expect([content.title, content.subtitle, content.body] == [title, subtitle, body])
        #expect(content.userInfo == .json(payload))
    }

    @Test(
        arguments: [
            ("3", 3), ("0", 0), ("-1", nil), ("1.5", nil), ("1e300", nil), ("true", nil), ("\"3\"", nil), ("null", nil),
        ] as [(String, Int?)])
    func `a badge is a whole number that is not negative`(json: String, badge: Int?) {
        #expect(content(#"{"aps":{"badge":\#(json)}}"#).badge == badge)
    }

    @Test(
        arguments: [
            (#""default""#, NotificationSound()),
            (#""ding.wav""#, NotificationSound(name: "ding.wav")),
            (
                #"{"critical":1,"name":"ding.wav","volume":0.5}"#,
                NotificationSound(name: "ding.wav", isCritical: true, volume: 0.5)
            ),
            (#"{"critical":1,"volume":7}"#, NotificationSound(isCritical: true, volume: 1)),
            (#"{"name":"ding.wav","volume":0.5}"#, NotificationSound(name: "ding.wav")),
            (#"{"name":"default"}"#, NotificationSound()), (#""""#, nil), ("1", nil), ("{}", nil),
        ] as [(String, NotificationSound?)])
    func `a sound is named by a text or by a dictionary's member`(json: String, sound: NotificationSound?) {
        #expect(content(#"{"aps":{"sound":\#(json)}}"#).sound == sound)
    }

    @Test(arguments: [
        (#""passive""#, NotificationContent.InterruptionLevel.passive), (#""active""#, .active),
        (#""time-sensitive""#, .timeSensitive), (#""critical""#, .critical), (#""loud""#, .active), ("2", .active),
    ])
    func `an interruption level is one of four texts, else active`(
        json: String, level: NotificationContent.InterruptionLevel
    ) {
        #expect(content(#"{"aps":{"interruption-level":\#(json)}}"#).interruptionLevel == level)
    }

    @Test(arguments: [("0.5", 0.5), ("1", 1), ("0", 0), ("1.1", 0), ("-0.1", 0), ("true", 0), ("\"1\"", 0)])
    func `a relevance score is a number from 0 to 1, else 0`(json: String, score: Double) {
        #expect(content(#"{"aps":{"relevance-score":\#(json)}}"#).relevanceScore == score)
    }

    @Test func `texts of their own are taken as they are, and left out when they are none`() {
        let full = content(
            #"{"aps":{"category":"C","thread-id":"T","target-content-id":"W","filter-criteria":"F","#
                + #""alert":{"launch-image":"L"}}}"#)
        #expect(full.categoryIdentifier == "C")
        #expect(full.threadIdentifier == "T")
        #expect(full.targetContentIdentifier == "W")
        #expect(full.filterCriteria == "F")
        #expect(full.launchImageName == "L")
        #expect(content(#"{"aps":{"alert":{"body":"B","category":"C"}}}"#).categoryIdentifier.isEmpty)
        let broken = content(
            #"{"aps":{"category":1,"thread-id":{},"target-content-id":[],"filter-criteria":true,"#
                + #""alert":{"launch-image":1}}}"#
        )
        #expect([broken.categoryIdentifier, broken.threadIdentifier, broken.launchImageName] == ["", "", ""])
        #expect(broken.targetContentIdentifier == nil && broken.filterCriteria == nil)
    }

    @Test(arguments: [
        (#"{"aps":{"alert":"Milk"}}"#, DeliveryKind.foreground), (#"{"aps":{"alert":{"body":"Milk"}}}"#, .foreground),
        (#"{"aps":{"sound":"default"}}"#, .foreground), (#"{"aps":{"badge":3}}"#, .foreground),
        (#"{"aps":{"content-available":1}}"#, .background),
        (#"{"aps":{"content-available":1,"alert":"Milk"}}"#, .foregroundAndBackground),
        (#"{"aps":{"content-available":1,"badge":0}}"#, .foregroundAndBackground),
        (#"{"aps":{"content-available":0,"alert":"Milk"}}"#, .foreground), (#"{"aps":{}}"#, .background),
        (#"{"todo":"Milk"}"#, .background), (#"{"aps":{"alert":7,"content-available":"1"}}"#, .background),
        ("[]", .background), ("no JSON", .background), ("", .background),
    ])
    func `the payload chooses the handlers`(payload: String, kind: DeliveryKind) {
        #expect(PayloadDelivery(payload: payload).kind == kind)
    }
}

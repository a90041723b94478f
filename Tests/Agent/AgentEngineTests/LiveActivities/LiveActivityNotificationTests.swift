import AgentProtocol
import DeviceTestSupport
import Testing

@testable import AgentEngine

@Suite struct LiveActivityNotificationTests {
    private func request(
        _ texts: LiveActivityTexts?, attributes: String = #"{"order":"A 7","count":3,"shop":{"name":"Corner"}}"#,
        state: String = #"{"driver":"Ana","progress":0.25,"stop":{"name":"Main Street","left":2}}"#,
        relevance: Double = 0, alert: LiveActivityAlert? = nil
    ) -> NotificationRequest {
        let activity = LiveActivity(
            id: "00112233445566778899aabbccddeeff", attributesType: "Delivery", attributes: attributes,
            content: LiveActivityContent(state: state, relevanceScore: relevance))
        let record = LiveActivityRecord(app: "com.example.todo", activity: activity, pushes: .none, startedAt: noon)
        return LiveActivityNotification(record).request(texts, appName: "Todo", alert: alert)
    }

    @Test(arguments: [
        ("Order {order}", "Order A 7"), ("{state.driver} arrives", "Ana arrives"), ("{count} items", "3 items"),
        ("{state.stop.name}: {state.stop.left}", "Main Street: 2"), ("{shop.name}", "Corner"),
        ("{order}{order}", "A 7A 7"), ("no names", "no names"), ("", ""),
        // Names without a value stay as they are.
        ("{driver}", "{driver}"), ("{state.order}", "{state.order}"), ("{order.name}", "{order.name}"),
        ("{}", "{}"), ("{ order }", "{ order }"), ("{Order}", "{Order}"),
        ("{state.stop.name.first}", "{state.stop.name.first}"),
        // Braces without a partner.
        ("{order", "{order"), ("order}", "order}"), ("{{order}", "{{order}"), ("}{order}{", "}A 7{"),
        // A value that is no text is written as JSON.
        ("{shop}", #"{"name":"Corner"}"#), ("{state.stop}", #"{"name":"Main Street","left":2}"#),
    ])
    func `names in braces are replaced by their values`(text: String, filled: String) {
        let content = request(LiveActivityTexts(title: text, body: text)).content
        #expect(content.title == filled && content.body == filled)
    }

    @Test func `a value is not looked through for names again`() {
        let content = request(LiveActivityTexts(title: "{order}"), attributes: #"{"order":"{order}"}"#).content
        #expect(content.title == "{order}")
    }

    @Test func `without texts the app's name and the members of the content state are shown`() {
        let content = request(nil, state: #"{"driver":"Ana","left":2,"late":false}"#).content
        #expect(content.title == "Todo")
        #expect(content.body == "driver: Ana\nleft: 2\nlate: false")
        #expect(request(LiveActivityTexts(), state: #""on its way""#).content.body == "on its way")
        #expect(request(LiveActivityTexts(), state: "{}").content.body == "")
    }

    @Test(
        arguments: [
            ("0.25", 0.25), ("0", 0), ("1", 1), ("-3", 0), ("1.5", 1), ("100", 1), ("1e300", 1), (#""0.5""#, nil),
            ("true", nil), ("null", nil),
        ] as [(String, Double?)])
    func `a progress is a number from 0 to 1`(number: String, progress: Double?) {
        let state = #"{"progress":\#(number)}"#
        #expect(request(LiveActivityTexts(progress: "state.progress"), state: state).content.progress == progress)
        #expect(request(nil, state: state).content.progress == progress, "without texts it is found by its name")
        #expect(request(LiveActivityTexts(title: "t"), state: state).content.progress == nil, "texts name it")
    }

    @Test func `a progress may be an attribute, and may be absent`() {
        #expect(request(LiveActivityTexts(progress: "count"), attributes: #"{"count":0.5}"#).content.progress == 0.5)
        #expect(request(LiveActivityTexts(progress: "state.none")).content.progress == nil)
        #expect(request(nil, state: "7").content.progress == nil)
    }

    @Test func `an update is quiet, and an alert has its texts and its sound`() {
        let texts = LiveActivityTexts(title: "Order {order}", body: "{state.driver} arrives")
        let quiet = request(texts).content
        #expect(quiet.title == "Order A 7" && quiet.body == "Ana arrives" && quiet.sound == nil)
        let sound = NotificationSound(name: "bell.wav")
        let alert = request(texts, alert: LiveActivityAlert(title: "Soon", body: "Two stops", sound: sound)).content
        #expect(alert.title == "Soon" && alert.body == "Two stops\nAna arrives" && alert.sound == sound)
        let bare = request(texts, alert: LiveActivityAlert(title: "", body: "")).content
        #expect(bare.title == "Order A 7" && bare.body == "Ana arrives" && bare.sound == nil)
    }

    @Test(arguments: [(-1, 0), (0.5, 0.5), (75, 1)] as [(Double, Double)])
    func `a relevance is within its range`(given: Double, shown: Double) {
        #expect(request(nil, relevance: given).content.relevanceScore == shown)
    }

    @Test func `the notification is the activity's own, and says that it is one`() {
        let request = request(nil)
        #expect(request.identifier == "aldaba.activity.00112233445566778899aabbccddeeff")
        #expect(LiveActivityRecord.id(ofIdentifier: request.identifier) == "00112233445566778899aabbccddeeff")
        #expect(LiveActivityRecord.id(ofIdentifier: "milk") == nil)
        #expect(request.content.isLiveActivity && request.trigger == nil)
    }
}

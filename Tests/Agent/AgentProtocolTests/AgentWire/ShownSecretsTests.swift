import AgentProtocol
import AldabaTestSupport
import Testing

struct ShownSecretsTests {
    @Test func `an app's secret is not shown with its first message`() throws {
        let message = AppMessage.hello(version: 1, app: "com.example.todo", secret: "secret-of-todo", run: "one")
        for text in [shown(message), shown([message])] {
            #expect(text.contains("hello") && text.contains("com.example.todo") && text.contains("one"))
            #expect(text.contains("<redacted>") && !text.contains("secret-of-todo"))
        }
        // What is sent has it.
        #expect(String(decoding: try message.frame(), as: UTF8.self).contains("secret-of-todo"))
        #expect(!shown(AppMessage.hello(version: 1, app: "com.example.todo", secret: nil)).contains("redacted"))
    }

    @Test func `what carries no secret is shown as it is`() {
        #expect("\(AppMessage.ready)" == "ready")
        #expect("\(AppMessage.getSettings(request: 7))" == "getSettings(7)")
        let asked = AppMessage.requestAuthorization(request: 7, options: 5)
        #expect("\(asked)" == "requestAuthorization(request: 7, options: 5)")
    }

    @Test func `of bytes about relaying only the number is shown`() {
        let text = shown(AppMessage.relay(RelayPacket([231, 232, 233])))
        #expect(text.contains("byteCount") && !text.contains("231"))
    }
}

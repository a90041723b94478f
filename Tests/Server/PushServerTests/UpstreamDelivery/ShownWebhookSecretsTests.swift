import AldabaTestSupport
import PushCore
import PushServer
import Testing

@Test func `a webhook's secret is not shown with the webhook`() {
    let webhook = Webhook(
        app: AppID(rawValue: 1), url: "https://example.com/hook", secret: "whsec-of-todo",
        setAt: Timestamp(seconds: 1_780_272_000))
    #expect(webhook.secret == "whsec-of-todo")
    let text = shown(webhook)
    #expect(text.contains("example.com") && text.contains("<redacted>") && !text.contains("whsec-of-todo"))
}

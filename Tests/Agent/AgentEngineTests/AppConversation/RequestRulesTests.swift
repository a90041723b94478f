import AgentEngine
import AgentProtocol
import Testing

@Suite struct RequestRulesTests {
    private func request(_ change: (inout NotificationContent) -> Void = { _ in }) -> NotificationRequest {
        var content = NotificationContent()
        content.title = "Milk"
        change(&content)
        return NotificationRequest(identifier: "milk", content: content)
    }

    private func code(
        _ request: NotificationRequest, _ authorization: AppNotificationRecord.Authorization? = .authorized
    ) -> Int? {
        let refusal = RequestRules.refusal(of: request, authorization: authorization) { _ in "never" }
        guard case .failed(let code, _)? = refusal else { return nil }
        return code
    }

    @Test func `a request that is right is not refused`() { #expect(code(request()) == nil) }

    @Test(arguments: [nil, .denied, .notDetermined] as [AppNotificationRecord.Authorization?])
    func `who may not show anything adds nothing`(authorization: AppNotificationRecord.Authorization?) {
        #expect(code(request(), authorization) == RequestRules.Code.notAllowed)
    }

    @Test func `each fault has its code`() {
        #expect(code(request { $0.badge = -1 }) == RequestRules.Code.badgeInvalid)
        #expect(code(request { $0.title = "" }) == RequestRules.Code.noContent)
        #expect(
            code(request { $0.body = String(repeating: "a", count: RequestRules.longestRequest) })
                == RequestRules.Code.noContent)
        var timed = request()
        timed.trigger = .timeInterval(seconds: 1, repeats: false)
        #expect(code(timed) == RequestRules.Code.noDate)
    }
}

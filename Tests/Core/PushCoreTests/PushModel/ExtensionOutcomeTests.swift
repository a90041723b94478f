import PushCore
import Testing

struct ExtensionOutcomeTests {
    @Test(arguments: ExtensionOutcome.allCases)
    func `an outcome is read back from what the timeline says`(outcome: ExtensionOutcome) {
        let state = NotificationState.extended(outcome.text(milliseconds: 412))
        #expect(state.text == "extended(\(outcome.rawValue), 412 ms)")
        guard case .extended(let text)? = NotificationState(text: state.text) else {
            Issue.record("\(state.text) is no state")
            return
        }
        #expect(ExtensionOutcome(text: text) == outcome)
    }

    @Test(arguments: ["", "other, 5 ms", "Changed, 5 ms", ", 5 ms"])
    func `another text is none`(text: String) { #expect(ExtensionOutcome(text: text) == nil) }

    @Test func `a time is never negative`() {
        #expect(ExtensionOutcome.changed.text(milliseconds: -3) == "changed, 0 ms")
    }
}

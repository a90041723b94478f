import PushCore
import Testing

@Suite struct NotificationStateTests {
    static let all: [NotificationState] =
        [
            .accepted, .stored, .sent, .acked, .decrypted, .undecryptable("wrongKey"), .extended("timedOut"),
            .presented, .unanswered, .handed, .opened,
            .action("MARK_DONE"), .dismissed, .expired, .replaced, .withdrawn, .failed("PayloadEmpty"),
        ] + NotificationState.Suppression.allCases.map { .suppressed($0) }
        + NotificationState.DropReason.allCases.map { .dropped($0) }

    @Test(arguments: all)
    func `a state is read back from its text`(state: NotificationState) {
        #expect(NotificationState(text: state.text) == state)
    }

    @Test(arguments: [
        "", "received", "decrypted()", "undecryptable", "sent(", "sent()", "dropped", "dropped(tired)",
        "suppressed(offline)", "action", "Accepted",
    ])
    func `text that is no state is refused`(text: String) {
        #expect(NotificationState(text: text) == nil)
    }

    @Test func `an action's identifier may contain parentheses`() {
        #expect(NotificationState(text: "action(a(b))") == .action("a(b)"))
    }
}

import PushCore
import Testing

@testable import aldaba

private func progress(_ awaited: AwaitedState, _ states: String...) -> AwaitedState.Progress {
    awaited.progress(states.compactMap { NotificationState(text: $0) })
}

@Suite struct AwaitedStateTests {
    @Test(arguments: [
        (AwaitedState.accepted, ["accepted"]), (.acked, ["accepted", "sent", "acked"]),
        (.acked, ["accepted", "suppressed(settings)"]), (.acked, ["accepted", "handed"]),
        (.presented, ["accepted", "acked", "presented"]), (.presented, ["accepted", "dismissed"]),
        (.presented, ["accepted", "action(REPLY)"]), (.opened, ["accepted", "presented", "opened"]),
        (.opened, ["accepted", "action(REPLY)"]), (.presented, ["accepted", "presented", "expired"]),
    ])
    func `a state or a later one is reached`(awaited: AwaitedState, states: [String]) {
        #expect(awaited.progress(states.compactMap { NotificationState(text: $0) }) == .reached)
    }

    @Test func `an earlier state is pending`() {
        #expect(progress(.acked, "accepted", "stored", "sent") == .pending)
        #expect(progress(.presented, "accepted", "acked", "extended(changed)") == .pending)
        #expect(progress(.opened, "accepted", "presented") == .pending)
        // Its placeholder is shown.
        #expect(progress(.presented, "accepted", "acked", "undecryptable(code)") == .pending)
        #expect(AwaitedState.accepted.progress([]) == .pending)
    }

    @Test(arguments: [
        "expired", "replaced", "withdrawn", "dropped(overflow)", "failed(code)", "suppressed(budget)",
    ])
    func `an end before it is told with its state`(text: String) throws {
        let state = try #require(NotificationState(text: text))
        #expect(progress(.presented, "accepted", "stored", text) == .ended(state))
    }

    @Test func `a dismissed notification is not opened`() {
        #expect(progress(.opened, "accepted", "presented", "dismissed") == .ended(.dismissed))
    }
}

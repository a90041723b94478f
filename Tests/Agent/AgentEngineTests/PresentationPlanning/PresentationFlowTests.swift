import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

struct PresentationFlowTests {
    @Test func `each intent is asked once, and an earlier run's is marked`() {
        var flow = PresentationFlow(inherited: [NotificationID(rawValue: 10)])
        #expect(flow.wantsPage)
        let first = flow.take([waiting(1), waiting(2)])
        #expect(first.map(\.notification.sequence) == [1, 2])
        #expect(first.map(\.again) == [true, false])
        #expect(!flow.wantsPage)
        flow.committed()
        #expect(flow.take([waiting(1), waiting(2), waiting(3)]).map(\.notification.sequence) == [3])
    }

    @Test func `a full window waits for an answer`() {
        var flow = PresentationFlow(inherited: [])
        let page = (1...Int64(PresentationFlow.window)).map { waiting($0) }
        #expect(flow.take(page).count == PresentationFlow.window)
        #expect(!flow.wantsPage)
        flow.answered(NotificationID(rawValue: 10))
        #expect(flow.wantsPage)
    }
}

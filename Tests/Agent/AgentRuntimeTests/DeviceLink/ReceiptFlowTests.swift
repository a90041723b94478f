import AgentEngine
import Testing

@testable import AgentRuntime

struct ReceiptFlowTests {
    @Test func `batches go out one after another up to the window`() {
        var flow = ReceiptFlow()
        flow.committed()
        #expect(flow.readAfter == nil)
        flow.sessionOpened()
        var last: Int64 = 0
        for _ in 0..<ReceiptFlow.window {
            #expect(flow.readAfter == OutboxPlace(rawValue: last))
            let places = (last + 1...last + 200).map(OutboxPlace.init(rawValue:))
            #expect(flow.batch(places) == "\(last + 1)-\(last + 200)")
            last += 200
        }
        #expect(flow.readAfter == nil)
        #expect(flow.confirmed("1-200") == 1...200)
        #expect(flow.confirmed("1-200") == nil)
        #expect(flow.readAfter == OutboxPlace(rawValue: last))
        #expect(flow.batch([]) == nil)
        #expect(flow.readAfter == nil)
        flow.committed()
        #expect(flow.readAfter == OutboxPlace(rawValue: last))
    }

    @Test func `a new session begins with the oldest receipt again`() {
        var flow = ReceiptFlow()
        flow.sessionOpened()
        _ = flow.batch([1, 2])
        flow.sessionClosed()
        #expect(flow.readAfter == nil)
        flow.sessionOpened()
        #expect(flow.readAfter == 0)
        #expect(flow.confirmed("1-2") == nil)
    }
}

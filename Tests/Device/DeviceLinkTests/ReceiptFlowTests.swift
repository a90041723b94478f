import Testing

@testable import DeviceLink

struct ReceiptFlowTests {
    @Test func `batches go out one after another up to the window`() {
        var flow = ReceiptFlow()
        flow.committed()
        #expect(flow.readAfter == nil)
        flow.sessionOpened()
        var place: Int64 = 0
        for _ in 0..<ReceiptFlow.window {
            #expect(flow.readAfter == place)
            #expect(flow.batch(Array(place + 1...place + 200)) == "\(place + 1)-\(place + 200)")
            place += 200
        }
        #expect(flow.readAfter == nil)
        #expect(flow.confirmed("1-200") == 1...200)
        #expect(flow.confirmed("1-200") == nil)
        #expect(flow.readAfter == place)
        #expect(flow.batch([]) == nil)
        #expect(flow.readAfter == nil)
        flow.committed()
        #expect(flow.readAfter == place)
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

import Testing

@testable import NATSCarrier

struct ArrivalOrderTests {
    @Test func `a batch that arrives after a newer one of its run, or again, is not accepted`() {
        var order = ArrivalOrder()
        let subjects = [
            "_INBOX.a.1", "_INBOX.a.2", "_INBOX.b.1", "_INBOX.a.9", "_INBOX.a.3", "_INBOX.a.9", "_INBOX.a.10",
        ]
        let accepted = subjects.map { order.accepts($0) }
        #expect(accepted == [true, true, true, true, false, false, true])
    }

    @Test func `a subject without a number has no order`() {
        var order = ArrivalOrder()
        let accepted = ["", "a", "a.", "a.b", "a.b"].filter { order.accepts($0) }
        #expect(accepted.count == 5)
    }

    @Test func `so many runs are remembered at most`() {
        var order = ArrivalOrder()
        let accepted = (0..<ArrivalOrder.limit).filter { order.accepts("run\($0).5") }
        #expect(accepted.count == ArrivalOrder.limit)
        let subjects = ["run0.5", "another.5", "another.5", "run0.1"]
        let further = subjects.map { order.accepts($0) }
        #expect(further == [false, true, false, true])
    }
}

import DeviceChannel
import PushCore
import Testing

@Suite struct DeliveryFlowTests {
    /// A flow that has read an empty mailbox.
    private func live(capacity: Int = 100) -> DeliveryFlow {
        var flow = DeliveryFlow(capacity: capacity)
        _ = flow.start()
        _ = flow.pageRead([])
        return flow
    }

    @Test func `it begins with the first page and goes on while pages are full`() {
        var flow = DeliveryFlow(capacity: 1000)
        #expect(flow.start() == [.page(after: nil, limit: 100)])
        let first = notifications(1...100)
        #expect(flow.pageRead(first) == [.write(first), .page(after: id(100), limit: 100)])
        let second = notifications(101...120)
        #expect(flow.pageRead(second) == [.write(second)])
        #expect(flow.isLive)
    }

    @Test func `where nothing waits no page is read, and what comes is written`() {
        var flow = DeliveryFlow(capacity: 1000)
        flow.nothingWaits()
        #expect(flow.start() == [])
        #expect(flow.isLive)
        #expect(flow.deliver(notifications(1...2)) == [.write(notifications(1...2))])
    }

    @Test func `what comes before the session is live is read from the mailbox`() {
        var flow = DeliveryFlow(capacity: 1000)
        flow.nothingWaits()
        let isTaken = flow.takesAtOnce(notification(1))
        #expect(!isTaken)
        #expect(flow.deliver(notifications(1...1)) == [])
        #expect(flow.start() == [.page(after: nil, limit: 100)])
    }

    @Test func `live ones are written as they come`() {
        var flow = live()
        #expect(flow.deliver(notifications(1...2)) == [.write(notifications(1...2))])
        #expect(flow.deliver([notification(3, stored: false)]) == [.write([notification(3, stored: false)])])
    }

    @Test func `what was written from a page is not written again`() {
        var flow = DeliveryFlow(capacity: 100)
        _ = flow.start()
        _ = flow.pageRead(notifications(1...3))
        #expect(flow.deliver(notifications(2...4)) == [.write([notification(4)])])
    }

    @Test func `a delivery while a page is read makes it read again`() {
        var flow = DeliveryFlow(capacity: 100)
        _ = flow.start()
        #expect(flow.deliver(notifications(5...6)) == [])
        #expect(flow.pageRead(notifications(1...4)) == [.write(notifications(1...4)), .page(after: id(4), limit: 96)])
        #expect(flow.pageRead(notifications(5...6)) == [.write(notifications(5...6))])
    }

    @Test func `what waits and is not delivered is read before what comes later`() {
        var flow = DeliveryFlow(capacity: 100)
        #expect(flow.waitingChanged() == [])
        #expect(flow.start() == [.page(after: nil, limit: 100)])
        #expect(flow.pageRead(notifications(1...2)) == [.write(notifications(1...2))])
        #expect(flow.waitingChanged() == [.page(after: id(2), limit: 98)])
        #expect(flow.deliver([notification(4)]) == [])
        #expect(flow.pageRead(notifications(3...3)) == [.write(notifications(3...3)), .page(after: id(3), limit: 97)])
        _ = flow.pageRead([])
        _ = flow.closed()
        #expect(flow.waitingChanged() == [])
    }

    @Test func `a choked connection leaves stored ones in the mailbox and gives the others back`() {
        var flow = live()
        #expect(flow.writabilityChanged(false) == [])
        #expect(flow.deliver([notification(1), notification(2, stored: false)]) == [.notSent([id(2)])])
        #expect(flow.writabilityChanged(true) == [.page(after: nil, limit: 100)])
        #expect(flow.pageRead([notification(1)]) == [.write([notification(1)])])
    }

    @Test func `a connection that chokes while a page is read gets that page later`() {
        var flow = DeliveryFlow(capacity: 100)
        _ = flow.start()
        _ = flow.deliver([notification(9, stored: false)])
        _ = flow.writabilityChanged(false)
        #expect(flow.pageRead(notifications(1...2)) == [.notSent([id(9)])])
        #expect(flow.writabilityChanged(true) == [.page(after: nil, limit: 100)])
    }

    @Test func `a full window stops it, and acknowledgements let it go on`() {
        var flow = live(capacity: 3)
        #expect(flow.deliver(notifications(1...5)) == [.write(notifications(1...3))])
        #expect(flow.capacityChanged(2) == [.page(after: id(3), limit: 2)])
        #expect(flow.pageRead(notifications(4...5)) == [.write(notifications(4...5))])
        #expect(flow.capacityChanged(5) == [.page(after: id(5), limit: 5)])
        #expect(flow.pageRead([]) == [] && flow.isLive)
    }

    @Test func `one attempt keeps its place among stored ones while a page is read`() {
        var flow = DeliveryFlow(capacity: 100)
        _ = flow.start()
        #expect(flow.deliver([notification(3, stored: false)]) == [])
        let page = [notification(1), notification(2), notification(4)]
        let expected = [notification(1), notification(2), notification(3, stored: false), notification(4)]
        #expect(flow.pageRead(page) == [.write(expected)])
        #expect(flow.deliver([notification(5)]) == [.write([notification(5)])])
    }

    @Test func `one attempt after a full page waits for the page it belongs to`() {
        var flow = DeliveryFlow(capacity: 1000)
        _ = flow.start()
        _ = flow.deliver([notification(150, stored: false)])
        _ = flow.pageRead(notifications(1...100))
        let rest = notifications(101...149)
        #expect(flow.pageRead(rest) == [.write(rest + [notification(150, stored: false)])])
    }

    @Test func `no more than a bounded number is held`() {
        var flow = DeliveryFlow(capacity: 1000)
        _ = flow.start()
        let directives = flow.deliver(notifications(1...130, stored: false))
        #expect(directives == [.notSent((101...130).map(id))])
    }

    @Test func `one attempt never moves the place from which is read`() {
        var flow = live()
        _ = flow.deliver([notification(9, stored: false)])
        #expect(flow.deliver([notification(8)]) == [.write([notification(8)])])
    }

    @Test func `nothing is read or written before the session is live`() {
        var flow = DeliveryFlow(capacity: 100)
        #expect(flow.writabilityChanged(true) == [] && flow.capacityChanged(50) == [])
        #expect(flow.deliver([notification(1), notification(2, stored: false)]) == [.notSent([id(2)])])
        #expect(flow.start() == [.page(after: nil, limit: 50)])
    }

    @Test func `a page that cannot be read ends the session and gives back what was held`() {
        var flow = DeliveryFlow(capacity: 100)
        _ = flow.start()
        _ = flow.deliver([notification(1, stored: false)])
        #expect(flow.pageFailed() == [.notSent([id(1)]), .fail])
        #expect(flow.pageFailed() == [] && flow.writabilityChanged(true) == [])
    }
}

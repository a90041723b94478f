import AldabaTestSupport
import Testing

@testable import AldabaAPNs

@Suite struct QueueTests {
    @Test func `deadlines come in the order of time, without those that were removed`() {
        var (heap, random) = (DeadlineHeap(), SeededGenerator(seed: 7))
        let start = PoolInstant.now
        let times = (0..<500).map { _ in Int.random(in: 0..<1000, using: &random) }
        for (number, time) in times.enumerated() {
            heap.insert(number, at: start + .milliseconds(time)) { _ in true }
        }
        let isLive = { (number: Int) in number % 3 != 0 }
        var found: [Int] = []
        while let number = heap.popDue(at: start + .seconds(1), isLive: isLive) { found.append(number) }
        #expect(found.count == times.indices.filter(isLive).count)
        #expect(found.map { times[$0] } == found.map { times[$0] }.sorted())
    }

    @Test func `a deadline that has not come is kept`() {
        var heap = DeadlineHeap()
        let start = PoolInstant.now
        heap.insert(1, at: start + .seconds(1)) { _ in true }
        #expect(heap.popDue(at: start) { _ in true } == nil)
        #expect(heap.first { _ in true } == start + .seconds(1))
    }

    @Test func `a queue without live requests does not grow`() {
        var queue = RequestQueue()
        for number in 0..<10_000 { queue.append(number) { _ in false } }
        #expect(queue.first { _ in true } ?? 0 > 9000)
    }

    @Test func `callers are admitted in order, and those that left are passed over`() {
        var queue = AdmissionQueue(limit: 2)
        let later = PoolInstant.now + .seconds(60)
        #expect(queue.enterNow() && queue.enterNow() && !queue.enterNow())
        for caller in 1...4 { #expect(queue.enter(caller, deadline: later) == false) }
        #expect(queue.cancel(2) && !queue.cancel(2))
        #expect(queue.leave() == 1)
        // A new caller does not overtake those that wait.
        #expect(queue.enterNow() == false)
        #expect(queue.leave() == 3 && queue.leave() == 4 && queue.leave() == nil)
        #expect(queue.open == 1 && queue.enterNow() && !queue.enterNow())
    }

    @Test func `a caller that waits ends at its deadline`() {
        var queue = AdmissionQueue(limit: 1)
        let now = PoolInstant.now
        #expect(queue.enterNow() == true)
        #expect(!queue.enter(1, deadline: now + .seconds(5)) && !queue.enter(2, deadline: now + .seconds(3)))
        #expect(queue.nextDeadline == now + .seconds(3))
        #expect(queue.popDue(at: now + .seconds(4)) == 2 && queue.popDue(at: now + .seconds(4)) == nil)
        #expect(queue.waitingCount == 1)
    }
}

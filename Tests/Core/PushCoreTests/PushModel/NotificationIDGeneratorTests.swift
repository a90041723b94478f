import AldabaTestSupport
import PushCore
import Testing

@Suite struct NotificationIDGeneratorTests {
    private let start = Timestamp(seconds: 1_780_272_000)

    @Test func `ids increase whatever the clock does`() {
        var random = SeededGenerator(seed: 7)
        var generator = NotificationIDGenerator(node: 3, highWater: 0)
        generator.raiseCeiling(to: .max)
        var last = NotificationID(rawValue: 0)
        for _ in 0..<20_000 {
            let now = start.adding(milliseconds: Int64.random(in: -10_000_000...10_000_000, using: &random))
            let id = generator.next(now: now)
            #expect(id.map { $0 > last } == true)
            last = id ?? last
        }
    }

    @Test func `no id passes the ceiling`() {
        var generator = NotificationIDGenerator(node: 0, highWater: 100)
        #expect(generator.next(now: start) == nil)
        generator.raiseCeiling(to: 102)
        #expect(generator.next(now: start)?.rawValue == 101)
        #expect(generator.next(now: start)?.rawValue == 102)
        #expect(generator.next(now: start) == nil)
    }

    @Test func `a used-up counter goes on in the next millisecond of the same node`() {
        var generator = NotificationIDGenerator(node: 5, highWater: 0)
        generator.raiseCeiling(to: .max)
        let ids = (0..<20_000).compactMap { _ in generator.next(now: start) }
        #expect(ids.count == 20_000)
        #expect(ids.allSatisfy { ($0.rawValue >> 13) & 0x1FF == 5 })
        #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `a clock that jumps ahead leaves room below the ceiling`() {
        var generator = NotificationIDGenerator(node: 0, highWater: 0)
        generator.raiseCeiling(to: generator.ceiling(until: start))
        let ids = (0..<10_000).compactMap { _ in generator.next(now: start.adding(milliseconds: 86_400_000)) }
        #expect(ids.count == 10_000)
    }

    @Test func `a generator that starts from the durable ceiling repeats nothing`() {
        var first = NotificationIDGenerator(node: 0, highWater: 0)
        let ceiling = first.ceiling(until: start.adding(milliseconds: 60_000))
        first.raiseCeiling(to: ceiling)
        let issued = (0..<1000).compactMap { _ in first.next(now: start) }
        #expect(issued.count == 1000)
        var second = NotificationIDGenerator(node: 0, highWater: ceiling)
        second.raiseCeiling(to: second.ceiling(until: start))
        let next = second.next(now: start.adding(milliseconds: -3_600_000))
        #expect(next.map { id in issued.allSatisfy { $0 < id } } == true)
    }

    @Test func `two nodes never make the same id in the same millisecond`() {
        var one = NotificationIDGenerator(node: 1, highWater: 0)
        var two = NotificationIDGenerator(node: 2, highWater: 0)
        one.raiseCeiling(to: .max)
        two.raiseCeiling(to: .max)
        let first = Set((0..<8000).compactMap { _ in one.next(now: start) })
        let second = Set((0..<8000).compactMap { _ in two.next(now: start) })
        #expect(first.isDisjoint(with: second))
    }
}

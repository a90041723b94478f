import CoreValues
import Testing

@testable import RelayAgent

@Suite struct StreamPullsTests {
    typealias Portion = StreamPulls.Portion

    private var pulls = StreamPulls()

    private mutating func ask(_ offset: Int64, _ length: Int64, prefix: [UInt8] = []) -> Bool {
        pulls.ask(offset, length, prefix: prefix)
    }

    private mutating func next(isTalking: Bool = true) -> Portion? {
        pulls.next(isTalking: isTalking, share: 16 << 20, at: 1)
    }

    /// All that is asked for while everything comes at once, in the same millisecond.
    private mutating func portions(isTalking: Bool = true) -> [Portion] {
        var all: [Portion] = []
        while let portion = pulls.next(isTalking: isTalking, share: 16 << 20, at: 1) {
            all.append(portion)
            pulls.arrived(Int(portion.length), at: portion.offset, now: 1)
        }
        return all
    }

    @Test("All that is asked for is passed on, a piece at a time while the devices talk", arguments: [false, true])
    mutating func window(isTalking: Bool) {
        let isTaken = ask(0, 1 << 20)
        #expect(isTaken)
        let first = next(isTalking: isTalking)
        #expect(first == Portion(offset: 0, length: isTalking ? 64 << 10 : 1 << 20, prefix: []))
        let more = next(isTalking: isTalking)
        #expect(more == nil)
        pulls.arrived(64 << 10, at: 0, now: 1)
        let second = next(isTalking: isTalking)
        #expect(second == (isTalking ? Portion(offset: 64 << 10, length: 64 << 10, prefix: []) : nil))
    }

    @Test("All of it is asked for once, in order, also what was asked for later")
    mutating func whole() {
        let isTaken = ask(10, 500_000, prefix: [1])
        #expect(isTaken)
        let isMoreTaken = ask(500_010, 300_000)
        #expect(isMoreTaken)
        let all = portions(isTalking: false)
        #expect(all.first?.prefix == [1] && all.dropFirst().allSatisfy { $0.prefix.isEmpty })
        #expect(all.reduce(10) { $0 == $1.offset ? $0 + $1.length : -1 } == 800_010)
        let isEndTaken = ask(800_010, 5)
        #expect(isEndTaken)
        let end = portions(isTalking: true)
        #expect(end == [Portion(offset: 800_010, length: 5, prefix: [])])
    }

    @Test(
        "A long way has more under way, up to the stream's share",
        arguments: [(16 << 20, 8 << 20), (3 << 20, 3 << 20)] as [(Int64, Int64)])
    mutating func long(share: Int64, most: Int64) {
        var (now, offset, largest): (Timestamp, Int64, Int64) = (0, 0, 0)
        let isTaken = ask(0, 8 << 20)
        #expect(isTaken)
        for _ in 0..<20 {
            now += 50
            // All that was asked for comes after the time there and back.
            while let portion = pulls.next(isTalking: false, share: share, at: now - 50) {
                pulls.arrived(Int(portion.length), at: portion.offset, now: now)
                largest = max(largest, portion.length)
                offset = portion.offset + portion.length
                now += 50
            }
            let isMoreTaken = ask(offset, 8 << 20)
            #expect(isMoreTaken)
        }
        #expect(largest == most)
    }

    @Test("Where nothing is asked for, the digest is passed on all the same")
    mutating func nothing() {
        let isTaken = ask(70, 0, prefix: [7])
        #expect(isTaken)
        let asked = portions(isTalking: true)
        #expect(asked == [Portion(offset: 70, length: 0, prefix: [7])])
    }

    @Test("Where all was there, but another, it is asked for from the beginning")
    mutating func another() {
        let isTaken = ask(500_000, 0, prefix: [7])
        let nothing = next()
        let isTakenAnew = ask(0, 500_000)
        let all = portions()
        #expect(isTaken && isTakenAnew && nothing?.length == 0)
        #expect(all.first?.offset == 0 && all.reduce(0) { $0 == $1.offset ? $0 + $1.length : -1 } == 500_000)
    }

    @Test("What is out of order is refused")
    mutating func order() {
        let isTaken = ask(0, 1 << 20)
        #expect(isTaken)
        let isRepetitionTaken = ask(0, 5)
        #expect(!isRepetitionTaken)
        let isPrefixTaken = ask(1 << 20, 5, prefix: [1])
        #expect(!isPrefixTaken)
        let isNextTaken = ask(1 << 20, 5)
        #expect(isNextTaken)
    }

    @Test("Where the stream begins anew the rest lies further to the front")
    mutating func anew() {
        let isTaken = ask(300_000, 1 << 20, prefix: [1])
        #expect(isTaken)
        let first = next()
        #expect(first == Portion(offset: 300_000, length: 64 << 10, prefix: [1]))
        pulls.arrived(64 << 10, at: 0, now: 1)
        let second = next()
        #expect(second == Portion(offset: 64 << 10, length: 64 << 10, prefix: []))
        // As the app counts from here on.
        let isNextTaken = ask(1 << 20, 5)
        #expect(isNextTaken)
    }
}

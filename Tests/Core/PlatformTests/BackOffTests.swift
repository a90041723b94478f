import AldabaTestSupport
import Platform
import Testing

/// Always the same number.
private struct Constant: RandomNumberGenerator {
    var number: UInt64
    mutating func next() -> UInt64 { number }
}

@Suite struct BackOffTests {
    @Test func `delays double from the base to the cap, and begin anew after a reset`() {
        var backOff = BackOff(base: 100, cap: 1000)
        var random = Constant(number: .max)
        #expect((0..<6).map { _ in backOff.next(using: &random) } == [100, 200, 400, 800, 1000, 1000])
        backOff.reset()
        #expect(backOff.next(using: &random) == 100)
    }

    @Test func `a delay is anything between nothing and its ceiling`() {
        var random = SeededGenerator(seed: 7)
        var delays: [Int64] = []
        for _ in 0..<1000 {
            var backOff = BackOff(base: 100, cap: 1000)
            delays.append(backOff.next(using: &random))
        }
        #expect(delays.allSatisfy { (0...100).contains($0) })
        #expect(delays.contains { $0 < 10 } && delays.contains { $0 > 90 })
    }

    @Test(.timeLimit(.minutes(5)), arguments: [UInt64(0), 1, 2, .max])
    func `a source that always says the same gives delays all the same`(number: UInt64) {
        var backOff = BackOff(base: 1, cap: 6)
        var random = Constant(number: number)
        #expect((0..<6).allSatisfy { _ in (0...6).contains(backOff.next(using: &random)) })
    }

    @Test(arguments: [(Int64.max, Int64.max), (0, 0), (-5, -1), (.max, 1), (1, .max)])
    func `no base, cap or number of attempts traps`(base: Int64, cap: Int64) {
        var backOff = BackOff(base: base, cap: cap)
        var random = Constant(number: .max)
        for _ in 0..<200 { #expect(backOff.next(using: &random) >= 1) }
    }

    @Test func `without jitter the delays are those of the base and the cap, from now on`() {
        var backOff = BackOff(base: .seconds(10), cap: .seconds(40))
        let begin = ContinuousClock.now
        let lengths = (0..<4).map { _ in (backOff.deadline() - begin) / .seconds(10) }
        #expect(lengths.map { Int($0) } == [1, 2, 4, 4])
        backOff.reset()
        #expect(backOff.deadline() - begin < .seconds(19))
        #expect(backOff.next() == 20_000)
    }
}

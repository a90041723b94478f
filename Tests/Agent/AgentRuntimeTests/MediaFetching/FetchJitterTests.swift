import AldabaTestSupport
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct FetchJitterTests {
    @Test(arguments: [0, -1, -.infinity, .nan] as [Double])
    func `without a spread nothing waits`(seconds: Double) {
        #expect(FetchJitter.delay(over: seconds, random: .max) == .zero)
    }

    @Test(arguments: [(10.0, 10_000), (15.0, 15_000), (16.0, 15_000), (.infinity, 15_000), (1e300, 15_000)])
    func `a moment lies within the seconds that count`(seconds: Double, milliseconds: Int) {
        #expect(FetchJitter.delay(over: seconds, random: 0) == .zero)
        #expect(FetchJitter.delay(over: seconds, random: .max) < .milliseconds(milliseconds))
        #expect(FetchJitter.delay(over: seconds, random: .max) >= .milliseconds(milliseconds - 1))
    }

    @Test func `a thousand devices fill every second alike`() {
        var generator = SeededGenerator(seed: 7)
        var counts = [Int](repeating: 0, count: 10)
        for _ in 0..<1000 {
            let delay = FetchJitter.delay(over: 10, random: generator.next())
            counts[Int(delay.components.seconds)] += 1
        }
        #expect(counts.allSatisfy { (60...140).contains($0) })
    }
}

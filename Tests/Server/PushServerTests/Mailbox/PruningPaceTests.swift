import Testing

@testable import PushServer

@Suite struct PruningPaceTests {
    @Test func `slices that are quick grow, and slices that are slow shrink`() {
        var pace = PruningPace()
        for _ in 0..<20 { pace.recordSlice(taking: .nanoseconds(1000)) }
        #expect(pace.limit == PruningPace.limits.upperBound)
        for _ in 0..<20 { pace.recordSlice(taking: .seconds(1)) }
        #expect(pace.limit == PruningPace.limits.lowerBound)
    }

    @Test func `a slice that takes its time stays as it is, and others have as much time after it`() {
        var pace = PruningPace()
        let limit = pace.limit
        pace.recordSlice(taking: PruningPace.target)
        #expect(pace.limit == limit && pace.pause == PruningPace.target)
        pace.recordSlice(taking: .nanoseconds(-5))
        #expect(pace.pause > .zero)
    }

    /// Rows of a store in which each costs 10 µs to delete, pruned for a second.
    @Test func `half of a writer is enough to prune more than it can accept`() {
        var pace = PruningPace()
        var (rows, elapsed) = (0, Duration.zero)
        while elapsed < .seconds(1) {
            let limit = pace.limit
            pace.recordSlice(taking: .microseconds(10) * limit)
            rows += limit
            elapsed += .microseconds(10) * limit + pace.pause
        }
        #expect(rows > 34_000)
    }
}

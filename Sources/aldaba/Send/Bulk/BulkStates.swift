import AldabaConfiguration

/// How many notifications of a bulk send have come as far as their sender waits for.
struct BulkStates {
    /// The number of timelines that are read at a time.
    private static let width = 16
    /// The time between two looks at all that are pending.
    private static let pause = Duration.milliseconds(200)

    let awaited: AwaitedState
    private(set) var reached = 0
    /// The number of those that have ended before.
    private(set) var ended = 0
    /// The number of those that had not come that far when the time was over.
    private(set) var pending = 0

    /// Waits until each notification has come that far or has ended, or the time is over.
    ///
    /// - Parameters:
    ///   - isOver: Whether the time is over, or a person has stopped the wait.
    ///   - store: Gets the line of each, with its state.
    init(
        of accepted: [BulkResult], _ watch: TimelineWatch, isOver: () -> Bool,
        _ store: (BulkResult) async throws -> Void
    ) async throws {
        awaited = watch.awaited
        var left = accepted[...]
        while !left.isEmpty {
            let isLast = isOver()
            var next: [BulkResult] = []
            for start in stride(from: left.startIndex, to: left.endIndex, by: Self.width) {
                let group = left[start..<min(start + Self.width, left.endIndex)]
                for (var line, result) in try await watch.loadResults(of: Array(group)) {
                    if result.progress == .pending, !isLast {
                        next.append(line)
                        continue
                    }
                    count(result.progress)
                    line.state = result.state
                    try await store(line)
                }
            }
            left = next[...]
            if !left.isEmpty { try await ContinuousClock().sleep(for: Self.pause) }
        }
    }

    private mutating func count(_ progress: AwaitedState.Progress) {
        switch progress {
        case .reached: reached += 1
        case .ended: ended += 1
        case .pending: pending += 1
        }
    }
}

extension TimelineWatch {
    /// The latest states of some notifications, in their order.
    func loadResults(of lines: [BulkResult]) async throws -> [(BulkResult, Result)] {
        try await withThrowingTaskGroup(of: (Int, Result).self) { group in
            for (index, line) in lines.enumerated() {
                group.addTask { (index, try await loadResult(of: line.apnsID ?? "")) }
            }
            var results: [(Int, Result)] = []
            for try await result in group { results.append(result) }
            return results.sorted { $0.0 < $1.0 }.map { (lines[$0.0], $0.1) }
        }
    }
}

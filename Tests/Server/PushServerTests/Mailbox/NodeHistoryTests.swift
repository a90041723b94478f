import MailboxHistories
import Testing

/// Histories of a mailbox that three nodes change, each with a seed of its own.
@Suite struct NodeHistoryTests {
    /// The number of histories of one case, and the length of each: a hundred thousand together.
    private static let share: UInt64 = 6_250
    private static let steps = 60

    @Test(arguments: 0..<16 as Range<UInt64>)
    func `nothing is lost, shown twice or out of order on three nodes`(part: UInt64) {
        var (gaps, lateIDs, shown) = (0, 0, 0)
        for seed in part * Self.share..<(part + 1) * Self.share {
            let history = NodeHistory.play(seed: seed, steps: Self.steps)
            #expect(history.faults.isEmpty, "seed \(seed)")
            guard history.faults.isEmpty else { return }
            gaps += history.gaps
            lateIDs += history.lateIDs
            shown += history.shownCount
        }
        #expect(gaps > 0 && lateIDs > 0 && shown > 0, "the histories meet gaps and clocks that are behind")
    }

    @Test(arguments: NodeHistory.Mistake.allCases)
    func `a mistake in the rules is found`(mistake: NodeHistory.Mistake) {
        let seed = (0..<10_000 as Range<UInt64>).first {
            !NodeHistory.play(seed: $0, steps: Self.steps, mistake: mistake).faults.isEmpty
        }
        #expect(seed != nil)
    }
}

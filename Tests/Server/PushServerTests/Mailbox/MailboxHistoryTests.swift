import MailboxHistories
import PushCore
import PushServer
import Testing

/// Histories of a mailbox between a provider and a device, each with a seed of its own.
@Suite struct MailboxHistoryTests {
    /// How many histories one case plays, and how long each is: a hundred thousand together, in about ten seconds.
    private static let share: UInt64 = 6_250
    private static let steps = 40

    @Test(arguments: 0..<16 as Range<UInt64>)
    func `nothing is lost, shown twice, out of order or without its one end`(part: UInt64) {
        var tally = History.Tally()
        for seed in part * Self.share..<(part + 1) * Self.share {
            let (faults, one) = History.play(seed: seed, steps: Self.steps)
            #expect(faults.isEmpty, "seed \(seed)")
            tally.add(one)
        }
        let met: Set<NotificationState> = [
            .acked, .expired, .replaced, .withdrawn, .dropped(.overflow), .dropped(.inactive),
        ]
        #expect(Set(tally.ends.keys) == met, "the histories meet every end")
        #expect(tally.shown > 0 && tally.recalled > 0 && tally.deletions > 0)
    }
}

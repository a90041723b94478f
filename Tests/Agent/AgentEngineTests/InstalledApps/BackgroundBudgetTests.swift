import AgentEngine
import DeviceTestSupport
import PushCore
import Testing

struct BackgroundBudgetTests {
    @Test func `a budget gives ten wakes at once, and one more every twenty minutes`() {
        var budget = BackgroundBudget()
        var now = noon
        /// How many of so many attempts are granted now.
        func granted(_ attempts: Int) -> Int { (0..<attempts).filter { _ in budget.take(at: now) }.count }
        #expect(granted(12) == 10)
        now = now.adding(milliseconds: 19 * 60_000)
        #expect(granted(1) == 0)
        now = now.adding(milliseconds: 60_000)
        #expect(granted(2) == 1)
        now = noon
        #expect(granted(1) == 0)
        now = now.adding(milliseconds: 365 * 86_400_000)
        #expect(granted(11) == 10)
    }
}

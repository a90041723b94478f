import AgentEngine
import PushCore
import Testing

struct ExtensionCountsTests {
    @Test func `ends are counted by app and version, and old versions give way`() {
        var counts = ExtensionCounts()
        for outcome in [ExtensionOutcome.changed, .changed, .timedOut] { counts.count(outcome, of: "a", version: "1") }
        counts.count(.crashed, of: "b", version: "1")
        #expect(counts.versions(of: "a").map(\.outcomes) == [["changed": 2, "timedOut": 1]])
        for version in 2...6 { counts.count(.changed, of: "a", version: "\(version)") }
        #expect(counts.versions(of: "a").map(\.version) == ["3", "4", "5", "6"])
        #expect(counts.versions(of: "b").map(\.version) == ["1"])
        #expect(counts.versions(of: "c") == [])
    }
}

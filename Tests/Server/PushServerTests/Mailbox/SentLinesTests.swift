import PushCore
import PushServer
import Testing

@Suite struct SentLinesTests {
    private func id(_ value: Int64) -> NotificationID { NotificationID(rawValue: value) }
    private func at(_ value: Int64) -> Timestamp { Timestamp(rawValue: value) }

    @Test func `a line waits for its notification's next change, and is due after a second`() {
        var lines = SentLines()
        lines.sent([id(1), id(2)], at: at(0))
        lines.sent([id(3)], at: at(500))
        #expect(lines.take(id(1)) == TimelineEntry(at: at(0), state: .sent, source: .server))
        #expect(lines.take(id(1)) == nil)
        lines.committed()
        #expect(lines.due(at: at(999)).isEmpty)
        #expect(lines.due(at: at(1000)) == [id(2)])
        #expect(lines.due(at: at(1500)) == [id(3)])
        #expect(!lines.isEmpty)
    }

    @Test func `what a failed transaction took waits again`() {
        var lines = SentLines()
        lines.sent([id(1)], at: at(0))
        #expect(lines.due(at: at(1000)) == [id(1)])
        _ = lines.take(id(1))
        lines.failed()
        #expect(lines.due(at: at(1000)) == [id(1)])
        #expect(lines.take(id(1)) != nil)
        lines.committed()
        lines.failed()
        #expect(lines.isEmpty && lines.due(at: at(5000)).isEmpty)
    }

    @Test func `a clock that was set back keeps no line waiting`() {
        var lines = SentLines()
        lines.sent([id(1)], at: at(1_000_000))
        #expect(lines.due(at: at(0)) == [id(1)])
    }
}

import PushCore
import Testing

@Suite struct TimelineOrderTests {
    private func lines(_ lines: [(Int64, NotificationState)]) -> [TimelineEntry] {
        lines.map { TimelineEntry(at: Timestamp(rawValue: $0), state: $1, source: source(of: $1)) }
    }

    private func source(of state: NotificationState) -> TimelineSource {
        switch state {
        case .accepted, .stored, .sent, .acked: .server
        case .handed: .app
        default: .desktop
        }
    }

    @Test func `lines are in the order of time`() {
        let ordered = TimelineEntry.ordered(
            lines([(10_000, .sent), (0, .accepted), (20_000, .sent), (20_001, .acked)]))
        #expect(ordered.map(\.state) == [.accepted, .sent, .sent, .acked])
    }

    @Test func `a cause that was noted a moment after its effect comes before it`() {
        let ordered = TimelineEntry.ordered(
            lines([(0, .accepted), (0, .stored), (5, .sent), (9, .handed), (8, .presented), (11, .acked)]))
        #expect(ordered.map(\.state) == [.accepted, .stored, .sent, .acked, .presented, .handed])
        #expect(ordered.map(\.at.rawValue) == [0, 0, 5, 11, 8, 9])
    }

    @Test func `what a person did stays after what the same machine recorded before`() {
        let ordered = TimelineEntry.ordered(
            lines([(0, .accepted), (5, .sent), (6, .acked), (7, .presented), (9, .handed), (900, .dismissed)]))
        #expect(ordered.map(\.state) == [.accepted, .sent, .acked, .presented, .handed, .dismissed])
        let tapped = TimelineEntry.ordered(lines([(900, .handed), (900, .opened), (7, .presented)]))
        #expect(tapped.map(\.state) == [.presented, .opened, .handed])
    }

    @Test func `what was sent again much later stays there`() {
        let ordered = TimelineEntry.ordered(
            lines([(0, .accepted), (5, .sent), (9, .handed), (30_000, .sent), (30_002, .acked)]))
        #expect(ordered.map(\.state) == [.accepted, .sent, .handed, .sent, .acked])
    }
}

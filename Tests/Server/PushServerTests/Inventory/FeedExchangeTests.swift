import PostgresTestSupport
import PushCore
import Testing

@testable import PushServer

/// Feeds of two nodes.
@Suite struct FeedExchangeTests {
    private func line(_ id: Int64) -> RowChange {
        .appendLine(
            TimelineEntry(at: Timestamp(rawValue: 1), state: .acked, source: .server), to: NotificationID(rawValue: id))
    }

    @Test("A listener at one node learns of another node's changes, and a node without listeners forwards none")
    func forwarding() async throws {
        let carrier = TestMessengers()
        let feeds = [NotificationFeed(), NotificationFeed()]
        for (node, feed) in feeds.enumerated() {
            let exchange = FeedExchange(feed, carrier.messenger(of: UInt16(node)), node: UInt16(node))
            exchange.receive(RunningNodes(alive: [0, 1]))
        }
        feeds[1].committed([line(1)])
        #expect(!feeds[1].isForwarding)
        let signals = feeds[0].listen()
        defer { feeds[0].leave() }
        // The message that there are listeners has arrived.
        carrier.waitForDelivery(to: 1)
        #expect(feeds[1].isForwarding && !feeds[0].isForwarding)
        let position = feeds[0].position
        feeds[1].committed([line(2), line(3), line(2)])
        for await _ in signals where feeds[0].position > position { break }
        let changes = feeds[0].changes(since: position)
        #expect(changes.ids.map(\.rawValue) == [3, 2] && changes.missed == 0)
    }

    @Test("Changes that are too many for one message are counted as missed")
    func missed() {
        let feed = NotificationFeed()
        let begin = feed.position
        feed.record([NotificationID(rawValue: 1)])
        feed.record([NotificationID(rawValue: 2)], missed: 10)
        let changes = feed.changes(since: begin)
        #expect(changes.ids.map(\.rawValue) == [2] && changes.missed == 11)
        #expect(feed.changes(since: changes.position).ids.isEmpty)
    }

    @Test(
        "Messages between feeds are read as they were written, and nothing else is",
        arguments: [
            FeedMessage.listening(node: 300), .changes([], missed: 0),
            .changes([NotificationID(rawValue: .max), NotificationID(rawValue: 1)], missed: 7),
        ])
    func wire(_ message: FeedMessage) {
        #expect(FeedMessage(message.encoded) == message)
        #expect(FeedMessage(message.encoded.dropLast()) == nil && FeedMessage(message.encoded + [0]) == nil)
    }
}

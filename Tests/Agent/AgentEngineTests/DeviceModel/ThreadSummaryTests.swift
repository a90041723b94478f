import AgentEngine
import AgentProtocol
import Testing

/// The list, summed up by threads.
struct ThreadSummaryTests {
    private func listed(
        _ number: Int64, app: BundleID = "mail", thread: String = "", title: String = "Anna", relevance: Double = 0,
        category: String = ""
    ) -> ListedNotification {
        var content = NotificationContent()
        content.title = title
        content.threadIdentifier = thread
        content.relevanceScore = relevance
        content.categoryIdentifier = category
        let notification = DeliveredNotification(
            id: number, identifier: "\(number)", apnsID: nil, topic: app, date: number, payload: "{}")
        return ListedNotification(appName: app.rawValue, notification: notification, content: content, actions: [])
    }

    private func sums(_ list: [ListedNotification], format: String? = nil) -> [String] {
        ThreadSummary.threads(list) { _, _ in format }.map { thread in
            "\(thread.newest.notification.topic)/\(thread.thread): \(thread.newest.notification.id) of \(thread.count)"
                + (thread.others.map { ", \($0)" } ?? "")
        }
    }

    @Test func `one app's notifications without a thread belong together, and each thread by itself`() {
        let list = [
            listed(1), listed(2, thread: "a"), listed(3), listed(4, app: "chat", thread: "a"), listed(5, thread: "a"),
        ]
        #expect(sums(list) == ["mail/a: 5 of 2, 1 more", "chat/a: 4 of 1", "mail/: 3 of 2, 1 more"])
    }

    @Test func `the most relevant thread comes first, whatever its age`() {
        let list = [listed(1, thread: "old", relevance: 0.9), listed(2, thread: "new", relevance: 0.5), listed(3)]
        #expect(sums(list) == ["mail/old: 1 of 1", "mail/new: 2 of 1", "mail/: 3 of 1"])
    }

    @Test func `the others are told by the category's format, with each name once and three at most`() {
        let titles = ["Eve", "Dan", "Carl", "Bob", "Bob", "Anna"]
        let list = titles.enumerated().map { listed(Int64($0.offset + 1), title: $0.element, category: "chat") }
        #expect(sums(list, format: "%u more from %@") == ["mail/: 6 of 6, 5 more from Bob, Carl, Dan …"])
        #expect(sums([]) == [])
    }

    @Test(arguments: [
        ("%1$u by %2$@", "2 by Anna"), ("%lu, %d, %i", "2, 2, 2"), ("100%% of %u", "100% of 2"), ("%", "%"),
        ("50%", "50%"), ("%s and %n", "%s and %n"), ("%99999$", "%99999$"), ("", ""),
    ])
    func `a format is filled and never read beyond its end`(format: String, text: String) {
        #expect(ThreadSummary.fill(format, count: 2, names: "Anna") == text)
    }
}

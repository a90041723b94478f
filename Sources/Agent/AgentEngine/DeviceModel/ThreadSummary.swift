import AgentProtocol

/// Sums the list up by threads: a function of what is in it.
///
/// Guarantees: every notification is counted in exactly one thread; the most relevant threads come first (the highest
/// `relevanceScore` in each), and of equals the one with the newest notification.
package enum ThreadSummary {
    /// The most names that replace `%@`.
    private static let nameLimit = 3

    /// A summary for each thread of each app, the most relevant thread first.
    ///
    /// - Parameters:
    /// - list: The notifications of the list, oldest first.
    /// - format: The `categorySummaryFormat` of a category, by app and category; `nil` for none.
    package static func threads(
        _ list: [ListedNotification], format: (_ app: BundleID, _ category: String) -> String?
    ) -> [NotificationThread] {
        let groups = Dictionary(grouping: list) { Key(app: $0.notification.topic, thread: $0.content.threadIdentifier) }
        let ordered = groups.sorted { one, other in
            let (rank, otherRank) = (one.value.rank, other.value.rank)
            return rank == otherRank ? one.key < other.key : rank > otherRank
        }
        return ordered.compactMap { key, members in
            guard let newest = members.last else { return nil }
            let others = members.dropLast()
            let words = format(key.app, newest.content.categoryIdentifier) ?? "%u more"
            return NotificationThread(
                thread: key.thread, count: members.count, newest: newest,
                others: others.isEmpty ? nil : fill(words, count: others.count, names: names(of: others)))
        }
    }

    private struct Key: Hashable, Comparable {
        var app: BundleID
        var thread: String

        static func < (one: Key, other: Key) -> Bool { (one.app, one.thread) < (other.app, other.thread) }
    }

    /// The titles of the notifications, each once, the newest first.
    private static func names(of notifications: some BidirectionalCollection<ListedNotification>) -> String {
        var names: [String] = []
        for title in notifications.reversed().map(\.content.title) where !title.isEmpty && !names.contains(title) {
            names.append(title)
        }
        let shown = names.prefix(nameLimit).joined(separator: ", ")
        return names.count > nameLimit ? shown + " …" : shown
    }

    /// Puts the number in the place of `%u` (also `%d`, `%i`, `%lu`) and the names in that of `%@`, with or without a
    /// position such as `%1$u`; `%%` is a percent sign, and what else begins with one stays as it is.
    package static func fill(_ format: String, count: Int, names: String) -> String {
        var text = ""
        var rest = Substring(format)
        while let percent = rest.firstIndex(of: "%") {
            text += rest[..<percent]
            rest = rest[percent...].dropFirst()
            let verb = rest.drop { $0.isNumber || $0 == "$" || $0 == "l" }
            switch verb.first {
            case "@"?:
                text += names
                rest = verb.dropFirst()
            case "u"?, "d"?, "i"?:
                text += "\(count)"
                rest = verb.dropFirst()
            case "%"? where verb.startIndex == rest.startIndex:
                text += "%"
                rest = verb.dropFirst()
            default: text += "%"
            }
        }
        return text + rest
    }
}

extension [ListedNotification] {
    /// The sort key of a thread: relevance, then age.
    fileprivate var rank: (Double, Int64) {
        (map(\.content.relevanceScore).max() ?? 0, map(\.notification.date).max() ?? 0)
    }
}

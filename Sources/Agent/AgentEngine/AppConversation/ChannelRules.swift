import AgentProtocol

/// The limits on an app's requests to its direct channel.
package enum ChannelRules {
    /// Why a message to the provider is not taken: a code of ``ChannelFault``, and a sentence; `nil` for one that is.
    package static func fault(in draft: UpstreamDraft) -> (code: String, message: String)? {
        let names = [draft.id, draft.to]
        guard names.allSatisfy({ !$0.isEmpty && $0.utf8.count <= UpstreamDraft.longestName }) else {
            return (ChannelFault.invalid, "id and receiver have 1 to \(UpstreamDraft.longestName) bytes each")
        }
        guard (0...UpstreamDraft.longestTimeToLive).contains(draft.timeToLive) else {
            return (ChannelFault.invalid, "timeToLive is 0 to \(UpstreamDraft.longestTimeToLive) seconds")
        }
        guard draft.size <= UpstreamDraft.sizeLimit else {
            return (ChannelFault.tooBig, "\(draft.size) bytes are more than \(UpstreamDraft.sizeLimit)")
        }
        return nil
    }

    /// A topic's name; `nil` for a text that is no valid name.
    package static func topicName(_ name: String) -> String? {
        let isAllowed = name.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "-_.~%".unicodeScalars.contains(scalar))
        }
        return isAllowed && (1...900).contains(name.utf8.count) ? name : nil
    }
}

/// A topic of an app's.
package struct TopicName: Hashable, Sendable {
    /// The app.
    package var app: BundleID
    /// The topic, without `/topics/`.
    package var topic: String

    /// Names a topic; checks nothing.
    package init(app: BundleID, topic: String) {
        self.app = app
        self.topic = topic
    }
}

/// The connections that wait for answers to requests of the direct channel.
package struct ChannelWaiters<Waiting: Sendable>: Sendable {
    private var last: Int64 = 0
    private var waiting: [Int64: Waiting] = [:]
    private var numbers: [TopicName: [Int64]] = [:]

    /// Creates an empty collection.
    package init() {}

    /// Adds a waiting connection, for a topic where one is given.
    ///
    /// - Returns: The number under which they are found.
    package mutating func add(_ somebody: Waiting, topic: TopicName? = nil) -> Int64 {
        last += 1
        waiting[last] = somebody
        if let topic { numbers[topic, default: []].append(last) }
        return last
    }

    /// The one of this number, who waits no longer.
    package mutating func take(_ number: Int64) -> Waiting? { waiting.removeValue(forKey: number) }

    /// Removes and returns the connections that wait for a topic.
    package mutating func take(_ topic: TopicName) -> [Waiting] {
        (numbers.removeValue(forKey: topic) ?? []).compactMap { waiting.removeValue(forKey: $0) }
    }

    /// Removes the waiting connections that the predicate selects; their apps repeat the request on another connection.
    package mutating func remove(where isGone: (Waiting) -> Bool) {
        waiting = waiting.filter { !isGone($0.value) }
        for (name, found) in numbers {
            let rest = found.filter { waiting[$0] != nil }
            numbers[name] = rest.isEmpty ? nil : rest
        }
    }
}

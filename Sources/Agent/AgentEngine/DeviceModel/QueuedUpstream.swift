import AgentProtocol
import PushCore

/// A message of an app's to its provider, as it waits in the outbox.
package struct QueuedUpstream: Sendable, Hashable {
    /// The place of a message in the outbox.
    package typealias Place = StoreKey<QueuedUpstream>

    /// The message's place in the outbox.
    package var sequence: Place
    /// The app that sends it.
    package var app: BundleID
    /// The message as the app sent it.
    package var draft: UpstreamDraft
    /// When the app gave it.
    package var sentAt: Timestamp

    /// A message of the outbox. Each parameter is the property of its name.
    package init(sequence: Place, app: BundleID, draft: UpstreamDraft, sentAt: Timestamp) {
        self.sequence = sequence
        self.app = app
        self.draft = draft
        self.sentAt = sentAt
    }

    /// The prefix of every ``persistentID``.
    package static let persistentPrefix = "u"

    /// The id with which the server confirms the message: the same however often it is sent.
    package var persistentID: String { Self.persistentPrefix + sequence.description }
}

/// The outcome of a message of the outbox.
package struct EndedUpstream: Sendable, Hashable {
    /// The message's place in the outbox.
    package var sequence: QueuedUpstream.Place
    /// The app's name for it.
    package var id: String
    /// Why it failed; `nil` where the server has it.
    package var code: String?

    /// An end. Each parameter is the property of its name.
    package init(sequence: QueuedUpstream.Place, id: String, code: String?) {
        self.sequence = sequence
        self.id = id
        self.code = code
    }
}

/// A topic that an app wants to join or leave, and the server has not been asked yet, or has not answered.
package struct TopicChangeRequest: Sendable, Hashable {
    /// The place of a request in their order.
    package typealias Place = StoreKey<TopicChangeRequest>

    /// The place in the order of the requests; a later request for the same topic has another one.
    package var sequence: Place
    /// The app.
    package var app: BundleID
    /// The topic's name, without `/topics/`.
    package var topic: String
    /// Whether the app joins it; else it leaves it.
    package var joins: Bool

    /// A request. Each parameter is the property of its name.
    package init(sequence: Place, app: BundleID, topic: String, joins: Bool) {
        self.sequence = sequence
        self.app = app
        self.topic = topic
        self.joins = joins
    }
}

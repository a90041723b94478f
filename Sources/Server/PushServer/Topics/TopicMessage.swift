import PushCore

/// A message for the subscribers of topics.
package struct TopicMessage: Sendable {
    /// The topic or condition.
    package var target: TopicTarget
    /// The only app whose registrations get it; `nil` for every app of the team.
    package var app: AppID?
    /// The kind of push; `nil` where the sender specified none.
    package var pushType: PushType?
    /// The payload, made for the id of the message.
    package var content: @Sendable (NotificationID) -> PushContent
    /// The time until which it is delivered to devices that connect later. ``Expiry/once`` is for connected devices
    /// only.
    package var expiry: Expiry
    /// The priority.
    package var priority: Priority
    /// The collapse id, at most 64 bytes; on each device it replaces the queued notification with the same id.
    package var collapseID: String?

    /// Creates a message. The content gets the message's id, for payloads that contain it.
    package init(
        to target: TopicTarget, of app: AppID? = nil, pushType: PushType? = nil, expiry: Expiry = .policyDefault,
        priority: Priority = .immediate, collapseID: String? = nil,
        content: @escaping @Sendable (NotificationID) -> PushContent
    ) {
        self.target = target
        self.app = app
        self.pushType = pushType
        self.content = content
        self.expiry = expiry
        self.priority = priority
        self.collapseID = collapseID
    }
}

/// The target of a message to many recipients.
package enum TopicTarget: Hashable, Sendable {
    /// The subscribers of one topic.
    case topic(TopicName)
    /// The subscribers that match a condition, with the text that its sender wrote.
    case condition(TopicCondition, String)
    /// The subscribers of a broadcast channel, whose id people know.
    case channel(TopicName, id: String)

    /// Parses a topic's name.
    ///
    /// - Throws: ``TopicNameError``
    package static func topic(named name: String) throws(TopicNameError) -> TopicTarget { .topic(try TopicName(name)) }

    /// Parses a condition.
    ///
    /// - Throws: ``ConditionError``, which contains the position of the character.
    package static func condition(parsing text: String) throws(ConditionError) -> TopicTarget {
        .condition(try TopicCondition(parsing: text), text)
    }

    /// The condition that matches the recipients.
    var condition: TopicCondition {
        switch self {
        case .topic(let name), .channel(let name, _): TopicCondition(name)
        case .condition(let condition, _): condition
        }
    }

    /// The target in readable form.
    package var text: String {
        switch self {
        case .topic(let name): name.description
        case .condition(_, let written): written
        case .channel(_, let id): "channel \(id)"
        }
    }
}

import PushCore

/// The outcome of a device's request to join or leave a topic.
package enum DeviceTopicOutcome: Hashable, Sendable {
    /// The change was made.
    case done
    /// The name is no topic's name.
    case invalidTopic
    /// The token belongs to no active registration of this device.
    case foreignToken
    /// The registration has the maximum number of topics.
    case tooManyTopics
}

import PushCore

/// Topic subscriptions of apps on devices; the port of the interface by which devices enrol.
package protocol DeviceTopics: Sendable {
    /// Subscribes an app to a topic of its team, or unsubscribes it. The caller has checked the device's secret.
    ///
    /// - Parameters:
    ///   - name: The topic's name, with or without `/topics/`.
    ///   - token: The app's registration token.
    /// - Throws: An error when the store cannot be read or written; nothing was changed.
    func changeTopic(
        _ name: String, ofToken token: String, device: DeviceID, isLeaving: Bool
    ) async throws -> DeviceTopicOutcome
}

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

import PushModel

/// How apps on devices join and leave topics; the port of the interface that devices enrol by.
public protocol DeviceTopics: Sendable {
    /// Has an app join a topic of its team, or leave it. The caller has checked the device's secret.
    ///
    /// - Parameters:
    ///   - name: The topic's name, with or without `/topics/`.
    ///   - token: The app's registration token.
    /// - Throws: when the store cannot be read or written; nothing was changed.
    func changeTopic(
        _ name: String, ofToken token: String, device: DeviceID, isLeaving: Bool
    ) async throws -> DeviceTopicOutcome
}

/// What became of a device's wish to join or leave a topic.
public enum DeviceTopicOutcome: Hashable, Sendable {
    /// It is so now.
    case done
    /// The name is none of a topic.
    case invalidTopic
    /// The token is not of an active registration of this device.
    case foreignToken
    /// The registration has as many topics as it may have.
    case tooManyTopics
}

import APNsProtocol

/// The reason of a refusal, as APNs writes it. Reasons that this library does not know are preserved.
public struct APNsRefusalReason: RawRepresentable, Hashable, Sendable {
    /// The reason as APNs writes it, such as `BadDeviceToken`; `HTTP 418` for a response without one.
    public let rawValue: String

    /// Creates a reason from APNs' text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The description of a known reason in plain English; `nil` for others.
    public var explanation: String? { APNsReason(rawValue: rawValue)?.sentence }

    /// The device token is malformed, or of the other environment.
    public static let badDeviceToken = APNsRefusalReason(.badDeviceToken)
    /// The device token belongs to another app, or is for pushes of another type.
    public static let deviceTokenNotForTopic = APNsRefusalReason(.deviceTokenNotForTopic)
    /// The payload exceeds the limit of its push type.
    public static let payloadTooLarge = APNsRefusalReason(.payloadTooLarge)
    /// The collapse id has more than 64 bytes.
    public static let badCollapseId = APNsRefusalReason(.badCollapseId)
    /// Too many notifications in a row to one device token.
    public static let tooManyRequests = APNsRefusalReason(.tooManyRequests)
    /// The credential may not send to the topic.
    public static let topicDisallowed = APNsRefusalReason(.topicDisallowed)
    /// The provider token or its signature is invalid.
    public static let invalidProviderToken = APNsRefusalReason(.invalidProviderToken)
    /// The provider token is older than an hour.
    public static let expiredProviderToken = APNsRefusalReason(.expiredProviderToken)
    /// The broadcast channel does not exist.
    public static let channelNotRegistered = APNsRefusalReason(.channelNotRegistered)

    init(_ reason: APNsReason) { rawValue = reason.rawValue }
}

extension APNsRefusalReason: CustomStringConvertible {
    public var description: String { rawValue }
}

/// Every reason that APNs gives for refusing a request, as it is written on the wire.
///
/// Source: Apple, "Handling notification responses from APNs" and "Sending broadcast push notification
/// requests to APNs". ``status``, ``retry`` and ``sentence`` are the table's columns.
package enum APNsReason: String, Sendable, CaseIterable, Hashable {
    /// Each names a fault in the request: status 400.
    case badCollapseId = "BadCollapseId"
    case badDeviceToken = "BadDeviceToken"
    case badExpirationDate = "BadExpirationDate"
    case badMessageId = "BadMessageId"
    case badPriority = "BadPriority"
    case badTopic = "BadTopic"
    case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
    case duplicateHeaders = "DuplicateHeaders"
    case idleTimeout = "IdleTimeout"
    case invalidPushType = "InvalidPushType"
    case missingDeviceToken = "MissingDeviceToken"
    case missingTopic = "MissingTopic"
    case payloadEmpty = "PayloadEmpty"
    case topicDisallowed = "TopicDisallowed"

    /// Each means that the credential does not allow the request: status 403.
    case badCertificate = "BadCertificate"
    case badCertificateEnvironment = "BadCertificateEnvironment"
    case expiredProviderToken = "ExpiredProviderToken"
    case forbidden = "Forbidden"
    case invalidProviderToken = "InvalidProviderToken"
    case missingProviderToken = "MissingProviderToken"
    case unrelatedKeyIdInToken = "UnrelatedKeyIdInToken"
    case badEnvironmentKeyIdInToken = "BadEnvironmentKeyIdInToken"

    /// Each means that the API has no such request: status 404, 405.
    case badPath = "BadPath"
    case methodNotAllowed = "MethodNotAllowed"

    /// Each means that the device token is dead: status 410, with the instant in ``APNsRejection/timestamp``.
    case expiredToken = "ExpiredToken"
    case unregistered = "Unregistered"

    /// Each means that a limit was exceeded: of the payload, status 413; of requests, status 429.
    case payloadTooLarge = "PayloadTooLarge"
    case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
    case tooManyRequests = "TooManyRequests"

    /// Each means that the server cannot answer now: status 500, 503.
    case internalServerError = "InternalServerError"
    case serviceUnavailable = "ServiceUnavailable"
    case shutdown = "Shutdown"

    /// Each belongs to broadcast and its channels: status 400; `TopicMismatch` 403.
    case featureNotEnabled = "FeatureNotEnabled"
    case missingChannelId = "MissingChannelId"
    case badChannelId = "BadChannelId"
    case channelNotRegistered = "ChannelNotRegistered"
    case badRequestParams = "BadRequestParams"
    case badRequestPayload = "BadRequestPayload"
    case missingPushType = "MissingPushType"
    case cannotCreateChannelConfig = "CannotCreateChannelConfig"
    case topicMismatch = "TopicMismatch"
    case missingChannelQueueSize = "MissingChannelQueueSize"

    /// The action that a provider should take after a refusal.
    package enum Retry: String, Sendable, CaseIterable {
        /// Never with the same token or content.
        case never
        /// After the request or the credential was put right.
        case afterFix
        /// The same request, later.
        case later
    }

    private struct Row {
        let status: Int
        let retry: Retry
        let sentence: String

        init(_ status: Int, _ retry: Retry, _ sentence: String) {
            self.status = status
            self.retry = retry
            self.sentence = sentence
        }
    }

    /// The HTTP status that goes with the reason.
    package var status: Int { row.status }
    /// Whether sending again can help.
    package var retry: Retry { row.retry }
    /// A plain sentence for people.
    package var sentence: String { row.sentence }

    /// The reason as a refused request's body, `{"reason":"…"}`.
    package var body: [UInt8] { Array(#"{"reason":"\#(rawValue)"}"#.utf8) }

    private var row: Row {
        switch self {
        case .badCollapseId: Row(400, .afterFix, "The collapse id has more than 64 bytes.")
        case .badDeviceToken: Row(400, .never, "The device token is malformed or of the other environment.")
        case .badExpirationDate: Row(400, .afterFix, "apns-expiration is not a whole number of seconds since 1970.")
        case .badMessageId: Row(400, .afterFix, "apns-id is not a UUID in the form 8-4-4-4-12.")
        case .badPriority: Row(400, .afterFix, "apns-priority is not 10, 5 or 1.")
        case .badTopic: Row(400, .afterFix, "apns-topic is not a valid topic.")
        case .deviceTokenNotForTopic:
            Row(400, .never, "The device token belongs to another app, or is for pushes of another type.")
        case .duplicateHeaders: Row(400, .afterFix, "An APNs header field appears more than once.")
        case .idleTimeout: Row(400, .later, "The connection was idle, or a body did not end, for too long.")
        case .invalidPushType: Row(400, .afterFix, "apns-push-type is unknown, or not the one of the topic's suffix.")
        case .missingDeviceToken: Row(400, .afterFix, "The path carries no device token.")
        case .missingTopic: Row(400, .afterFix, "apns-topic is absent and the credential does not imply one.")
        case .payloadEmpty: Row(400, .afterFix, "The body is empty or not a JSON object.")
        case .topicDisallowed: Row(400, .afterFix, "The credential may not send to this topic.")
        case .badCertificate: Row(403, .afterFix, "The client certificate is invalid.")
        case .badCertificateEnvironment: Row(403, .afterFix, "The client certificate is for the other environment.")
        case .expiredProviderToken: Row(403, .afterFix, "The provider token is older than one hour.")
        case .forbidden: Row(403, .never, "The action is not allowed.")
        case .invalidProviderToken: Row(403, .afterFix, "The provider token or its signature is invalid.")
        case .missingProviderToken: Row(403, .afterFix, "No provider token and no client certificate.")
        case .unrelatedKeyIdInToken: Row(403, .afterFix, "The key is unrelated to the connection's first key.")
        case .badEnvironmentKeyIdInToken: Row(403, .afterFix, "The key is for the other environment.")
        case .badPath: Row(404, .afterFix, "The path is not one of the API's.")
        case .methodNotAllowed: Row(405, .afterFix, "The path does not have the method.")
        case .expiredToken: Row(410, .never, "The device token has expired.")
        case .unregistered: Row(410, .never, "The device token is no longer active for the topic.")
        case .payloadTooLarge: Row(413, .never, "The payload exceeds 4096 bytes (5120 for voip and broadcasts).")
        case .tooManyProviderTokenUpdates: Row(429, .later, "The provider token is renewed too often.")
        case .tooManyRequests: Row(429, .later, "Too many notifications in a row to one device token.")
        case .internalServerError: Row(500, .later, "The server failed.")
        case .serviceUnavailable: Row(503, .later, "The service cannot accept now.")
        case .shutdown: Row(503, .later, "The server is shutting down.")
        case .featureNotEnabled: Row(400, .afterFix, "The app is not enabled for broadcast.")
        case .missingChannelId: Row(400, .afterFix, "apns-channel-id is absent.")
        case .badChannelId: Row(400, .afterFix, "apns-channel-id is malformed.")
        case .channelNotRegistered: Row(400, .never, "The channel does not exist.")
        case .badRequestParams: Row(400, .afterFix, "The request has an unknown attribute.")
        case .badRequestPayload: Row(400, .afterFix, "The request's body cannot be parsed.")
        case .missingPushType: Row(400, .afterFix, "apns-push-type is absent.")
        case .cannotCreateChannelConfig: Row(400, .never, "The app has as many channels as it may.")
        case .topicMismatch: Row(403, .afterFix, "The credential is for another topic.")
        case .missingChannelQueueSize: Row(400, .afterFix, "The channel's storage policy is absent.")
        }
    }
}

/// A refusal as the wire needs it: the reason, and for people what was wrong and where.
package struct APNsRejection: Error, Hashable, Sendable {
    /// The reason in the provider's response.
    package var reason: APNsReason
    /// The fault, its place, and what is expected instead; for the timeline, never for the provider's response.
    package var note: String?
    /// The time at which the device token ended, in milliseconds; with `Unregistered` and `ExpiredToken` only.
    package var timestamp: Int64?

    /// Makes a refusal. A `timestamp` belongs to `Unregistered` and `ExpiredToken` alone.
    package init(_ reason: APNsReason, note: String? = nil, timestamp: Int64? = nil) {
        self.reason = reason
        self.note = note
        self.timestamp = timestamp
    }

    /// The response's body: `{"reason":…}`, with `timestamp` where the reason has one.
    package var body: [UInt8] {
        guard let timestamp else { return reason.body }
        return Array(#"{"reason":"\#(reason.rawValue)","timestamp":\#(timestamp)}"#.utf8)
    }
}

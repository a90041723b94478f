import APNsProtocol
import Foundation
import Testing

@Suite struct APNsReasonTests {
    /// Reason and status as Apple's two pages list them.
    static let apple: [(String, Int)] = [
        ("BadCollapseId", 400), ("BadDeviceToken", 400), ("BadExpirationDate", 400), ("BadMessageId", 400),
        ("BadPriority", 400), ("BadTopic", 400), ("DeviceTokenNotForTopic", 400), ("DuplicateHeaders", 400),
        ("IdleTimeout", 400), ("InvalidPushType", 400), ("MissingDeviceToken", 400), ("MissingTopic", 400),
        ("PayloadEmpty", 400), ("TopicDisallowed", 400), ("BadCertificate", 403), ("BadCertificateEnvironment", 403),
        ("ExpiredProviderToken", 403), ("Forbidden", 403), ("InvalidProviderToken", 403),
        ("MissingProviderToken", 403), ("UnrelatedKeyIdInToken", 403), ("BadEnvironmentKeyIdInToken", 403),
        ("BadPath", 404), ("MethodNotAllowed", 405), ("ExpiredToken", 410), ("Unregistered", 410),
        ("PayloadTooLarge", 413), ("TooManyProviderTokenUpdates", 429), ("TooManyRequests", 429),
        ("InternalServerError", 500), ("ServiceUnavailable", 503), ("Shutdown", 503), ("FeatureNotEnabled", 400),
        ("MissingChannelId", 400), ("BadChannelId", 400), ("ChannelNotRegistered", 400), ("BadRequestParams", 400),
        ("BadRequestPayload", 400), ("MissingPushType", 400), ("CannotCreateChannelConfig", 400),
        ("TopicMismatch", 403), ("MissingChannelQueueSize", 400),
    ]

    @Test func `the table has Apple's reasons and no other`() {
        #expect(Set(APNsReason.allCases.map(\.rawValue)) == Set(Self.apple.map(\.0)))
    }

    @Test(arguments: apple)
    func `each reason has Apple's status and a sentence`(text: String, status: Int) throws {
        let reason = try #require(APNsReason(rawValue: text))
        #expect(reason.status == status)
        #expect(reason.sentence.hasSuffix("."))
        let body = try JSONSerialization.jsonObject(with: Data(reason.body)) as? [String: String]
        #expect(body == ["reason": text])
    }

    @Test func `a dead token's body carries the time in milliseconds`() throws {
        let refusal = APNsRejection(.unregistered, timestamp: 1_780_000_000_123)
        #expect(
            String(decoding: refusal.body, as: UTF8.self) == #"{"reason":"Unregistered","timestamp":1780000000123}"#)
    }
}

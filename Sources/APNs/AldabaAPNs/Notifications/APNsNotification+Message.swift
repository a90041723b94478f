import APNsProtocol
import Foundation
import PushCore

extension APNsNotification {
    private static let payloadLimit = 4096
    private static let largePayloadLimit = 5120
    private static let collapseIDLimit = 64

    /// A refusal that needs no request: Apple slows down senders whose requests are refused.
    func localRefusal(token: String) -> APNsReason? {
        // The token is a part of the path, so it must contain only digits.
        guard !token.isEmpty else { return .missingDeviceToken }
        guard token.utf8.allSatisfy({ Hexadecimal.value($0) != nil }) else { return .badDeviceToken }
        guard !bundleID.isEmpty, Self.isFieldText(topic) else { return .badTopic }
        return contentRefusal(limit: pushType == .voip ? Self.largePayloadLimit : Self.payloadLimit)
    }

    /// A refusal of a broadcast that needs no request.
    func localRefusal(channel: String) -> APNsReason? {
        guard !channel.isEmpty else { return .missingChannelId }
        guard Self.isFieldText(channel) else { return .badChannelId }
        guard Self.isPathText(bundleID) else { return .badTopic }
        return contentRefusal(limit: Self.largePayloadLimit)
    }

    private func contentRefusal(limit: Int) -> APNsReason? {
        guard Self.isFieldText(pushType.rawValue) else { return .invalidPushType }
        if let collapseID {
            guard collapseID.utf8.count <= Self.collapseIDLimit, Self.isFieldText(collapseID) else {
                return .badCollapseId
            }
        }
        guard !payload.isEmpty else { return .payloadEmpty }
        return payload.count > limit ? .payloadTooLarge : nil
    }

    /// Whether a text can be the value of a header field (RFC 9110, section 5.5).
    private static func isFieldText(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F } }

    /// Whether a text can be a bundle id in a path.
    static func isPathText(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                Character(UnicodeScalar($0)).isASCII
                    && (Character(UnicodeScalar($0)).isLetter || Character(UnicodeScalar($0)).isNumber || $0 == 0x2D
                        || $0 == 0x2E)
            }
    }

    /// The request to a device.
    func message(to token: String, id: UUID, authority: String) -> PoolMessage {
        var message = PoolMessage(
            method: "POST", authority: authority, path: "/3/device/\(token)", body: payload)
        message.headers.append("apns-id", id.lowercaseText)
        message.headers.append("apns-topic", topic)
        message.headers.append("apns-push-type", pushType.rawValue)
        message.headers.append("apns-priority", String(sentPriority.rawValue))
        if let seconds = expiration.seconds { message.headers.append("apns-expiration", String(seconds)) }
        if let collapseID { message.headers.append("apns-collapse-id", collapseID) }
        return message
    }

    /// The request to a channel. It has no topic, and its expiration is never absent: a channel without storage
    /// requires 0.
    func message(on channel: String, id: UUID, authority: String) -> PoolMessage {
        var message = PoolMessage(
            method: "POST", authority: authority, path: "/4/broadcasts/apps/\(bundleID)", body: payload)
        message.headers.append("apns-request-id", id.lowercaseText)
        message.headers.append("apns-channel-id", channel)
        message.headers.append("apns-push-type", pushType.rawValue)
        message.headers.append("apns-priority", String(sentPriority.rawValue))
        message.headers.append("apns-expiration", String(expiration.seconds ?? 0))
        return message
    }

    private var sentPriority: APNsPriority {
        pushType == .background && priority == .immediate ? .considerate : priority
    }
}

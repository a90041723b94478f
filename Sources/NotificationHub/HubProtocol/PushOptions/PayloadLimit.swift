import APNsProtocol
import PushCore

/// How large a payload may be, by the push service's own rule.
package enum PayloadLimit {
    /// The most bytes that are taken; `nil` where no push service would say.
    package static func bytes(for platform: HubPlatform, _ pushType: PushType?) -> Int? {
        switch platform {
        case .aldaba, .apns: APNsPayloadLimit.bytes(for: pushType)
        case .fcmv1, .gcm: 4096
        // What services must take (RFC 8030, section 7.2), without what encryption adds (RFC 8291).
        case .browser: 4096 - PushMessage.overhead
        case .wns, .mpns, .adm, .baidu, .xiaomi: nil
        }
    }

    /// How many bytes of a payload count: of FCM's the names and values of `notification`, `data` and `apns.payload`, else all.
    package static func counted(_ body: [UInt8], for platform: HubPlatform) -> Int {
        guard platform == .fcmv1 || platform == .gcm else { return body.count }
        let tree: JSONValue
        // What is no JSON is refused for that.
        do { tree = try JSONValue(body) } catch { return body.count }
        let message = tree["message"] ?? tree
        let apple = platform == .fcmv1 ? message["apns"]?["payload"] : nil
        // The payload for Apple's devices replaces members of the same names, which do not travel.
        let alert = apple?["aps"]?["alert"]
        let shown = message["notification"]?.members ?? []
        let data = message["data"]?.members ?? []
        return (apple?.payloadBytes ?? 0)
            + shown.reduce(0) {
                $0 + (alert != nil && alert?.members == nil || alert?[$1.name] != nil ? 0 : $1.payloadBytes)
            }
            + data.reduce(0) { $0 + (apple?[$1.name] != nil ? 0 : $1.payloadBytes) }
    }

    /// A message that a payload is too large; `nil` where it is not.
    package static func excess(of body: [UInt8], for platform: HubPlatform, _ pushType: PushType?) -> String? {
        guard let limit = bytes(for: platform, pushType) else { return nil }
        let count = counted(body, for: platform)
        return count > limit ? "would have \(count) bytes, \(limit) at most are taken for \(platform.text)" : nil
    }

    /// Whether a push service takes a payload of that size.
    package static func allows(_ body: [UInt8], for platform: HubPlatform, _ pushType: PushType? = nil) -> Bool {
        excess(of: body, for: platform, pushType) == nil
    }
}

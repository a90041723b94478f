/// The push service of an installation. Azure names each twice: in installations, and in the format of a send.
package enum HubPlatform: String, Sendable, CaseIterable {
    /// A device token of this server, of an app that takes payloads of APNs.
    case aldaba
    /// Apple's; its channel is a device token.
    case apns
    /// FCM by its old interface.
    case gcm
    /// FCM by HTTP v1.
    case fcmv1
    /// Web Push; its channel is an endpoint with keys.
    case browser
    /// Windows.
    case wns
    /// Windows Phone.
    case mpns
    /// Amazon.
    case adm
    /// Baidu.
    case baidu
    /// Xiaomi.
    case xiaomi

    /// Reads an installation's platform, without regard to case.
    package init?(text: String) {
        switch text.lowercased() {
        case "fcm": self = .gcm
        case "webpush": self = .browser
        case let name: self.init(rawValue: name)
        }
    }

    /// How an installation names it: .NET writes `fcmV1`.
    package var text: String { self == .fcmv1 ? "fcmV1" : rawValue }

    /// The one spelling of a channel: device tokens of this server and of Apple's are hexadecimal digits in either
    /// case.
    package func spelling(ofChannel channel: String) -> String {
        switch self {
        case .aldaba, .apns: Self.isHexadecimal(channel) ? channel.lowercased() : channel
        default: channel
        }
    }

    private static func isHexadecimal(_ text: String) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
                UInt8(ascii: "A")...UInt8(ascii: "F"):
                true
            default: false
            }
        }
    }

    /// The name in the lists of a send's details.
    package var detailName: String {
        switch self {
        case .aldaba: "aldaba"
        case .apns: "apple"
        case .wns: "windows"
        case .mpns: "windowsphone"
        default: rawValue
        }
    }

    /// The name of its element of counted outcomes.
    package var outcomeElement: String {
        switch self {
        case .aldaba, .apns: "ApnsOutcomeCounts"
        case .gcm: "GcmOutcomeCounts"
        case .fcmv1: "FcmV1OutcomeCounts"
        case .browser: "BrowserOutcomeCounts"
        case .wns: "WnsOutcomeCounts"
        case .mpns: "MpnsOutcomeCounts"
        case .adm: "AdmOutcomeCounts"
        case .baidu: "BaiduOutcomeCounts"
        case .xiaomi: "XiaomiOutcomeCounts"
        }
    }
}

/// The format of a send's body: native to one push service, or the properties of templates.
package enum SendFormat: Hashable, Sendable {
    /// The payload of one push service; this server's own devices take Apple's.
    case native(HubPlatform)
    /// Properties for every template that matches.
    case template
    /// The content of a campaign, which becomes each push service's own payload.
    case content

    /// Reads `ServiceBusNotification-Format`, without regard to case; `nil` for a name that is not in the list.
    package init?(_ text: String) {
        switch text.lowercased() {
        case "template": self = .template
        case "content": self = .content
        case "apple", "apns", "aldaba": self = .native(.apns)
        case "windows": self = .native(.wns)
        case "windowsphone": self = .native(.mpns)
        case let name:
            guard let platform = HubPlatform(text: name) else { return nil }
            self = .native(platform)
        }
    }

    /// The name of the format in sends.
    package var text: String {
        switch self {
        case .template: "template"
        case .content: "content"
        case .native(let platform): platform.detailName
        }
    }

    /// Whether a native body goes to installations of a platform.
    package func isNative(to platform: HubPlatform) -> Bool {
        switch self {
        case .template: false
        case .content: [.apns, .aldaba, .fcmv1, .gcm, .browser].contains(platform)
        case .native(.apns): platform == .apns || platform == .aldaba
        case .native(let own): platform == own
        }
    }
}

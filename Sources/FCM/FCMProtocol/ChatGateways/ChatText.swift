import Crypto
import PushCore

/// The parts that messages of chat servers share.
enum ChatText {
    /// The greatest length of a message's text in a notification, in bytes of UTF-8; the rest is cut off.
    static let longestBody = 2000
    /// The greatest length of a name in a notification, in bytes of UTF-8.
    static let longestName = 200

    /// A text that is not empty, cut off after so many bytes with an ellipsis; `nil` for an empty one.
    static func shortened(_ text: String?, to limit: Int) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard text.utf8.count > limit else { return text }
        var size = 3
        let kept = text.prefix { character in
            size += character.utf8.count
            return size <= limit
        }
        return kept + "…"
    }

    /// A collapse id of an event: a repeated request about it replaces the notification instead of showing it again.
    static func collapseID(_ server: String, event: String) -> String {
        "\(server)-\(Base64URL.encode(Array(SHA256.hash(data: Array(event.utf8)))))"
    }

    /// Whether a text is a token of APNs: 64 hexadecimal digits.
    static func isAppleToken(_ token: String) -> Bool {
        token.utf8.count == 64 && token.allSatisfy(\.isHexDigit)
    }

    /// A device token as this server writes it: 64 hexadecimal digits, also of the 32 bytes in base64 that apps of iOS register.
    static func deviceToken(_ key: String) -> String {
        guard key.utf8.count == 44 || key.utf8.count == 43 else { return key }
        let text = key.replacing("+", with: "-").replacing("/", with: "_").filter { $0 != "=" }
        guard let bytes = Base64URL.decode(Array(text.utf8)), bytes.count == 32 else { return key }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

/// The `aps` object and the other members of a payload, made of the fields that are there.
struct ChatPayload {
    var aps: [JSONValue.Member] = []
    var others: [JSONValue.Member] = []

    /// Sets a text in `aps` where there is one.
    mutating func setAPS(_ name: String, _ text: String?) {
        if let text, !text.isEmpty { Self.set(name, .string(text), in: &aps) }
    }

    /// Sets a number in `aps` where there is one.
    mutating func setAPS(_ name: String, _ number: Int?) {
        if let number { Self.set(name, .number(String(number)), in: &aps) }
    }

    /// Sets a text beside `aps` where there is one.
    mutating func set(_ name: String, _ text: String?) {
        if let text, !text.isEmpty { Self.set(name, .string(text), in: &others) }
    }

    private static func set(_ name: String, _ value: JSONValue, in members: inout [JSONValue.Member]) {
        members.removeAll { $0.name == name }
        members.append(.init(name, value))
    }

    /// Adds the alert of the texts that are there.
    mutating func setAlert(title: String?, subtitle: String? = nil, body: String?) {
        var alert: [JSONValue.Member] = []
        for (name, text) in [("title", title), ("subtitle", subtitle), ("body", body)] {
            if let text { alert.append(.init(name, .string(text))) }
        }
        if !alert.isEmpty { aps.append(.init("alert", .object(alert))) }
    }

    /// The payload's members.
    var members: [JSONValue.Member] { [.init("aps", .object(aps))] + others }
}

/// The target of a message.
package enum FCMTarget: Hashable, Sendable {
    /// A registration token, or the notification key of a device group.
    case token(String)
    /// A topic's name, without `/topics/`.
    case topic(String)
    /// An expression over topics, as the provider wrote it.
    case condition(String)
    /// The id of a Firebase installation.
    case fid(String)

    /// Whether a byte is allowed in a topic's name or a label.
    package static func isTopicByte(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || "-_.~%".utf8.contains(byte)
    }

    /// The name of a topic without `/topics/`; `nil` for what cannot be one.
    package static func topicName(_ text: String) -> String? {
        let name = text.hasPrefix("/topics/") ? String(text.dropFirst(8)) : text
        return !name.isEmpty && name.utf8.count <= 900 && name.utf8.allSatisfy(isTopicByte) ? name : nil
    }

    /// Takes the target out of a message's fields.
    init(_ fields: inout FieldReader) throws(FCMRejection) {
        var found: [FCMTarget] = []
        for name in ["token", "topic", "condition", "fid"] {
            guard let text = try fields.string(name), !text.isEmpty else { continue }
            switch name {
            case "token": found.append(.token(text))
            case "condition": found.append(.condition(text))
            case "fid": found.append(.fid(text))
            default:
                guard !text.hasPrefix("/topics/"), let topic = Self.topicName(text) else {
                    throw .invalid(
                        fields.place(name),
                        "a topic's name has at most 900 characters, of a-z A-Z 0-9 - _ . ~ % alone, and no /topics/ before it"
                    )
                }
                found.append(.topic(topic))
            }
        }
        guard found.count == 1 else {
            throw .invalid(
                fields.path,
                found.isEmpty
                    ? "the recipient is missing: exactly one of token, topic, condition, fid"
                    : "there are several recipients: exactly one of token, topic, condition, fid")
        }
        self = found[0]
    }
}

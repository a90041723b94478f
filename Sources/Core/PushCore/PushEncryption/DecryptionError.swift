/// Why an encrypted payload could not be opened, or is not shown.
package enum DecryptionError: Error, Hashable, Sendable {
    /// The member `encrypted` is no base64url text, or `key` is no text.
    case malformed
    /// The message ends before its header or its only record does.
    case truncated
    /// The header and the length of the message do not agree: a push message is one record.
    case recordSize(declared: Int, carried: Int)
    /// The header holds no public key of P-256 for the sender.
    case senderKey
    /// The app has no key on this device.
    case noKey
    /// The sender names a key that is not kept here.
    case unknownKey(String)
    /// No key opens it.
    case wrongKey
    /// The decrypted text does not end as the content coding requires.
    case padding
    /// The decrypted text is no JSON object.
    case notAnObject
    /// The same message was opened before, in another notification.
    case replayed(of: String)

    /// The stable name of the failure for programs, as in the timeline.
    package var code: String {
        switch self {
        case .malformed: "malformed"
        case .truncated: "truncated"
        case .recordSize: "recordSize"
        case .senderKey: "senderKey"
        case .noKey: "noKey"
        case .unknownKey: "unknownKey"
        case .wrongKey: "wrongKey"
        case .padding: "padding"
        case .notAnObject: "notAnObject"
        case .replayed: "replayed"
        }
    }

    /// The fault and what is expected instead, for people. Nothing of the message is in it.
    package var sentence: String {
        switch self {
        case .malformed:
            "`aldaba.encrypted` must be base64url text, and `aldaba.key`, where it is there, the text of a key's id"
        case .truncated:
            "the message ends early: its header takes 86 bytes (RFC 8291, section 4), its record 17 at least"
        case .recordSize(let declared, let carried):
            "the header says records of \(declared) bytes and \(carried) follow: a push message is one record of at "
                + "least 18 (RFC 8291, section 4)"
        case .senderKey:
            "the header must hold the sender's public key: 65 bytes, an uncompressed point of P-256 (RFC 8291, "
                + "section 4)"
        case .noKey: "the app has published no key on this device"
        case .unknownKey(let id):
            "the key \(id) is not kept here any more, or never was: encrypt to the one that the server has now"
        case .wrongKey:
            "no key of the app opens it: it was encrypted to another key, or was changed or cut on its way"
        case .padding: "what was encrypted does not end with a delimiter and zeros (RFC 8188, section 2)"
        case .notAnObject: "what was encrypted is no JSON object: it must be a payload, {\"aps\":{…}}"
        case .replayed(let notification):
            "the same encrypted message was opened before, in notification \(notification): it is not shown again"
        }
    }
}

import Foundation

/// The payload that carries an encrypted one: `{"aps":…,"aldaba":{"encrypted":"…","key":"…"}}`.
///
/// `encrypted` is a ``PushMessage`` as base64url; what is sealed in it is a whole payload, which takes the place of
/// this one. `key` is the id of the recipient's key, and may be absent. `aps` is shown where the message cannot be
/// opened.
package struct EncryptedPayload: Sendable {
    /// The encrypted message.
    package let message: PushMessage
    /// The id of the key that it was encrypted to, where the sender names it.
    package let keyID: String?

    /// Reads a payload; `nil` where it carries no encrypted one.
    ///
    /// The name `encrypted` must be written without escapes: a payload without these letters is not parsed.
    package init?(payload: [UInt8]) throws(DecryptionError) {
        guard Data(payload).range(of: Data(#""encrypted""#.utf8)) != nil,
            let envelope = (try? JSONValue(object: payload))?["aldaba"], let encrypted = envelope["encrypted"]
        else { return nil }
        guard case .string(let text) = encrypted, let body = Base64URL.decode(text.utf8) else { throw .malformed }
        switch envelope["key"] {
        case nil: keyID = nil
        case .string(let id) where id.utf8.count <= 64: keyID = id
        default: throw .malformed
        }
        message = try PushMessage(body)
    }

    /// Opens the message with the key that it names, or else with the first that fits, and checks that it is a payload.
    ///
    /// - Parameter keys: The recipient's keys, the newest first.
    package func open(with keys: [RecipientPrivateKey]) throws(DecryptionError) -> [UInt8] {
        guard !keys.isEmpty else { throw .noKey }
        var candidates = keys
        if let keyID {
            candidates = keys.filter { $0.publicKey.id == keyID }
            guard !candidates.isEmpty else { throw .unknownKey(Self.shown(keyID)) }
        }
        let content = try Self.firstOpened(message, candidates)
        guard JSONScanner.fault(inObject: content) == nil else { throw .notAnObject }
        return content
    }

    /// An id as it is shown in a log: the characters that ids have.
    private static func shown(_ id: String) -> String {
        id.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    private static func firstOpened(
        _ message: PushMessage, _ keys: [RecipientPrivateKey]
    ) throws(DecryptionError) -> [UInt8] {
        for key in keys {
            do { return try message.open(with: key) } catch .wrongKey { continue }
        }
        throw .wrongKey
    }
}

// MARK: Making one

extension EncryptedPayload {
    /// The text shown where the message cannot be decrypted.
    package struct Placeholder: Encodable, Sendable {
        private struct Alert: Encodable {
            var title: String?
            var body: String
        }
        private struct Members: Encodable {
            var alert: Alert
            var mutableContent = 1

            enum CodingKeys: String, CodingKey {
                case alert
                case mutableContent = "mutable-content"
            }
        }
        private var aps: Members

        /// A text that reveals nothing of the message.
        package init(title: String? = nil, body: String) {
            aps = Members(alert: Alert(title: title, body: body))
        }
    }

    /// Encrypts a payload and puts it into another.
    ///
    /// - Throws: The error of the cryptographic library; never for a key that was checked.
    package static func make(
        _ payload: [UInt8], to recipient: RecipientPublicKey, placeholder: Placeholder
    ) throws -> [UInt8] {
        try bytes(PushMessage.encrypt(payload, to: recipient), recipient: recipient, placeholder: placeholder)
    }

    /// How many bytes a payload may have so that the one which carries it has at most `limit`; negative where none
    /// fits.
    package static func largestPayload(
        within limit: Int, to recipient: RecipientPublicKey, placeholder: Placeholder
    ) throws -> Int {
        // Four characters carry three bytes, and the last ones carry what is left.
        let characters = limit - (try bytes([], recipient: recipient, placeholder: placeholder)).count
        return characters * 3 / 4 - PushMessage.overhead
    }

    private static func bytes(
        _ message: [UInt8], recipient: RecipientPublicKey, placeholder: Placeholder
    ) throws -> [UInt8] {
        struct Envelope: Encodable {
            struct Members: Encodable {
                var encrypted: String
                var key: String
            }
            var aps: Placeholder
            var aldaba: Members

            enum CodingKeys: String, CodingKey { case aldaba }

            func encode(to encoder: any Encoder) throws {
                try aps.encode(to: encoder)
                var members = encoder.container(keyedBy: CodingKeys.self)
                try members.encode(aldaba, forKey: .aldaba)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(
            try encoder.encode(
                Envelope(
                    aps: placeholder, aldaba: .init(encrypted: Base64URL.encode(message), key: recipient.id))))
    }
}

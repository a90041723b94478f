import PushCore

/// The header fields of a push message's request (RFC 8030, section 5).
package struct WebPushRequest: Hashable, Sendable {
    /// A field that is not as it must be.
    package struct Fault: Error, Hashable, Sendable {
        /// A sentence that names the field.
        package var reason: String
    }

    /// Seconds for which the message may wait; at most ``longestTimeToLive``.
    package var timeToLive: Int64
    /// How urgent it is.
    package var urgency: Urgency
    /// A later message of the same topic takes its place; at most 32 characters of base64url.
    package var topic: String?
    /// The body, with what a client needs to open it.
    package var envelope: WebPushEnvelope

    /// The four degrees (RFC 8030, section 5.3).
    package enum Urgency: String, Sendable, CaseIterable {
        /// Advertisements.
        case veryLow = "very-low"
        /// Topic updates.
        case low
        /// Chats; the default.
        case normal
        /// Calls.
        case high
    }

    /// Four weeks in seconds; what asks for more waits for that long.
    package static let longestTimeToLive: Int64 = 2_419_200
    /// The largest body, in bytes (RFC 8030, section 7.2).
    package static let largestBody = 4096
    static let longestTopic = 32
    static let longestField = 2048

    /// Reads a request.
    ///
    /// - Parameter field: The value of a field by its name in lower case.
    /// - Throws: a ``Fault``. The body's size is the caller's to check.
    package init(body: [UInt8], field: (String) -> String?) throws(Fault) {
        guard let text = field("ttl"), let seconds = Self.number(text) else {
            throw Fault(reason: "TTL must be a number of seconds")
        }
        timeToLive = min(seconds, Self.longestTimeToLive)
        if let text = field("urgency") {
            guard let urgency = Urgency(rawValue: text.lowercased()) else {
                throw Fault(reason: "Urgency must be very-low, low, normal or high")
            }
            self.urgency = urgency
        } else {
            urgency = .normal
        }
        topic = field("topic")
        if let topic {
            guard (1...Self.longestTopic).contains(topic.utf8.count), topic.utf8.allSatisfy(Self.isBase64URL) else {
                throw Fault(reason: "Topic must have 1 to 32 characters of base64url")
            }
        }
        guard !body.isEmpty else {
            envelope = WebPushEnvelope(contentEncoding: "", body: [])
            return
        }
        switch field("content-encoding")?.lowercased() {
        case "aes128gcm": envelope = WebPushEnvelope(contentEncoding: "aes128gcm", body: body)
        case "aesgcm":
            guard let salted = field("encryption"), let keyed = field("crypto-key"),
                max(salted.utf8.count, keyed.utf8.count) <= Self.longestField,
                let encryption = Self.plainParameters(salted, with: "salt"),
                let cryptoKey = Self.plainParameters(keyed, with: "dh")
            else {
                throw Fault(
                    reason: "aesgcm wants the fields Encryption with salt= and Crypto-Key with dh=, each in base64url")
            }
            envelope = WebPushEnvelope(
                contentEncoding: "aesgcm", encryption: encryption, cryptoKey: cryptoKey, body: body)
        default: throw Fault(reason: "a body must be encrypted: Content-Encoding aes128gcm or aesgcm")
        }
    }

    /// The parameters of a field without quotes and padding, which browsers do not take; `nil` where the parameter of this
    /// name is missing, or is not base64url.
    private static func plainParameters(_ field: String, with name: String) -> String? {
        var isFound = false
        let entries = field.split(separator: ",").map { entry in
            entry.split(separator: ";").map { parameter -> String in
                let parts = parameter.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { return String(parameter) }
                let value = parts[1].filter { $0 != "\"" && $0 != "=" && $0 != " " }
                if parts[0].lowercased() == name {
                    guard !value.isEmpty, value.utf8.allSatisfy(isBase64URL) else { return String(parameter) }
                    isFound = true
                }
                return "\(parts[0])=\(value)"
            }.joined(separator: ";")
        }
        return isFound ? entries.joined(separator: ",") : nil
    }

    /// Makes a message of bytes that are not encrypted, as gateways of UnifiedPush send them; it may wait for the longest time.
    package init(plain body: [UInt8], urgency: Urgency) {
        timeToLive = Self.longestTimeToLive
        self.urgency = urgency
        envelope = WebPushEnvelope(contentEncoding: WebPushEnvelope.plain, body: body)
    }

    /// Digits alone; a number that is too large is the largest.
    private static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int64(text) ?? .max
    }

    private static func isBase64URL(_ byte: UInt8) -> Bool {
        (97...122).contains(byte) || (65...90).contains(byte) || (48...57).contains(byte) || byte == 45 || byte == 95
    }
}

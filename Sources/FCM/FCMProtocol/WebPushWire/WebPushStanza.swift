import DeviceChannel
import Foundation
import PushCore
import WebPushProtocol

/// The names that web clients read in a data stanza's `app_data`.
package enum WebPushKey {
    /// The client's name of the subscription.
    package static let subtype = "subtype"
    /// `dh=` and the sender's public key.
    package static let cryptoKey = "crypto-key"
    /// `salt=` and the message's salt.
    package static let encryption = "encryption"
    /// The coding, where it is not `aesgcm`.
    package static let contentEncoding = "content-encoding"
}

/// The data stanza that carries a notification to a web registration.
package enum WebPushStanza {
    /// Makes the stanza.
    ///
    /// Where the category is the app itself, as with Android's libraries, `app_data` contains the message in plain
    /// text, as their users expect. Else it is encrypted to the registration's key, or kept as the sender has encrypted
    /// it. Where no key is known it has no content: a client then only shows that a message arrived.
    ///
    /// - Parameter now: The moment of writing; the stanza's `queued` counts from the acceptance to it.
    /// - Returns: `nil` for a notice that web clients have no message for; there is nothing to send then.
    /// - Throws: The error of the cryptographic library; never for a key that was checked.
    package static func make(
        _ notification: OutgoingNotification, to registration: WebRegistration, now: Timestamp
    ) throws -> MCSDataMessageStanza? {
        var stanza = MCSDataMessageStanza(notification, now: now)
        stanza.category = registration.category
        // Chromium drops messages that are not from the sender of the registration.
        stanza.from = registration.sender
        // Without it Chromium acknowledges when ten have come, or at the next heartbeat.
        stanza.immediateAck = true
        stanza.clearRawData()
        let notice = stanza.appData.filter {
            $0.key == MCSKey.messageType || $0.key == MCSKey.totalDeleted
        }
        stanza.appData = [pair(WebPushKey.subtype, registration.subtype)]
        if let told = notification.notice {
            guard case .deleted = told else { return nil }
            stanza.appData += notice
            return stanza
        }
        if registration.category == notification.topic.rawValue {
            stanza.appData += WebMessage(notification).pairs.map { pair($0.key, $0.value) }
            return stanza
        }
        if let envelope = WebPushEnvelope(bytes: notification.payload) {
            if envelope.body.isEmpty { return stanza }
            for (key, value) in [
                (WebPushKey.contentEncoding, envelope.contentEncoding), (WebPushKey.encryption, envelope.encryption),
                (WebPushKey.cryptoKey, envelope.cryptoKey),
            ] where !value.isEmpty { stanza.appData.append(pair(key, value)) }
            stanza.rawData = Data(envelope.body)
            return stanza
        }
        guard let key = registration.key else { return stanza }
        let message = try AESGCMMessage.encrypt(WebMessage(notification).bytes, to: key)
        stanza.appData += [
            pair(WebPushKey.cryptoKey, "dh=" + padded(message.senderPoint)),
            pair(WebPushKey.encryption, "salt=" + padded(message.salt)),
        ]
        stanza.rawData = Data(message.body)
        return stanza
    }

    private static func pair(_ key: String, _ value: String) -> MCSAppData {
        var pair = MCSAppData()
        pair.key = key
        pair.value = value
        return pair
    }

    /// Base64url with its padding, which some clients do not read without.
    private static func padded(_ bytes: [UInt8]) -> String {
        let text = Base64URL.encode(bytes)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}

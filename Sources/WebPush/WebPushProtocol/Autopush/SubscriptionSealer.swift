import Crypto
import CryptoExtras
import Foundation
import PushCore

/// Seals subscriptions into the last component of their addresses and opens them again, with AES-GCM-SIV (RFC 8452).
///
/// The nonce is fixed: under one key a subscription always has the same address, and the addresses of one client have nothing in
/// common (RFC 8030, section 8.3). The address of a message names the subscription anew for each message, so that a sender can only
/// ask for messages that it has sent. Without a key nobody can make an address that opens.
package struct SubscriptionSealer: Sendable {
    /// The device and the subscription that an address names.
    package struct Subject: Hashable, Sendable {
        /// The device.
        package var device: DeviceID
        /// The subscription.
        package var channel: PushChannelID

        /// Takes the parts.
        package init(device: DeviceID, channel: PushChannelID) {
            self.device = device
            self.channel = channel
        }
    }

    private let keys: [SymmetricKey]
    private static let associatedData = Data("aldaba.subscription.1".utf8)
    private static let nonceBytes = Data(repeating: 0, count: 12)
    /// Device u64, id of 16 bytes, tag of 16 bytes.
    private static let length = 40

    /// Takes the server's sealing keys, the current one first; from each a key for this purpose is derived.
    package init(keys: [[UInt8]]) {
        self.keys = keys.map {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: SymmetricKey(data: $0), info: Self.associatedData, outputByteCount: 32)
        }
    }

    /// The component of a subscription's address: 54 characters of base64url.
    ///
    /// - Throws: The error of the cryptographic library; never with a key.
    package func seal(_ subject: Subject) throws -> String { try seal(subject, authenticating: Self.associatedData) }

    /// The component of a message's address, which stands before the message's id.
    ///
    /// - Throws: The error of the cryptographic library; never with a key.
    package func seal(_ subject: Subject, message: NotificationID) throws -> String {
        try seal(subject, authenticating: Self.associatedData(of: message))
    }

    /// The subscription of an address's component; `nil` when no key opens it.
    package func open(_ text: String) -> Subject? { open(text, authenticating: Self.associatedData) }

    /// The subscription of a message's address; `nil` when no key opens it, and for another message.
    package func open(_ text: String, message: NotificationID) -> Subject? {
        open(text, authenticating: Self.associatedData(of: message))
    }

    private static func associatedData(of message: NotificationID) -> Data {
        associatedData + Data(".message.\(message)".utf8)
    }

    private func seal(_ subject: Subject, authenticating data: Data) throws -> String {
        guard let key = keys.first else { throw CryptoKitError.incorrectKeySize }
        var bytes: [UInt8] = []
        withUnsafeBytes(of: subject.device.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
        let box = try AES.GCM._SIV.seal(
            bytes + subject.channel.bytes, using: key, nonce: AES.GCM._SIV.Nonce(data: Self.nonceBytes),
            authenticating: data)
        return Base64URL.encode(Array(box.ciphertext) + Array(box.tag))
    }

    private func open(_ text: String, authenticating data: Data) -> Subject? {
        // The length is checked first, since addresses of other forms are asked about too. Bytes of another shape are no address:
        // that is the answer, and nothing is unknown.
        guard text.utf8.count == (Self.length * 8 + 5) / 6, let bytes = Base64URL.decode(text.utf8),
            bytes.count == Self.length, Base64URL.encode(bytes) == text,
            let nonce = try? AES.GCM._SIV.Nonce(data: Self.nonceBytes),
            let box = try? AES.GCM._SIV.SealedBox(nonce: nonce, ciphertext: bytes[..<24], tag: bytes[24...])
        else { return nil }
        for key in keys {
            // A key that does not fit is no error: the next one is tried.
            guard let plain = try? AES.GCM._SIV.open(box, using: key, authenticating: data) else { continue }
            let number = plain.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            guard let device = DeviceID(number), let channel = PushChannelID(bytes: plain.dropFirst(8)) else {
                return nil
            }
            return Subject(device: device, channel: channel)
        }
        return nil
    }
}

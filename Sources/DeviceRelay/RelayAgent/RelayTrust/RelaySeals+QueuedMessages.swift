import Crypto
import Foundation
import RelayProtocol

/// Queued messages are sealed for the device's own key, since it may have restarted before it reads them.
///
/// The scheme is HPKE (RFC 9180) in the mode that authenticates the sender by its own key, with X25519, SHA-256 and
/// ChaCha20-Poly1305. Sender, target, id and deadline are bound in. Each message has an ephemeral key beside that of
/// the target; an attacker who later learns the target's key can read stored messages.
extension RelaySeals {
    private static var suite: HPKE.Ciphersuite { .Curve25519_SHA256_ChachaPoly }
    /// How long the key before the sealed bytes is.
    private static var keyLength: Int { 32 }

    /// The key that a device has proven in this session or, while it is absent, according to the devices' own list;
    /// `nil` for one that is none of the user's.
    private func provenKey(of device: String) -> Curve25519.KeyAgreement.PublicKey? {
        let listed = list?[device].flatMap { $0.isRemoved ? nil : $0.key }
        guard account != nil, let key = keys[device] ?? listed else { return nil }
        return try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: key)
    }

    /// - Returns: `nil` for a device that has not proven to be the person's.
    func sealed(_ queuedMessage: QueuedMessage) -> QueuedMessage? {
        let info = Self.info(from: ownID, to: queuedMessage.peer, queuedMessage)
        guard let remote = provenKey(of: queuedMessage.peer),
            var sender = try? HPKE.Sender(
                recipientKey: remote, ciphersuite: Self.suite, info: info, authenticatedBy: key),
            let sealed = try? sender.seal(queuedMessage.body)
        else { return nil }
        var sent = queuedMessage
        sent.body = Array(sender.encapsulatedKey) + Array(sealed)
        return sent
    }

    /// The message with its decrypted body; with an empty one where the named device of the user did not seal it.
    func decrypted(_ queuedMessage: QueuedMessage) -> QueuedMessage {
        var opened = queuedMessage
        opened.body = []
        let info = Self.info(from: queuedMessage.peer, to: ownID, queuedMessage)
        guard queuedMessage.body.count > Self.keyLength, let remote = provenKey(of: queuedMessage.peer),
            var recipient = try? HPKE.Recipient(
                privateKey: key, ciphersuite: Self.suite, info: info,
                encapsulatedKey: Data(queuedMessage.body.prefix(Self.keyLength)), authenticatedBy: remote),
            let content = try? recipient.open(queuedMessage.body.dropFirst(Self.keyLength))
        else { return opened }
        opened.body = Array(content)
        return opened
    }

    private static func info(from: String, to: String, _ queuedMessage: QueuedMessage) -> Data {
        var info = Data("aldaba relay letter 1".utf8)
        for part in [from, to] {
            info.append(0)
            info += Array(part.utf8)
        }
        info.append(0)
        withUnsafeBytes(of: queuedMessage.id.uuid) { info += Array($0) }
        withUnsafeBytes(of: queuedMessage.deadline.bigEndian) { info += Array($0) }
        return info
    }
}

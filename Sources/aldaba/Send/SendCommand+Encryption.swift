import AldabaConfiguration
import Foundation
import PushCore

/// `aldaba send --encrypt`: the payload leaves this machine encrypted.
extension SendCommand {
    /// The encrypted form of a payload, with the placeholder that is shown where it cannot be opened.
    func encrypted(_ payload: [UInt8], for token: String) async throws -> [UInt8] {
        guard (try? JSONSerialization.jsonObject(with: Data(payload))) is [String: Any] else {
            throw CommandError(.invalidInput, "what is encrypted must be a payload, a JSON object")
        }
        let recipient = try await recipient(token)
        let shown = EncryptedPayload.Placeholder(body: placeholder)
        let limit = fields.pushType.flatMap(PushType.init) == .voip ? 5120 : 4096
        let largest = try EncryptedPayload.largestPayload(within: limit, to: recipient, placeholder: shown)
        guard payload.count <= largest else {
            throw CommandError(
                .invalidInput,
                "the payload has \(payload.count) bytes; encrypted, with this placeholder, at most \(max(0, largest)) "
                    + "fit into the \(limit) that can be sent")
        }
        return try EncryptedPayload.make(payload, to: recipient, placeholder: shown)
    }

    private func recipient(_ token: String) async throws -> RecipientPublicKey {
        if let encryptionKey {
            guard let text = try PrivateFile.bytes(encryptionKey) else {
                throw CommandError(.invalidInput, "--encryption-key: there is no file \(encryptionKey)")
            }
            return try PublishedKey.read(Data(text), from: encryptionKey)
        }
        guard server == nil else {
            throw CommandError(
                .usage, "--encrypt with --server needs --encryption-key: another server is not asked for keys")
        }
        return try PublishedKey.read(
            await EncryptionKeyClient.fetch(token, authority: ca, location: location, signing: signing),
            from: "the server's answer")
    }
}

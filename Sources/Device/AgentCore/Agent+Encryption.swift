import AgentWire
import DeviceModel
import DeviceStore
import Logging
import Observability
import PushEncryption
import PushModel

/// Payloads that were encrypted to an app on this device: opened before the notification is planned.
extension Agent {
    /// Puts what an encrypted payload holds in its place.
    ///
    /// - Returns: What became of it; `nil` for a payload that carries none, and where its app opens it.
    /// - Throws: when the store cannot be read.
    func decrypt(_ notification: inout OutgoingNotification) throws -> PayloadDecryption? {
        let app = BundleID(notification.topic)
        guard notification.lane == .apns, let installed = apps[app],
            installed.manifest.encryptedPayloads == .agent
        else { return nil }
        do {
            guard let encrypted = try EncryptedPayload(payload: notification.payload) else { return nil }
            let keys = try store.read { try $0.encryptionKeys(app: app, environment: notification.environment) }
            let fingerprint = encrypted.message.fingerprint
            let payload = try encrypted.open(with: keys)
            // Only what opens counts: else anybody could name a message before its sender's arrives.
            try refuseReplay(of: fingerprint, in: notification.id)
            notification.payload = payload
            return .opened(fingerprint: fingerprint)
        } catch let failure as DecryptionFailure {
            logger.warning(
                "An encrypted payload could not be opened.",
                metadata: [
                    LogKey.notification: "\(notification.id)", LogKey.topic: "\(app)",
                    LogKey.error: "\(failure.code): \(failure.sentence)",
                ])
            return .failed(failure)
        }
    }

    /// A message that is known comes from nobody who may send: the server's own repeats have the same internal id.
    private func refuseReplay(of fingerprint: [UInt8], in id: NotificationID) throws {
        guard let opener = try batch.opening[fingerprint] ?? store.read({ try $0.opener(of: fingerprint) }) else {
            return
        }
        guard try !isDuplicate(id) else { return }
        throw DecryptionFailure.replayed(of: opener.description)
    }

    func publicKeyToPublish(of app: BundleID) throws -> RecipientPublicKey? {
        guard apps[app]?.manifest.encryptedPayloads == .agent else { return nil }
        let key = try store.keyToPublish(app: app, environment: configuration.environment, now: parts.now())
        // By the id a person can compare what the server tells senders.
        logger.info(
            "An app publishes its encryption key.", metadata: [LogKey.topic: "\(app)", LogKey.key: "\(key.id)"])
        return key
    }

    /// The server has answered to the registration that published the app's newest key.
    func noteKeyPublished(of app: BundleID) {
        guard apps[app]?.manifest.encryptedPayloads == .agent else { return }
        do {
            try store.keyPublished(app: app, environment: configuration.environment, now: parts.now())
        } catch {
            // The key opens messages all the same, and the next registration publishes it again.
            logger.error("That a key is published could not be stored.", metadata: [LogKey.error: "\(error)"])
        }
    }
}

import AgentProtocol
import PushCore

/// Handling of notifications from the device channel: each is opened, planned, and stored with its plan.
extension AgentEngine {
    /// These came in the session of this number.
    package mutating func arrived(_ notifications: [OutgoingNotification], in session: Int, _ context: Context) {
        do {
            for notification in notifications {
                if let notice = notification.notice {
                    noticed(notice, by: notification, in: session, context)
                } else if notification.isDataMessage {
                    dataArrived(notification, in: session, context)
                } else {
                    enqueue(.arrived(try arrival(of: notification, in: session, context)))
                }
            }
        } catch {
            // The server sends again what was not stored.
            fail(error)
        }
    }

    private mutating func noticed(
        _ notice: DeviceNotice, by carrier: OutgoingNotification, in session: Int, _ context: Context
    ) {
        enqueue(
            .noticed(
                ArrivedNotice(
                    carrier: carrier, notice: notice, session: session, receivedAt: context.now,
                    isForInstalledApp: apps[BundleID(carrier.topic)] != nil)))
    }

    /// Stores a data message; it goes to its app's channel after the commit.
    private mutating func dataArrived(_ message: OutgoingNotification, in session: Int, _ context: Context) {
        let app = apps[BundleID(message.topic)]
        enqueue(
            .dataArrived(
                ArrivedData(
                    message: message, session: session, receivedAt: context.now, isForInstalledApp: app != nil,
                    isChannelOpen: app?.channel.isOpen == true)))
        watchExpiry(of: message.expiresAt, context)
    }

    private mutating func arrival(
        of notification: OutgoingNotification, in session: Int, _ context: Context
    ) throws -> Arrival {
        var notification = notification
        let decryption = try decrypt(&notification, context)
        let delivery = PayloadDelivery(payload: String(decoding: notification.payload, as: UTF8.self))
        if case .failed(let failure) = decryption, case .replayed = failure {
            return Arrival(
                notification: notification, session: session, receivedAt: context.now, kind: delivery.kind,
                disposition: .ends(.undecryptable(failure.code), note: failure.sentence))
        }
        return Arrival(
            notification: notification, session: session, receivedAt: context.now, kind: delivery.kind,
            disposition: try disposition(of: notification, delivery, context), decryption: decryption)
    }

    private mutating func disposition(
        of notification: OutgoingNotification, _ delivery: PayloadDelivery, _ context: Context
    ) throws -> PlannedNotification.Disposition {
        let app = BundleID(notification.topic)
        guard let plan = planned(ReceivedNotification(delivery), for: app, context) else {
            return .ends(.dropped(.unregistered), note: "no app of this name is installed on the device")
        }
        if apps[app]?.manifest.serviceExtension != nil, plan.isExtended(delivery) { return .isExtended }
        // A repeated notification is not reported again.
        if plan.tellsAlone, try !isDuplicate(notification.id, context) { presentBadgeOrSoundOnly(plan, of: app) }
        return plan.disposition
    }

    private func isDuplicate(_ id: NotificationID, _ context: Context) throws -> Bool {
        try batch.arriving.contains(id) || context.store.isKnown(id)
    }

    // MARK: Encrypted payloads

    /// Puts what an encrypted payload holds in its place.
    ///
    /// - Returns: The outcome of decryption; `nil` for a payload that is not encrypted, or that its app decrypts
    ///   itself.
    /// - Throws: when the store cannot be read.
    private mutating func decrypt(
        _ notification: inout OutgoingNotification, _ context: Context
    ) throws -> PayloadDecryption? {
        let app = BundleID(notification.topic)
        guard notification.lane == .apns, apps[app]?.manifest.encryptedPayloads == .agent else { return nil }
        do {
            guard let encrypted = try EncryptedPayload(payload: notification.payload) else { return nil }
            let keys = try context.store.encryptionKeys(app: app, environment: notification.environment)
            let fingerprint = encrypted.message.fingerprint
            let payload = try encrypted.open(with: keys)
            // Only messages that open are recorded: otherwise anyone could block a message by sending its fingerprint
            // first.
            try refuseReplay(of: fingerprint, in: notification.id, context)
            notification.payload = payload
            return .opened(fingerprint: fingerprint)
        } catch let failure as DecryptionError {
            log(
                .warning, "An encrypted payload could not be opened.",
                [
                    LogKey.notification: "\(notification.id)", LogKey.topic: "\(app)",
                    LogKey.error: "\(failure.code): \(failure.sentence)",
                ])
            return .failed(failure)
        }
    }

    /// Refuses a known message under another id: it is a replay. The server's own repeats have the same internal id.
    private func refuseReplay(of fingerprint: [UInt8], in id: NotificationID, _ context: Context) throws {
        guard let opener = try batch.opening[fingerprint] ?? context.store.opener(of: fingerprint) else { return }
        guard try !isDuplicate(id, context) else { return }
        throw DecryptionError.replayed(of: opener.description)
    }

    // MARK: Service extensions

    /// A service extension has answered for a notification: it is planned again, with the extension's content.
    ///
    /// - Parameter content: The content from the extension; `nil` for that of the payload.
    /// - Returns: The plan by which it is to be stored; `nil` where its app is not installed now.
    package mutating func extended(
        _ notification: WaitingNotification, content: NotificationContent?, context: Context
    ) -> PlannedNotification? {
        var received = ReceivedNotification(PayloadDelivery(payload: notification.payload))
        received.content = content ?? received.content
        guard let plan = planned(received, for: notification.app, context) else { return nil }
        presentBadgeOrSoundOnly(plan, of: notification.app)
        return plan
    }
}

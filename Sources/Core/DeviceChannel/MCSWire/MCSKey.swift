/// The names that Aldaba puts into a data stanza's `app_data`. Clients that do not know them pass them by.
package enum MCSKey {
    /// The notification's `apns-id`.
    package static let apnsID = "aldaba.apns-id"
    /// `apns-push-type`; absent when the provider did not say.
    package static let pushType = "aldaba.push-type"
    /// `1`, `5` or `10`.
    package static let priority = "aldaba.priority"
    /// The last instant at which delivery makes sense, in decimal milliseconds since 1970; absent for one attempt.
    package static let expiration = "aldaba.expiration"
    /// `sandbox` or `production`.
    package static let environment = "aldaba.environment"
    /// When the notification was accepted, in decimal milliseconds since 1970.
    package static let accepted = "aldaba.accepted"
    /// `fcm` for that lane; absent for `apns`.
    package static let lane = "aldaba.lane"
    /// The kind of message, as FCM names it: absent or `gcm` for a notification.
    package static let messageType = "message_type"
    /// How many notifications were cleared, in decimal; FCM's name.
    package static let totalDeleted = "total_deleted"
    /// When the first of them were, in decimal milliseconds since 1970.
    package static let deletedSince = "aldaba.deleted-since"
    /// The name of the message of a `send_error`, as the app gave it; Chromium's name.
    package static let failedMessage = "google.message_id"
    /// The reason of a `send_error`, for people.
    package static let failure = "error"
    /// The code of a `send_error` in decimal, as ``UpstreamRejection`` has it.
    package static let failureCode = "aldaba.code"
    /// The decimal internal id of the notification that was withdrawn.
    package static let withdrawn = "aldaba.withdrawn"
}

/// The kinds of message that are no notifications: the values of ``MCSKey/messageType``.
package enum MCSMessageType {
    /// A notification.
    package static let notification = "gcm"
    /// Notifications were cleared from the mailbox; FCM's name.
    package static let deletedMessages = "deleted_messages"
    /// An upstream message is refused; FCM's name.
    package static let sendError = "send_error"
    /// A notification was withdrawn. FCM has no such message; its clients pass over kinds that they do not know.
    package static let withdrawn = "aldaba.withdrawn"
}

/// The names of settings in a login's answer.
package enum MCSSettingName {
    /// The number of milliseconds after which the device is to reconnect, in decimal; sent with an error. Clients that
    /// do not know it ignore it, and reconnect by their own back-off.
    package static let retryAfter = "retry_after_ms"
}

extension MCSLoginRequest {
    /// The `id` in the login of Aldaba's own agents, by which the server recognises them.
    package static var agentID: String { "aldaba" }
}

/// The categories and addresses of upstream stanzas that are for the server itself.
package enum MCSUpstream {
    /// The category of a batch of receipts.
    package static let receiptsCategory = "aldaba.receipts"
    /// The category of what devices relay to each other, in both directions.
    package static let relayCategory = "aldaba.relay"
    /// The address of such a stanza.
    package static let serverAddress = "aldaba"
}

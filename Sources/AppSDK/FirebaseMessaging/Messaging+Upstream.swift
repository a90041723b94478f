import AgentProtocol
import AppHost
import Foundation

extension Notification.Name {
    /// The server has a message of the app's: `object` and `userInfo["messageID"]` are its id.
    public static let MessagingSendSuccess = Notification.Name("com.firebase.messaging.notif.send-success")
    /// A message of the app failed: `object` and `userInfo["messageID"]` are its id, `userInfo["error"]` is the reason.
    public static let MessagingSendError = Notification.Name("com.firebase.messaging.notif.send-error")
    /// Messages for the app were deleted before they could come: `userInfo["count"]` is their number,
    /// `userInfo["since"]` the time of the first (`Date`). The app should ask its provider for the missing data.
    public static let MessagingMessagesDeleted = Notification.Name("com.firebase.messaging.notif.messages-deleted")
    /// ``Messaging/isDirectChannelEstablished`` changed; `object` is the ``Messaging``.
    public static let MessagingConnectionStateChanged = Notification.Name(
        "com.firebase.messaging.notif.connection-state-changed")
    /// The registration token is known or another one; `object` is the token.
    public static let MessagingRegistrationTokenRefreshed = Notification.Name(
        "com.firebase.messaging.notif.fcm-token-refreshed")
}

// Messages to the app's provider.
extension Messaging {
    /// Sends a message to the app's provider. The agent keeps it until the server has it or its time is over. The
    /// outcome is posted as `MessagingSendSuccess` or `MessagingSendError`.
    ///
    /// - Parameters:
    ///   - message: Keys and values, at most 4 KiB together. Values that are no texts are described.
    ///   - receiver: `SENDER@gcm.googleapis.com`.
    ///   - messageID: The app's name for the message, which its outcome carries.
    ///   - ttl: The time to live in seconds, up to a day; 0 for now or never.
    public func sendMessage(
        _ message: [AnyHashable: Any], to receiver: String, withMessageID messageID: String, timeToLive ttl: Int64
    ) {
        var data: [String: String] = [:]
        for (key, value) in message { data["\(key.base)"] = value as? String ?? "\(value)" }
        let draft = UpstreamDraft(
            id: messageID, to: receiver, data: data,
            timeToLive: min(max(0, ttl), UpstreamDraft.longestTimeToLive))
        guard isConfigured(completion: { error in Self.fail(error, messageID) }) else { return }
        if let fault = Self.fault(in: draft) { return Self.onMain { Self.fail(fault, messageID) } }
        onHost { _, host in
            host.sendUpstream(draft) { answer in
                if let error = Self.error(answer) { Self.onMain { Self.fail(error, messageID) } }
            }
        }
    }

    private static func fault(in draft: UpstreamDraft) -> MessagingError? {
        if draft.to.isEmpty || draft.to.utf8.count > UpstreamDraft.longestName {
            return MessagingError(.invalidRequest, "a message needs a receiver, such as SENDER@gcm.googleapis.com")
        }
        if draft.id.isEmpty || draft.id.utf8.count > UpstreamDraft.longestName {
            return MessagingError(.invalidRequest, "a message needs an id of 1 to \(UpstreamDraft.longestName) bytes")
        }
        guard draft.size <= UpstreamDraft.sizeLimit else {
            return MessagingError(
                .invalidRequest, "\(draft.size) bytes are more than a message may have (\(UpstreamDraft.sizeLimit))")
        }
        return nil
    }

    private static func fail(_ error: (any Error)?, _ id: String) {
        MainActor.assumeIsolated {
            post(end: error as? MessagingError ?? MessagingError(.unknown, "it was not sent"), of: id)
        }
    }

    /// Posts the outcome of a message: a success, where there is no error.
    @MainActor static func post(end error: MessagingError?, of id: String) {
        var userInfo: [AnyHashable: Any] = ["messageID": id]
        if let error { userInfo["error"] = error._nsError }
        NotificationCenter.default.post(
            name: error == nil ? .MessagingSendSuccess : .MessagingSendError, object: id, userInfo: userInfo)
    }

    /// Posts that messages were deleted.
    @MainActor static func post(deletion: MessageDeletion) {
        NotificationCenter.default.post(
            name: .MessagingMessagesDeleted, object: nil,
            userInfo: [
                "count": deletion.count, "since": Date(timeIntervalSince1970: Double(deletion.since) / 1000),
            ])
    }
}

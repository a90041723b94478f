import AppHost
import Foundation

/// Takes registration tokens and data messages. All methods are optional; they are called on the main actor.
public protocol MessagingDelegate: NSObjectProtocol {
    /// The registration token, once in each run of the app and whenever it is another one.
    @preconcurrency @MainActor func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?)

    /// The registration token, in the form of versions before 8; an app writes one of the two.
    @preconcurrency @MainActor func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String)

    /// The registration token, in the form of version 4; it is called whenever the other forms are.
    @preconcurrency @MainActor func messaging(_ messaging: Messaging, didRefreshRegistrationToken fcmToken: String)

    /// A data message of the direct channel. It counts as handled when this returns.
    @preconcurrency @MainActor func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage)

    /// A data message, in the form of version 4; an app writes one form.
    @preconcurrency @MainActor func application(received remoteMessage: MessagingRemoteMessage)

    /// A data message, in the form of version 3; an app writes one form.
    @preconcurrency @MainActor func applicationReceivedRemoteMessage(_ remoteMessage: MessagingRemoteMessage)
}

extension MessagingDelegate {
    /// Does nothing.
    @preconcurrency @MainActor public func messaging(
        _ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?
    ) {}

    /// Does nothing.
    @preconcurrency @MainActor public func messaging(
        _ messaging: Messaging, didReceiveRegistrationToken fcmToken: String
    ) {}

    /// Does nothing.
    @preconcurrency @MainActor public func messaging(
        _ messaging: Messaging, didRefreshRegistrationToken fcmToken: String
    ) {}

    /// Calls the form of version 4.
    @preconcurrency @MainActor public func messaging(
        _ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage
    ) {
        application(received: remoteMessage)
    }

    /// Calls the form of version 3.
    @preconcurrency @MainActor public func application(received remoteMessage: MessagingRemoteMessage) {
        applicationReceivedRemoteMessage(remoteMessage)
    }

    /// Drops the message, and reports that on standard error.
    @preconcurrency @MainActor public func applicationReceivedRemoteMessage(_ remoteMessage: MessagingRemoteMessage) {
        OptionalCall.noteDefault()
    }
}

/// A data message.
///
/// Sendable is unchecked: nothing in it changes.
public final class MessagingRemoteMessage: NSObject, @unchecked Sendable {
    /// The message's id.
    public let messageID: String
    /// The provider's keys and values.
    public let appData: [AnyHashable: Any]

    init(messageID: String, appData: [AnyHashable: Any]) {
        self.messageID = messageID
        self.appData = appData
        super.init()
    }
}

/// The result of ``Messaging/appDidReceiveMessage(_:)``. Raw values are Firebase's.
public enum MessagingMessageStatus: Int, Sendable {
    /// It was noted before, or is empty.
    case unknown = 0
    /// It was not noted before.
    case new = 1
}

/// The status of a message that an app has received.
public final class MessagingMessageInfo: NSObject, Sendable {
    /// Whether it was noted before.
    public let status: MessagingMessageStatus

    init(status: MessagingMessageStatus) {
        self.status = status
        super.init()
    }
}

import Foundation

/// The result of a notification for its sender.
public enum APNsResult: Hashable, Sendable {
    /// APNs accepted the notification.
    ///
    /// `uniqueID` is the key to Apple's delivery log; only the development environment tells it.
    case accepted(apnsID: UUID, uniqueID: String?)
    /// The device token is dead since a time: forget it, unless its app has registered it again after that.
    case tokenDead(since: Date?)
    /// The credential, the topic or the request is wrong: sending the same again cannot help until that is put right.
    case fixConfiguration(APNsRefusalReason)
    /// APNs cannot accept the notification now: send it again, at the earliest after a time.
    case retryAfter(Duration, APNsRefusalReason)
    /// This notification cannot be delivered to this device token: do not send it again.
    case dropped(APNsRefusalReason)
}

/// The reason why it is not known whether a notification was accepted, or why it was not sent.
public struct APNsSendError: Error, Hashable, Sendable {
    /// A cause of the error.
    public enum Cause: String, Hashable, Sendable {
        /// The deadline passed.
        case deadline
        /// The task was cancelled.
        case cancelled
        /// The connection, or the stream of the request, ended before the response.
        case connectionLost
        /// The server refused to process the request, again and again.
        case refused
        /// No connection could be made, and the client does not wait for one.
        case unreachable
        /// The client was shut down.
        case shutDown
    }

    /// The cause.
    public let cause: Cause
    /// Whether APNs may have accepted the notification. If not, sending it again cannot show it twice.
    public let mayHaveBeenProcessed: Bool
    /// The `apns-id` of the notification; to be used when it is sent again.
    public let apnsID: UUID?
    /// The latest failure of a connection, for logs.
    public let detail: String?

    /// Creates an error, for senders of one's own.
    public init(cause: Cause, mayHaveBeenProcessed: Bool, apnsID: UUID? = nil, detail: String? = nil) {
        self.cause = cause
        self.mayHaveBeenProcessed = mayHaveBeenProcessed
        self.apnsID = apnsID
        self.detail = detail
    }
}

extension APNsSendError: CustomStringConvertible {
    public var description: String {
        let doubt = mayHaveBeenProcessed ? "may have been processed" : "was not processed"
        return "\(cause.rawValue), the request \(doubt)" + (detail.map { ": \($0)" } ?? "")
    }
}

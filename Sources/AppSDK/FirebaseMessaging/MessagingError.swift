import AgentProtocol
import Foundation

/// The domain of ``MessagingError``.
public let MessagingErrorDomain = "com.google.fcm"

/// An error of this module. Codes are Firebase's.
public struct MessagingError: _BridgedStoredNSError {
    /// The error as Foundation keeps it.
    public let _nsError: NSError
    /// Takes an error of the domain ``MessagingErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }
    /// ``MessagingErrorDomain``.
    public static var _nsErrorDomain: String { MessagingErrorDomain }
    /// ``MessagingErrorDomain``.
    public static var errorDomain: String { MessagingErrorDomain }

    /// The code of an error. Raw values are Firebase's.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = MessagingError
        /// Nothing of the below.
        case unknown = 0
        /// The server does not accept this device's credentials.
        case authentication = 1
        /// The app may not do this.
        case noAccess = 2
        /// It took too long.
        case timeout = 3
        /// The server cannot be reached.
        case network = 4
        /// Too many operations are in progress already.
        case operationInProgress = 5
        /// Something in the request is not allowed.
        case invalidRequest = 7
        /// A topic's name has other characters than `a-zA-Z0-9-_.~%`, or is empty or too long.
        case invalidTopicName = 8
    }

    /// The code ``Code/unknown``.
    public static var unknown: Code { .unknown }
    /// The code ``Code/authentication``.
    public static var authentication: Code { .authentication }
    /// The code ``Code/noAccess``.
    public static var noAccess: Code { .noAccess }
    /// The code ``Code/timeout``.
    public static var timeout: Code { .timeout }
    /// The code ``Code/network``.
    public static var network: Code { .network }
    /// The code ``Code/operationInProgress``.
    public static var operationInProgress: Code { .operationInProgress }
    /// The code ``Code/invalidRequest``.
    public static var invalidRequest: Code { .invalidRequest }
    /// The code ``Code/invalidTopicName``.
    public static var invalidTopicName: Code { .invalidTopicName }

    /// An error with a sentence for people.
    init(_ code: Code, _ sentence: String) {
        _nsError = NSError(
            domain: MessagingErrorDomain, code: code.rawValue, userInfo: [NSLocalizedDescriptionKey: sentence])
    }

    /// Why a message to the provider, or a topic, failed: a code of ``ChannelFault`` or the server's.
    init(upstreamCode: String, _ sentence: String? = nil) {
        let code: Code =
            switch upstreamCode {
            case ChannelFault.expired: .timeout
            case ChannelFault.offline: .network
            case ChannelFault.tooMany, ChannelFault.duplicate: .operationInProgress
            case ChannelFault.tooBig, ChannelFault.invalid, "INVALID_PARAMETERS": .invalidRequest
            case ChannelFault.unregistered, "AUTHENTICATION_FAILED": .authentication
            case "TOO_MANY_TOPICS", "QUOTA_EXCEEDED", "PERMISSION_DENIED": .noAccess
            default: .unknown
            }
        self.init(code, sentence.map { "\($0) (\(upstreamCode))" } ?? upstreamCode)
    }
}

import Foundation

/// The domain of ``UNError``.
public let UNErrorDomain = "UNErrorDomain"

/// An error of this module. Codes are Apple's.
public struct UNError: _BridgedStoredNSError {
    public let _nsError: NSError
    public init(_nsError error: NSError) { _nsError = error }
    public static var _nsErrorDomain: String { UNErrorDomain }
    public static var errorDomain: String { UNErrorDomain }

    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        public typealias _ErrorType = UNError
        case notificationsNotAllowed = 1
    }

    /// The app may not notify.
    public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
}

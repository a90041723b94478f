import Foundation

/// The domain of ``UNError``.
public let UNErrorDomain = "UNErrorDomain"

/// An error of this module. Codes are Apple's.
///
/// On Linux `catch let error as UNError` and `catch UNError.notificationsNotAllowed` match it, and
/// `error as NSError` converts it; the conditional casts `as? NSError` and `catch let error as NSError` do not.
public struct UNError: _BridgedStoredNSError {
    /// The error as Foundation keeps it.
    public let _nsError: NSError
    /// Takes an error of the domain ``UNErrorDomain``.
    public init(_nsError error: NSError) { _nsError = error }
    /// ``UNErrorDomain``.
    public static var _nsErrorDomain: String { UNErrorDomain }
    /// ``UNErrorDomain``.
    public static var errorDomain: String { UNErrorDomain }

    /// The code of an error. Raw values are Apple's.
    public enum Code: Int, _ErrorCodeProtocol, Sendable {
        /// The error that has these codes.
        public typealias _ErrorType = UNError
        /// The app may not notify, or the agent does not know it.
        case notificationsNotAllowed = 1
        /// An attachment's URL is not that of a readable file.
        case attachmentInvalidURL = 100
        /// An attachment's type can be told neither from its name nor from a hint.
        case attachmentUnrecognizedType = 101
        /// An attachment is too big for its type.
        case attachmentInvalidFileSize = 102
        /// An attachment is not where the agent keeps them.
        case attachmentNotInDataStore = 103
        /// An attachment could not be brought to where the agent keeps them.
        case attachmentMoveIntoDataStoreFailed = 104
        /// An attachment's content does not have the type that is stated.
        case attachmentCorrupt = 105
        /// A trigger has no date in the future.
        case notificationInvalidNoDate = 1400
        /// A notification has no text, sound or badge.
        case notificationInvalidNoContent = 1401
        /// Content cannot be updated from such an object.
        case contentProvidingObjectNotAllowed = 1500
        /// Content cannot be updated from this object.
        case contentProvidingInvalid = 1501
        /// A badge is negative or too large.
        case badgeInputInvalid = 1600
    }

    /// The code ``Code/notificationsNotAllowed``.
    public static var notificationsNotAllowed: Code { .notificationsNotAllowed }
    /// The code ``Code/attachmentInvalidURL``.
    public static var attachmentInvalidURL: Code { .attachmentInvalidURL }
    /// The code ``Code/attachmentUnrecognizedType``.
    public static var attachmentUnrecognizedType: Code { .attachmentUnrecognizedType }
    /// The code ``Code/attachmentInvalidFileSize``.
    public static var attachmentInvalidFileSize: Code { .attachmentInvalidFileSize }
    /// The code ``Code/attachmentNotInDataStore``.
    public static var attachmentNotInDataStore: Code { .attachmentNotInDataStore }
    /// The code ``Code/attachmentMoveIntoDataStoreFailed``.
    public static var attachmentMoveIntoDataStoreFailed: Code { .attachmentMoveIntoDataStoreFailed }
    /// The code ``Code/attachmentCorrupt``.
    public static var attachmentCorrupt: Code { .attachmentCorrupt }
    /// The code ``Code/notificationInvalidNoDate``.
    public static var notificationInvalidNoDate: Code { .notificationInvalidNoDate }
    /// The code ``Code/notificationInvalidNoContent``.
    public static var notificationInvalidNoContent: Code { .notificationInvalidNoContent }
    /// The code ``Code/contentProvidingObjectNotAllowed``.
    public static var contentProvidingObjectNotAllowed: Code { .contentProvidingObjectNotAllowed }
    /// The code ``Code/contentProvidingInvalid``.
    public static var contentProvidingInvalid: Code { .contentProvidingInvalid }
    /// The code ``Code/badgeInputInvalid``.
    public static var badgeInputInvalid: Code { .badgeInputInvalid }

    /// An error with a sentence for people.
    init(_ code: Code, _ sentence: String) {
        self.init(code, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}

import Foundation

/// The reason why a Live Activity cannot be started.
///
/// `Activity.request` throws ``attributesTooLarge``, ``targetMaximumExceeded`` and ``denied``. The other cases are those of
/// Apple's systems, for code that names them.
public enum ActivityAuthorizationError: Int, CustomNSError, LocalizedError, Hashable, Sendable {
    /// Attributes and content have more than 4096 bytes together.
    case attributesTooLarge
    /// The system does not support Live Activities.
    case unsupported
    /// The person does not allow them.
    case denied
    /// The app is in the background.
    case visibility
    /// The device has as many activities as it may.
    case globalMaximumExceeded
    /// The app has as many activities as it may.
    case targetMaximumExceeded
    /// The app does not support Live Activities.
    case unsupportedTarget
    /// The app lacks an entitlement.
    case unentitled
    /// The id of an activity is malformed.
    case malformedActivityIdentifier
    /// The process has no identifier.
    case missingProcessIdentifier
    /// The activity cannot be stored.
    case persistenceFailure
    /// Another process started the activity.
    case reconnectNotPermitted

    /// The domain of these errors.
    public static var errorDomain: String { "com.apple.ActivityKit.ActivityAuthorization" }

    /// The error's number in its domain.
    public var errorCode: Int { rawValue }

    /// The same as ``failureReason``.
    public var errorDescription: String? { failureReason }

    /// The texts, by Foundation's keys.
    public var errorUserInfo: [String: Any] {
        var texts: [String: Any] = [NSLocalizedDescriptionKey: errorDescription ?? ""]
        texts[NSLocalizedFailureReasonErrorKey] = failureReason
        texts[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return texts
    }

    /// The cause, for people.
    public var failureReason: String? {
        switch self {
        case .attributesTooLarge: "The attributes and the content have more than 4096 bytes together."
        case .unsupported: "Live Activities are not supported."
        case .denied: "The person does not allow notifications of this app."
        case .visibility: "The app is in the background."
        case .globalMaximumExceeded: "The device has as many Live Activities as it may."
        case .targetMaximumExceeded: "The app has as many Live Activities as it may."
        case .unsupportedTarget: "The app does not support Live Activities."
        case .unentitled: "The app lacks an entitlement."
        case .malformedActivityIdentifier: "The id of the Live Activity is malformed."
        case .missingProcessIdentifier: "The process has no identifier."
        case .persistenceFailure: "The Live Activity cannot be stored."
        case .reconnectNotPermitted: "Another process started the Live Activity."
        }
    }

    /// The remedy, for people; `nil` where there is none.
    public var recoverySuggestion: String? {
        switch self {
        case .attributesTooLarge: "Keep large data elsewhere, and only their names in the activity."
        case .denied: "Allow notifications of this app in its settings."
        case .globalMaximumExceeded, .targetMaximumExceeded: "End another Live Activity first."
        default: nil
        }
    }
}

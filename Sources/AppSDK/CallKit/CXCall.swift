import Foundation

/// The means to reach a caller.
///
/// Sendable is unchecked, since the class is open; it has constants only.
open class CXHandle: NSObject, @unchecked Sendable {
    /// The kind of a handle.
    public enum HandleType: Int, Sendable {
        /// A name of the app's own.
        case generic = 1
        /// A telephone number.
        case phoneNumber
        /// An address of electronic mail.
        case emailAddress
    }

    /// The kind of the handle.
    public let type: HandleType
    /// The number, the address or the name.
    public let value: String

    /// Creates a handle.
    public init(type: HandleType, value: String) {
        self.type = type
        self.value = value
    }
}

/// The properties of a call, as far as they are known.
open class CXCallUpdate: NSObject {
    /// The caller; its value is shown where there is no name.
    open var remoteHandle: CXHandle?
    /// The caller's name.
    open var localizedCallerName: String?
    /// Whether the call has a picture.
    open var hasVideo = false
    /// Kept for the app, and without an effect.
    open var supportsHolding = false
    /// Kept for the app, and without an effect.
    open var supportsGrouping = false
    /// Kept for the app, and without an effect.
    open var supportsUngrouping = false
    /// Kept for the app, and without an effect.
    open var supportsDTMF = false
}

/// The configuration of a provider. Only ``ringtoneSound`` has an effect.
open class CXProviderConfiguration: NSObject {
    /// The app's name, as it was given.
    public let localizedName: String?
    /// The name of a sound file among the app's resources; `nil` for the desktop's sound of a call.
    open var ringtoneSound: String?
    /// The picture of the app on the call.
    open var iconTemplateImageData: Data?
    /// How many groups of calls the app has at once.
    open var maximumCallGroups = 2
    /// How many calls a group has.
    open var maximumCallsPerCallGroup = 5
    /// Whether the calls of the app may have a picture.
    open var supportsVideo = false
    /// Whether calls are kept in a list of recent ones.
    open var includesCallsInRecents = true
    /// The kinds of handles that the app can call.
    open var supportedHandleTypes: Set<CXHandle.HandleType> = []

    /// Creates a configuration.
    public override init() {
        localizedName = nil
        super.init()
    }

    /// Creates a configuration for an app of this name.
    public init(localizedName: String) {
        self.localizedName = localizedName
        super.init()
    }
}

/// The reason why a call has ended.
public enum CXCallEndedReason: Int, Sendable {
    /// An error.
    case failed = 1
    /// The caller ended it.
    case remoteEnded
    /// It was not answered in time.
    case unanswered
    /// It was answered on another device.
    case answeredElsewhere
    /// It was declined on another device.
    case declinedElsewhere
}

/// An action on a call.
open class CXAction: NSObject {
    /// The action's own id.
    public let uuid = UUID()
    /// Whether it was fulfilled or has failed.
    open private(set) var isComplete = false

    /// The app has performed it.
    open func fulfill() { isComplete = true }

    /// The app could not perform it.
    open func fail() { isComplete = true }
}

/// An action on one call.
open class CXCallAction: CXAction {
    /// The call, as the app named it.
    public let callUUID: UUID

    /// Creates an action on a call.
    public init(call callUUID: UUID) { self.callUUID = callUUID }
}

/// A call is answered.
open class CXAnswerCallAction: CXCallAction {}

/// A call is declined or ended.
open class CXEndCallAction: CXCallAction {}

/// The reason why an incoming call is not shown.
public struct CXErrorCodeIncomingCallError: Error, CustomNSError, LocalizedError, Sendable {
    /// The domain of these errors.
    public static let errorDomain = "com.apple.CallKit.error.incomingcall"

    /// Apple's codes.
    public enum Code: Int, Sendable {
        /// Another reason, which ``errorDescription`` gives.
        case unknown = 0
        /// The agent cannot be asked.
        case unentitled
        /// The app has reported a call of this id before.
        case callUUIDAlreadyExists
        /// The person is not to be disturbed.
        case filteredByDoNotDisturb
        /// The caller is blocked.
        case filteredByBlockList
    }

    /// The code.
    public let code: Code
    private let reason: String

    init(_ code: Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The code's number.
    public var errorCode: Int { code.rawValue }
    /// The reason, for people.
    public var errorDescription: String? { reason }
    /// The reason, under the key of the description.
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: reason] }
}

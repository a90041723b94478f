import RelayProtocol

/// Whether a device can be reached.
public enum RemoteSystemStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unavailable = 0, discoveringAvailability = 1, available = 2, unknown = 3

    init(_ presence: RelayPresence) { self = presence == .offline ? .unavailable : .available }
}

/// A device's system.
public enum RemoteSystemPlatform: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unknown = 0, windows = 1, android = 2, iOS = 3, linux = 4

    init(_ name: String) {
        self =
            switch name {
            case "windows": .windows
            case "android": .android
            case "ios": .iOS
            case "linux": .linux
            default: .unknown
            }
    }

    /// The platform's name in the protocol; empty for a platform without one.
    var name: String {
        switch self {
        case .unknown: ""
        case .windows: "windows"
        case .android: "android"
        case .iOS: "ios"
        case .linux: "linux"
        }
    }
}

/// The obstacle that keeps a watcher from finding devices; the watcher continues.
public enum RemoteSystemWatcherError: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unknown = 0, internetNotAvailable = 1, authenticationError = 2

    init(_ obstacle: DiscoveryFailure) {
        self =
            switch obstacle {
            case .noAccount, .refused: .authenticationError
            case .notConnected: .internetNotAvailable
            }
    }
}

/// Whether an app may look for devices.
public enum RemoteSystemAccessStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unspecified = 0, allowed = 1, deniedByUser = 2, deniedBySystem = 3
}

/// The outcome of a launch. Numbers from 100 on are this library's own.
public enum RemoteLaunchUriStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case unknown = 0, success = 1, appUnavailable = 2, protocolUnavailable = 3, remoteSystemUnavailable = 4
    /// The values keep their numbers.
    case valueSetTooLarge = 5, deniedByLocalSystem = 6, deniedByRemoteSystem = 7
    /// It was sent, and its outcome is unknown.
    case outcomeUnknown = 101
    /// It came too late, and was not opened.
    case expired = 102
    /// Too many operations are in progress.
    case rateLimited = 103
    /// It was canceled.
    case canceled = 105
    /// It arrived, and the app there could not open it.
    case failure = 106

    init(_ status: RelayStatus) {
        self =
            switch status {
            case .success: .success
            case .appNotInstalled, .appUnavailable, .serviceUnavailable: .appUnavailable
            case .protocolUnavailable: .protocolUnavailable
            case .unknownDevice, .notDelivered, .networkUnavailable, .connectionClosed: .remoteSystemUnavailable
            case .tooLarge: .valueSetTooLarge
            case .refusedHere: .deniedByLocalSystem
            case .denied, .notAuthorized: .deniedByRemoteSystem
            case .outcomeUnknown: .outcomeUnknown
            case .expired: .expired
            case .resourceLimits: .rateLimited
            case .cancelled: .canceled
            case .failed, .conflict, .notFound: .failure
            }
    }
}

/// The outcome of opening a connection to an app service. Numbers from 100 on are this library's own.
public enum AppServiceConnectionStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, appNotInstalled = 1, appUnavailable = 2, appServiceUnavailable = 3, unknown = 4
    /// The values keep their numbers.
    case remoteSystemUnavailable = 5, remoteSystemNotSupportedByApp = 6, notAuthorized = 7, authenticationError = 8
    /// The values keep their numbers.
    case networkNotAvailable = 9, disabledByPolicy = 10, webServiceUnavailable = 11
    /// It was sent, and its outcome is unknown.
    case outcomeUnknown = 101
    /// It came too late.
    case expired = 102
    /// Too many operations are in progress.
    case rateLimited = 103
    /// It was canceled.
    case canceled = 105
    /// It arrived, and could not be opened.
    case failure = 106
    /// It names nothing that could be opened, and was not sent.
    case invalidRequest = 107

    init(_ status: RelayStatus) {
        self =
            switch status {
            case .success: .success
            case .appNotInstalled: .appNotInstalled
            case .appUnavailable: .appUnavailable
            case .serviceUnavailable: .appServiceUnavailable
            case .unknownDevice, .notDelivered, .connectionClosed: .remoteSystemUnavailable
            case .notAuthorized: .notAuthorized
            case .networkUnavailable: .networkNotAvailable
            case .denied: .disabledByPolicy
            case .refusedHere: .invalidRequest
            case .outcomeUnknown: .outcomeUnknown
            case .expired: .expired
            case .resourceLimits: .rateLimited
            case .cancelled: .canceled
            case .failed, .protocolUnavailable, .tooLarge, .conflict, .notFound: .failure
            }
    }
}

/// The outcome of a message over a connection. Numbers from 100 on are this library's own.
public enum AppServiceResponseStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, failure = 1, resourceLimitsExceeded = 2, unknown = 3, remoteSystemUnavailable = 4
    /// The values keep their numbers.
    case messageSizeTooLarge = 5, connectionClosed = 6, authenticationError = 7, networkNotAvailable = 8
    /// The values keep their numbers.
    case disabledByPolicy = 9, webServiceUnavailable = 10
    /// It was sent, and its outcome is unknown.
    case outcomeUnknown = 101
    /// It came too late, and was not carried out.
    case expired = 102
    /// It was canceled.
    case canceled = 105
    /// It names nothing that could be asked, and was not sent.
    case invalidRequest = 107

    init(_ status: RelayStatus) {
        self =
            switch status {
            case .success: .success
            case .failed, .appNotInstalled, .appUnavailable, .serviceUnavailable, .protocolUnavailable, .conflict,
                .notFound:
                .failure
            case .resourceLimits: .resourceLimitsExceeded
            case .unknownDevice, .notDelivered: .remoteSystemUnavailable
            case .tooLarge: .messageSizeTooLarge
            case .connectionClosed: .connectionClosed
            case .networkUnavailable: .networkNotAvailable
            case .denied, .notAuthorized: .disabledByPolicy
            case .refusedHere: .invalidRequest
            case .outcomeUnknown: .outcomeUnknown
            case .expired: .expired
            case .cancelled: .canceled
            }
    }
}

/// The outcome of a message without a connection. Numbers from 100 on are this library's own.
public enum StatelessAppServiceResponseStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, appNotInstalled = 1, appUnavailable = 2, appServiceUnavailable = 3, remoteSystemUnavailable = 4
    /// The values keep their numbers.
    case remoteSystemNotSupportedByApp = 5, notAuthorized = 6, resourceLimitsExceeded = 7, messageSizeTooLarge = 8
    /// The values keep their numbers.
    case failure = 9, unknown = 10, authenticationError = 11, networkNotAvailable = 12, disabledByPolicy = 13
    /// The values keep their numbers.
    case webServiceUnavailable = 14
    /// It was sent, and its outcome is unknown.
    case outcomeUnknown = 101
    /// It came too late, and was not carried out.
    case expired = 102
    /// It was canceled.
    case canceled = 105
    /// It names nothing that could be asked, and was not sent.
    case invalidRequest = 107

    init(_ status: RelayStatus) {
        self =
            switch status {
            case .success: .success
            case .appNotInstalled: .appNotInstalled
            case .appUnavailable: .appUnavailable
            case .serviceUnavailable: .appServiceUnavailable
            case .unknownDevice, .notDelivered, .connectionClosed: .remoteSystemUnavailable
            case .notAuthorized: .notAuthorized
            case .resourceLimits: .resourceLimitsExceeded
            case .tooLarge: .messageSizeTooLarge
            case .failed, .protocolUnavailable, .conflict, .notFound: .failure
            case .networkUnavailable: .networkNotAvailable
            case .denied: .disabledByPolicy
            case .refusedHere: .invalidRequest
            case .outcomeUnknown: .outcomeUnknown
            case .expired: .expired
            case .cancelled: .canceled
            }
    }
}

/// Why a connection to an app service ended.
public enum AppServiceClosedStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case completed = 0, canceled = 1, resourceLimitsExceeded = 2, unknown = 3

    init(_ reason: RelayCloseReason) {
        self =
            switch reason {
            case .completed: .completed
            case .cancelled, .idle: .canceled
            case .resourceLimits: .resourceLimitsExceeded
            case .unknown: .unknown
            }
    }
}

/// The outcome of publishing an app's registration.
public enum ConnectedDevicesNotificationRegistrationStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, errorNoNetwork = 1, errorWebFailure = 2, errorNoTokenRequestSubscriber = 3
    /// The values keep their numbers.
    case errorTokenRequestFailed = 4, errorAccountNotFound = 5, errorUnknown = 6
}

/// The kind of account.
public enum ConnectedDevicesAccountType: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case aad = 0, msa = 1, anonymous = 2
}

/// The outcome of adding an account.
public enum ConnectedDevicesAccountAddedStatus: Int, Sendable, CaseIterable {
    /// The values keep their numbers.
    case success = 0, errorNoNetwork = 1, errorServiceFailed = 2, errorNoTokenRequestSubscriber = 3
    /// The values keep their numbers.
    case errorTokenRequestFailed = 4, errorUnknown = 5
}

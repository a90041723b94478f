import Foundation

// Names of Firebase 3 and 4 that apps' code still has.

/// An earlier name of ``Messaging``.
@available(*, deprecated, renamed: "Messaging")
public typealias FIRMessaging = Messaging

/// An earlier name of ``MessagingDelegate``.
@available(*, deprecated, renamed: "MessagingDelegate")
public typealias FIRMessagingDelegate = MessagingDelegate

/// An earlier name of ``MessagingRemoteMessage``.
@available(*, deprecated, renamed: "MessagingRemoteMessage")
public typealias FIRMessagingRemoteMessage = MessagingRemoteMessage

/// An earlier name of ``MessagingMessageInfo``.
@available(*, deprecated, renamed: "MessagingMessageInfo")
public typealias FIRMessagingMessageInfo = MessagingMessageInfo

/// An earlier name of ``MessagingMessageStatus``.
@available(*, deprecated, renamed: "MessagingMessageStatus")
public typealias FIRMessagingMessageStatus = MessagingMessageStatus

/// An earlier name of ``MessagingAPNSTokenType``.
@available(*, deprecated, renamed: "MessagingAPNSTokenType")
public typealias FIRMessagingAPNSTokenType = MessagingAPNSTokenType

/// An earlier name of ``MessagingError``.
@available(*, deprecated, renamed: "MessagingError")
public typealias FIRMessagingError = MessagingError

/// Takes the end of ``Messaging/connect(handler:)``: `nil` when the direct channel is open, on the main queue.
public typealias MessagingConnectCompletion = @Sendable ((any Error)?) -> Void

/// An earlier name of ``MessagingConnectCompletion``.
@available(*, deprecated, renamed: "MessagingConnectCompletion")
public typealias FIRMessagingConnectCompletion = MessagingConnectCompletion

extension NSNotification.Name {
    /// An earlier name of `MessagingSendSuccess`.
    @available(*, deprecated, renamed: "MessagingSendSuccess")
    public static let FIRMessagingSendSuccess = MessagingSendSuccess
    /// An earlier name of `MessagingSendError`.
    @available(*, deprecated, renamed: "MessagingSendError")
    public static let FIRMessagingSendError = MessagingSendError
    /// An earlier name of `MessagingMessagesDeleted`.
    @available(*, deprecated, renamed: "MessagingMessagesDeleted")
    public static let FIRMessagingMessagesDeleted = MessagingMessagesDeleted
}

extension Messaging {
    /// The same as ``delegate``.
    @available(*, deprecated, renamed: "delegate")
    public var remoteMessageDelegate: (any MessagingDelegate)? {
        get { delegate }
        set { delegate = newValue }
    }

    /// Opens the direct channel, as ``shouldEstablishDirectChannel`` does.
    ///
    /// - Parameter handler: Called once: with `nil` when the channel is open, with an error where
    ///   `FirebaseApp.configure()` was not called.
    @available(*, deprecated, message: "set shouldEstablishDirectChannel, and observe MessagingConnectionStateChanged")
    @preconcurrency
    public func connect(handler: @escaping MessagingConnectCompletion) {
        guard isConfigured(completion: handler) else { return }
        let isOpen = read { state in
            if !state.isConnected { state.connectWaiters.append(handler) }
            return state.isConnected
        }
        if isOpen { Self.onMain { handler(nil) } }
        shouldEstablishDirectChannel = true
    }

    /// Closes the direct channel, as ``shouldEstablishDirectChannel`` does.
    @available(*, deprecated, message: "set shouldEstablishDirectChannel to false")
    public func disconnect() { shouldEstablishDirectChannel = false }
}

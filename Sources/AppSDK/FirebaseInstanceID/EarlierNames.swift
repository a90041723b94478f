import FirebaseMessaging
import Foundation

// Names of Firebase 3 and 4 that apps' code still has.

/// An earlier name of ``InstanceID``.
@available(*, deprecated, renamed: "InstanceID")
public typealias FIRInstanceID = InstanceID

/// An earlier name of ``InstanceIDError``.
@available(*, deprecated, renamed: "InstanceIDError")
public typealias FIRInstanceIDError = InstanceIDError

/// The type of a device token, by its name in InstanceID.
@available(*, deprecated, renamed: "MessagingAPNSTokenType")
public typealias InstanceIDAPNSTokenType = MessagingAPNSTokenType

/// The type of a device token, by an earlier name.
@available(*, deprecated, renamed: "MessagingAPNSTokenType")
public typealias FIRInstanceIDAPNSTokenType = MessagingAPNSTokenType

extension NSNotification.Name {
    /// An earlier name of `InstanceIDTokenRefresh`.
    @available(*, deprecated, renamed: "InstanceIDTokenRefresh")
    public static let firInstanceIDTokenRefresh = InstanceIDTokenRefresh
}

extension InstanceID {
    /// Sets the device token by hand, as `Messaging.setAPNSToken(_:type:)` does.
    @available(*, deprecated, message: "use Messaging.messaging().setAPNSToken(_:type:)")
    public func setAPNSToken(_ token: Data, type: MessagingAPNSTokenType) {
        messaging.setAPNSToken(token, type: type)
    }
}

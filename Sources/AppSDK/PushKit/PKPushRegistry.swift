import AgentProtocol
import AppHost
@_exported import Foundation
import UserNotifications

/// The registration of an app for pushes of PushKit: incoming calls.
///
/// The token is the app's device token, and a provider sends with the push type `voip` and the topic `BUNDLE-ID.voip`.
/// The app's manifest must have `voip` among its `backgroundModes`; then the agent starts it for a call at once. The
/// delegate is called on the main actor, whatever the queue.
open class PKPushRegistry: NSObject, @unchecked Sendable {
    private let host: AppHost
    // Sendable is unchecked for these three, which are read and written under `lock` only.
    private let lock = NSLock()
    private weak var storedDelegate: (any PKPushRegistryDelegate)?
    private var storedTypes: Set<PKPushType>?
    private var token: Data?

    /// Creates a registry; its methods are called on the main actor, so the queue is without an effect.
    public convenience init(queue: DispatchQueue?) { self.init(host: .shared) }

    /// Creates a registry of a host.
    package init(host: AppHost) {
        self.host = host
        super.init()
        host.start()
    }

    /// Receives the token and the pushes; held weakly.
    open weak var delegate: (any PKPushRegistryDelegate)? {
        get { lock.withLock { storedDelegate } }
        set { lock.withLock { storedDelegate = newValue } }
    }

    /// The push types to register for. With ``PKPushType/voIP`` the device token is requested, and calls are received
    /// from now on; the other types have no pushes here.
    open var desiredPushTypes: Set<PKPushType>? {
        get { lock.withLock { storedTypes } }
        set {
            lock.withLock { storedTypes = newValue }
            guard newValue?.contains(.voIP) == true else { return }
            host.onMain { [self] receivers in
                receivers.receiveCalls(of: host, self)
                // An app without UIKit's life cycle has launched when it takes calls.
                if receivers.application == nil { host.finishLaunch() }
            }
            host.requestToken()
        }
    }

    /// The token for a push type; `nil` until it is known.
    open func pushToken(for type: PKPushType) -> Data? { type == .voIP ? lock.withLock { token } : nil }
}

extension PKPushRegistry: CallPushReceiver {
    /// Passes the push of a call to the delegate.
    @MainActor
    package func receiveCall(_ notification: DeliveredNotification, done: @escaping @Sendable () -> Void) {
        guard desiredPushTypes?.contains(.voIP) == true, let delegate else { return done() }
        let payload = PKPushPayload(type: .voIP, dictionaryPayload: UNNotification.userInfo(of: notification))
        delegate.pushRegistry(self, didReceiveIncomingPushWith: payload, for: .voIP, completion: done)
    }

    /// Passes the token to the delegate.
    @MainActor
    package func tokenChanged(_ token: String) {
        guard desiredPushTypes?.contains(.voIP) == true, let bytes = DeviceTokenText.bytes(hex: token) else { return }
        lock.withLock { self.token = bytes }
        delegate?.pushRegistry(self, didUpdate: PKPushCredentials(type: .voIP, token: bytes), for: .voIP)
    }
}

/// Receives the token and the pushes of a ``PKPushRegistry``, on the main actor.
public protocol PKPushRegistryDelegate: NSObjectProtocol {
    /// The token is known, or has changed.
    @preconcurrency @MainActor func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType)

    /// A push has come. The handler must be called within 30 seconds.
    @preconcurrency @MainActor func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void)

    /// A push has come; the older form, which is called where the app does not have the other.
    @preconcurrency @MainActor func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType)

    /// The token is no longer valid. Never called here: the token ends with the app's own.
    @preconcurrency @MainActor func pushRegistry(_ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType)
}

extension PKPushRegistryDelegate {
    /// Calls the older form.
    @preconcurrency @MainActor public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        pushRegistry(registry, didReceiveIncomingPushWith: payload, for: type)
        completion()
    }

    /// Does nothing.
    @preconcurrency @MainActor public func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType
    ) {}

    /// Does nothing.
    @preconcurrency @MainActor public func pushRegistry(
        _ registry: PKPushRegistry, didInvalidatePushTokenFor type: PKPushType
    ) {}
}

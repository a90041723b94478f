import AgentProtocol
import AppHost
import FirebaseCore
import Foundation
import UIKit
import UserNotifications

/// An app's access to FCM messages: those that it receives, and those that it sends to its provider.
///
/// The delegate is called, and `NotificationCenter` posts, on the main actor; completion handlers run on the main
/// queue.
///
/// Sendable is unchecked for the stored delegate and state, which are read and written under `lock` only.
open class Messaging: NSObject, @unchecked Sendable {
    private static let shared: Messaging = {
        let messaging = Messaging(host: .shared, settings: .current())
        FirebaseApp.observe { if $0.isDefault { messaging.begin() } }
        if FirebaseApp.app() == nil {
            FirebaseApp.report("Messaging does nothing until FirebaseApp.configure() was called.")
        }
        return messaging
    }()

    let host: AppHost
    /// The application's delegate and the notification center's.
    private let otherDelegates: @MainActor @Sendable () -> (application: AnyObject?, center: AnyObject?)
    /// The number of the app's own project; `nil` where no app of Firebase is configured.
    let ownSender: @Sendable () -> String?
    private let lock = NSLock()
    private weak var storedDelegate: (any MessagingDelegate)?
    private var state: MessagingState
    /// Kept alive here: the host holds it weakly.
    private var reception: MessagingReception?

    /// Messaging of a host. An app has one, ``messaging()``; tests make others.
    package init(
        host: AppHost, settings: FirebaseSettings,
        ownSender: @escaping @Sendable () -> String? = { FirebaseApp.app()?.options.gcmSenderID },
        delegates: @escaping @MainActor @Sendable () -> (application: AnyObject?, center: AnyObject?) = {
            (UIApplication.shared.delegate, UNUserNotificationCenter.current().delegate)
        }
    ) {
        self.host = host
        otherDelegates = delegates
        self.ownSender = ownSender
        state = MessagingState(settings)
        super.init()
    }

    /// There is one in an app.
    @available(*, unavailable, message: "use Messaging.messaging()")
    public override init() { fatalError("use Messaging.messaging()") }

    /// Messaging of this app.
    open class func messaging() -> Messaging { shared }

    /// The helper with which a service extension attaches pictures.
    open class func serviceExtension() -> MessagingExtensionHelper { MessagingExtensionHelper() }

    /// The same as ``serviceExtension()``.
    open class func extensionHelper() -> MessagingExtensionHelper { serviceExtension() }

    /// Takes registration tokens and data messages; held weakly. Data messages wait until there is one.
    open weak var delegate: (any MessagingDelegate)? {
        get { lock.withLock { storedDelegate } }
        set {
            let isConfigured = lock.withLock {
                storedDelegate = newValue
                state.hasDelegate = newValue != nil
                return state.isConfigured
            }
            onHost { messaging, host in
                // An app without UIKit's life cycle has launched when it takes messages.
                if isConfigured, host.receivers.application == nil { host.finishLaunch() }
                messaging.tellFirstToken()
            }
        }
    }

    // MARK: The direct channel

    /// Whether data messages come by the direct channel; `false` by default. Until then they wait.
    open var shouldEstablishDirectChannel: Bool {
        get { read { $0.shouldEstablishDirectChannel } }
        set { change { $0.shouldEstablishDirectChannel = newValue } }
    }

    /// Whether the direct channel is open as far as the server.
    open var isDirectChannelEstablished: Bool { read { $0.isConnected } }

    /// Whether data messages go to ``delegate``; else to the application delegate's handler of remote notifications.
    open var useMessagingDelegateForDirectChannel: Bool {
        get { read { $0.usesMessagingDelegate } }
        set { change { $0.usesMessagingDelegate = newValue } }
    }

    // MARK: Handling by hand

    /// Notes a notification that the app's own handlers were given, where that is not done for them: with
    /// `FirebaseAppDelegateProxyEnabled` set to NO, or where one object is not the delegate of application,
    /// notification center and messaging.
    ///
    /// - Returns: ``MessagingMessageStatus/new`` the first time for a message, else ``MessagingMessageStatus/unknown``.
    @discardableResult
    open func appDidReceiveMessage(_ message: [AnyHashable: Any]) -> MessagingMessageInfo {
        let id = message[FCMPayload.messageID] as? String
        return MessagingMessageInfo(status: read { $0.recordMessage(id, of: message) })
    }

    /// Whether the app's handlers are watched, so that it need not call ``appDidReceiveMessage(_:)``.
    @MainActor var handlesAutomatically: Bool {
        guard read({ $0.isProxyEnabled }), let delegate else { return false }
        let (application, center) = otherDelegates()
        return center === delegate && (application == nil || application === delegate)
    }

    // MARK: State

    /// Reads the state, or changes it without further effects.
    func read<Value>(_ body: (inout MessagingState) -> Value) -> Value { lock.withLock { body(&state) } }

    /// Changes the state; the channel follows.
    func change(_ body: (inout MessagingState) -> Void) {
        lock.withLock { body(&state) }
        onHost { messaging, _ in messaging.followChannel() }
    }

    /// Does something with the host, where Firebase is configured.
    func onHost(_ work: @escaping @MainActor @Sendable (Messaging, AppHost) -> Void) {
        host.onMain { [self] _ in
            guard read({ $0.isConfigured }) else { return }
            work(self, host)
            followChannel()
        }
    }

    /// Opens or closes the channel, by the state.
    @MainActor func followChannel() { host.wantChannel(read { $0.wantsChannel }) }

    /// Firebase is configured: connects to the agent, and asks for a token where that is wanted.
    package func begin() {
        read { $0.isConfigured = true }
        host.onMain { [self] receivers in
            let reception = MessagingReception(messaging: self)
            self.reception = reception
            receivers.messaging = reception
            receivers.receiveDeletions(of: host) { Self.post(deletion: $0) }
            if let state = receivers.state { read { $0.isActive = state == .active } }
            host.start()
            if read({ $0.isAutoInitEnabled }) { host.requestToken() }
            if receivers.application == nil, delegate != nil { host.finishLaunch() }
            followChannel()
        }
    }
}

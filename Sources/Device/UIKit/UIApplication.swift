import AgentWire
import AppHost
import Foundation
import UserNotifications

/// This app.
@MainActor
open class UIApplication: UIResponder {
    /// Where an app stands in its life. Raw values are Apple's.
    public enum State: Int, Sendable {
        case active = 0
        case inactive = 1
        case background = 2
    }

    /// What a launch may be told.
    public struct LaunchOptionsKey: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The `userInfo` of the notification whose opening started the app.
        public static let remoteNotification = LaunchOptionsKey(
            rawValue: "UIApplicationLaunchOptionsRemoteNotificationKey")
    }

    public static let shared = UIApplication(host: .shared, center: .current())

    private let host: AppHost
    private let center: UNUserNotificationCenter
    private var lifeCycle: LifeCycle?

    open var delegate: (any UIApplicationDelegate)?
    public internal(set) var applicationState = State.inactive
    /// Whether the app has a device token.
    public internal(set) var isRegisteredForRemoteNotifications = false

    package init(host: AppHost, center: UNUserNotificationCenter) {
        self.host = host
        self.center = center
        super.init()
    }

    public required convenience init() { self.init(host: .shared, center: .current()) }

    /// Asks for the device token, which the delegate is given; needs no authorization.
    ///
    /// Without an agent the answer comes when there is one.
    open func registerForRemoteNotifications() { host.registerForRemoteNotifications() }

    /// Gives the device token back.
    open func unregisterForRemoteNotifications() {
        isRegisteredForRemoteNotifications = false
        host.unregisterForRemoteNotifications()
    }

    /// Says where this app stands: for one that knows by itself when it is in front, such as by the focus of its
    /// window. The delegate is called as on the way there, and the agent presents accordingly. Not in Apple's API.
    open func declare(_ state: State) {
        switch state {
        case .active: host.declare(.active)
        case .inactive: host.declare(.inactive)
        case .background: host.declare(.background)
        }
    }

    /// Connects to the agent and launches the app, as soon as the agent has said how, or after a second.
    package func begin(with delegate: any UIApplicationDelegate) {
        self.delegate = delegate
        let lifeCycle = LifeCycle(application: self, host: host)
        self.lifeCycle = lifeCycle
        host.applicationReceiver = lifeCycle
        center.attach(to: host)
        host.beginLaunch()
    }
}

import AgentProtocol
import AppHost
import Foundation
import UserNotifications

/// This app.
@preconcurrency @MainActor
open class UIApplication: UIResponder {
    /// The state of an app. Raw values are Apple's.
    public enum State: Int, Sendable {
        /// In front.
        case active = 0
        /// Moving to the front, or from it.
        case inactive = 1
        /// Not in front.
        case background = 2
    }

    /// This app.
    public static let shared = UIApplication(host: .shared, center: .current())

    let host: AppHost
    let center: UNUserNotificationCenter
    private var lifeCycle: LifeCycle?
    private var ownedDelegate: (any UIApplicationDelegate)?
    private var terminations: [any DispatchSourceSignal] = []
    var backgroundTasks = BackgroundTasks()
    var lastBadge = 0
    /// How long the main thread waits for the agent's answer about the icon's number.
    var badgeLimit = DispatchTimeInterval.seconds(1)

    /// The delegate that gets the app's life cycle, held weakly. The one that the app began with is kept alive
    /// besides.
    open weak var delegate: (any UIApplicationDelegate)?
    /// The commands of the app's icon; kept, and without effect.
    open var shortcutItems: [UIApplicationShortcutItem]?
    /// The app's state, as the agent or the app itself sets it.
    public internal(set) var applicationState = State.inactive
    /// The id of the remote notification that started the app, which is in the launch options.
    var launchNotification: Int64?
    /// Whether the app has a device token.
    public internal(set) var isRegisteredForRemoteNotifications = false

    /// Makes an application of a host. An app has one, ``shared``; tests make others.
    package init(host: AppHost, center: UNUserNotificationCenter) {
        self.host = host
        self.center = center
        super.init()
    }

    /// Reaches the same as ``shared``; apps do not make one.
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

    /// Declares this app's state, for an app that knows by itself when it is in front, such as by the focus of its
    /// window.
    ///
    /// The delegate is called as in a transition, and the agent presents accordingly. Not in Apple's API.
    open func declare(_ state: State) {
        switch state {
        case .active: host.declare(.active)
        case .inactive: host.declare(.inactive)
        case .background: host.declare(.background)
        }
    }

    /// Whether these are the contents of the notification that started the app, which its launch options hold.
    package func isLaunchNotification(_ userInfo: [AnyHashable: Any]) -> Bool {
        launchNotification != nil && userInfo["aldaba.id"] as? Int64 == launchNotification
    }

    /// Connects to the agent and launches the app, as soon as the agent has sent how, or after a second.
    package func begin(with delegate: any UIApplicationDelegate) {
        ownedDelegate = delegate
        self.delegate = delegate
        let lifeCycle = LifeCycle(application: self, host: host)
        self.lifeCycle = lifeCycle
        let isCentersToo = delegate is any UNUserNotificationCenterDelegate
        DelegateCheck.begin(
            of: Swift.type(of: delegate),
            as: [(any UIApplicationDelegate).self] + (isCentersToo ? [(any UNUserNotificationCenterDelegate).self] : [])
        )
        host.receivers.application = lifeCycle
        center.attach(to: host)
        host.beginLaunch()
    }

    /// Notifies the delegate when a signal ends the app.
    func watchTermination() {
        // On Linux the source disables the signal's own action only when it receives the signal.
        terminations = [SIGTERM, SIGINT].map { signal in
            let source = DispatchSource.makeSignalSource(signal: signal, queue: .main)
            source.setEventHandler { [self] in
                MainActor.assumeIsolated {
                    delegate?.applicationWillTerminate(self)
                    post(UIApplication.willTerminateNotification)
                }
                exit(0)
            }
            source.resume()
            return source
        }
    }
}

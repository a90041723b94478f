import Foundation
import UIKit

/// The Dart half of the app. It runs as a program of its own, which connects to ``FlutterSocketMessenger``.
@preconcurrency @MainActor
public final class FlutterEngine: NSObject {
    /// The engine's name; of no consequence.
    public let name: String
    /// Sends to the Dart half.
    public let binaryMessenger: any FlutterBinaryMessenger

    /// The engine behind the process's own messenger.
    public init(name: String = "io.flutter") {
        self.name = name
        binaryMessenger = FlutterSocketMessenger.shared
    }

    /// The engine behind a messenger of the caller's.
    public init(name: String, binaryMessenger: any FlutterBinaryMessenger) {
        self.name = name
        self.binaryMessenger = binaryMessenger
    }

    /// Answers true: the Dart half begins by itself.
    @discardableResult
    public func run() -> Bool { true }
}

/// The controller in which the Dart half would draw; nothing is drawn here.
open class FlutterViewController: UIViewController {
    /// The Dart half.
    public let engine: FlutterEngine
    /// Sends to the Dart half.
    public var binaryMessenger: any FlutterBinaryMessenger { engine.binaryMessenger }

    /// A controller of the process's own engine.
    public required convenience init() { self.init(engine: FlutterEngine()) }

    /// A controller of an engine.
    public init(engine: FlutterEngine) {
        self.engine = engine
        super.init(nibName: nil, bundle: nil)
    }

    /// A controller of the process's own engine; nothing is read, since there are no storyboards here.
    public required init?(coder: NSCoder) {
        engine = FlutterEngine()
        super.init(coder: coder)
    }
}

/// An application delegate whose window has a ``FlutterViewController``.
///
/// Subclasses override what they need. A remote notification comes to `application(_:didReceiveRemoteNotification:)`
/// unless the form with a completion handler is overridden.
open class FlutterAppDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate,
    FlutterPluginRegistry
{
    /// The app's window; its root is a ``FlutterViewController``.
    open var window: UIWindow?
    private lazy var plugins = PluginRegistry { [weak self] in
        (self?.window?.rootViewController as? FlutterViewController)?.binaryMessenger
            ?? FlutterSocketMessenger.shared
    }

    /// Makes the delegate, with its window.
    public required init() {
        super.init()
        FlutterSocketMessenger.shared.holdUntilLaunched()
        window = UIWindow()
        window?.rootViewController = FlutterViewController()
    }

    /// The access of a plugin to the app; `nil` where it has one already.
    open func registrar(forPlugin pluginKey: String) -> (any FlutterPluginRegistrar)? {
        plugins.registrar(forPlugin: pluginKey)
    }

    /// Whether a plugin has its access.
    open func hasPlugin(_ pluginKey: String) -> Bool { plugins.hasPlugin(pluginKey) }

    /// The object that a plugin has published.
    open func valuePublished(byPlugin pluginKey: String) -> NSObject? { plugins.valuePublished(byPlugin: pluginKey) }

    /// Lets a delegate of the Dart half register its plugins, and tells the plugins; answers true.
    open func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool {
        (self as? any FlutterImplicitEngineDelegate)?.didInitializeImplicitFlutterEngine(ImplicitEngine(self))
        let options = Dictionary(
            uniqueKeysWithValues: (launchOptions ?? [:]).map { (AnyHashable($0.key.rawValue), $0.value) })
        for plugin in plugins.delegates {
            _ = plugin.application(application, didFinishLaunchingWithOptions: options)
        }
        return true
    }

    /// Does nothing.
    open func applicationDidBecomeActive(_ application: UIApplication) {}
    /// Does nothing.
    open func applicationWillResignActive(_ application: UIApplication) {}
    /// Does nothing.
    open func applicationDidEnterBackground(_ application: UIApplication) {}
    /// Does nothing.
    open func applicationWillEnterForeground(_ application: UIApplication) {}
    /// Does nothing.
    open func applicationWillTerminate(_ application: UIApplication) {}

    /// Tells the plugins.
    open func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {
        for plugin in plugins.delegates {
            plugin.application(application, didRegisterForRemoteNotificationsWithDeviceToken: deviceToken)
        }
    }

    /// Tells the plugins.
    open func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {
        for plugin in plugins.delegates {
            plugin.application(application, didFailToRegisterForRemoteNotificationsWithError: error)
        }
    }

    /// Does nothing.
    open func application(_ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any]) {}

    /// Passes it to the first plugin that takes it; else calls the form without a completion handler, and answers that
    /// nothing new was fetched.
    ///
    /// The notification that started the app does not come to that form: the launch options hold it, as on iOS.
    open func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        for plugin in plugins.delegates
        where plugin.application(
            application, didReceiveRemoteNotification: userInfo, fetchCompletionHandler: completionHandler)
        {
            return
        }
        if !application.isLaunchNotification(userInfo) {
            self.application(application, didReceiveRemoteNotification: userInfo)
        }
        completionHandler(.noData)
    }

    /// Shows nothing while the app is in front.
    open func userNotificationCenter(
        _ center: UNUserNotificationCenter, willPresent notification: UNNotification,
        withCompletionHandler completionHandler: @escaping (UNNotificationPresentationOptions) -> Void
    ) { completionHandler([]) }

    /// Does nothing.
    open func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: @escaping () -> Void
    ) { completionHandler() }

    /// Does nothing.
    open func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {}
}

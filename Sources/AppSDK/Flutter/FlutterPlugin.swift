import Foundation
import UIKit

/// Receives the app's own events beside its delegate. All methods are optional.
@preconcurrency @MainActor
public protocol FlutterApplicationLifeCycleDelegate: NSObjectProtocol {
    /// The app is launching. The answer is of no consequence here.
    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [AnyHashable: Any]
    ) -> Bool

    /// The device token.
    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data)

    /// There is no device token, and why.
    func application(_ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error)

    /// A remote notification. Where the answer is true, the plugin calls the completion handler.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool
}

extension FlutterApplicationLifeCycleDelegate {
    /// Does nothing; answers true.
    public func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [AnyHashable: Any]
    ) -> Bool { true }

    /// Does nothing.
    public func application(
        _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}

    /// Does nothing.
    public func application(
        _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
    ) {}

    /// Leaves it to others.
    public func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool { false }
}

/// The native half of a plugin.
@preconcurrency @MainActor
public protocol FlutterPlugin: FlutterApplicationLifeCycleDelegate {
    /// Sets up the plugin's channels.
    static func register(with registrar: any FlutterPluginRegistrar)

    /// Handles a call of a channel that was given to ``FlutterPluginRegistrar/addMethodCallDelegate(_:channel:)``.
    func handle(_ call: FlutterMethodCall, result: @escaping FlutterResult)

    /// Never called: the Dart half is a program of its own.
    func detachFromEngine(for registrar: any FlutterPluginRegistrar)
}

extension FlutterPlugin {
    /// Answers that the method does not exist.
    public func handle(_ call: FlutterMethodCall, result: @escaping FlutterResult) {
        result(FlutterMethodNotImplemented)
    }

    /// Does nothing.
    public func detachFromEngine(for registrar: any FlutterPluginRegistrar) {}
}

/// The access of a plugin to the app. There are no textures and no views of the platform.
@preconcurrency @MainActor
public protocol FlutterPluginRegistrar: NSObjectProtocol {
    /// Sends to the Dart half.
    func messenger() -> any FlutterBinaryMessenger

    /// Keeps an object for ``FlutterPluginRegistry/valuePublished(byPlugin:)``.
    func publish(_ value: NSObject)

    /// Has the plugin handle the calls of a channel.
    func addMethodCallDelegate(_ delegate: any FlutterPlugin, channel: FlutterMethodChannel)

    /// Has the plugin told of the app's events.
    func addApplicationDelegate(_ delegate: any FlutterPlugin)

    /// The key of an asset, which is its name: no asset is bundled here.
    func lookupKey(forAsset asset: String) -> String

    /// The key of an asset of a package.
    func lookupKey(forAsset asset: String, fromPackage package: String) -> String
}

/// The accesses of an app's plugins.
@preconcurrency @MainActor
public protocol FlutterPluginRegistry: NSObjectProtocol {
    /// The access of a plugin; `nil` where it has one already.
    func registrar(forPlugin pluginKey: String) -> (any FlutterPluginRegistrar)?

    /// Whether a plugin has its access.
    func hasPlugin(_ pluginKey: String) -> Bool

    /// The object that a plugin has published; `nil` for a plugin without access.
    func valuePublished(byPlugin pluginKey: String) -> NSObject?
}

/// The bridge to the Dart half when that has begun.
@preconcurrency @MainActor
public protocol FlutterImplicitEngineBridge: NSObjectProtocol {
    /// The registry of the plugins.
    var pluginRegistry: any FlutterPluginRegistry { get }
}

/// An app delegate that registers its plugins when the Dart half has begun; here in its launch.
@preconcurrency @MainActor
public protocol FlutterImplicitEngineDelegate: NSObjectProtocol {
    /// Registers the plugins.
    func didInitializeImplicitFlutterEngine(_ engineBridge: any FlutterImplicitEngineBridge)
}

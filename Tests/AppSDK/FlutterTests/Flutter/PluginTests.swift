import FlutterMacOS
import Foundation
import Testing
import UIKit

/// A plugin as its authors write it for iOS and macOS.
private final class BatteryPlugin: NSObject, FlutterPlugin {
    static func register(with registrar: any FlutterPluginRegistrar) {
        let channel = FlutterMethodChannel(name: "battery", binaryMessenger: registrar.messenger())
        let instance = BatteryPlugin()
        registrar.addMethodCallDelegate(instance, channel: channel)
        registrar.addApplicationDelegate(instance)
        registrar.publish(instance)
        // As for macOS, where the messenger is a variable.
        _ = FlutterEventChannel(name: "level", binaryMessenger: registrar.messenger)
    }

    var launches = 0
    var token: Data?

    func handle(_ call: FlutterMethodCall, result: @escaping FlutterResult) { result(call.method) }

    func application(
        _ application: UIApplication, didFinishLaunchingWithOptions launchOptions: [AnyHashable: Any]
    ) -> Bool {
        launches += 1
        return true
    }

    func application(_ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data) {
        token = deviceToken
    }

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) -> Bool {
        guard userInfo["battery"] != nil else { return false }
        completionHandler(.newData)
        return true
    }
}

/// An app delegate in the form of newer templates.
private final class PluginApp: FlutterAppDelegate, FlutterImplicitEngineDelegate {
    func didInitializeImplicitFlutterEngine(_ engineBridge: any FlutterImplicitEngineBridge) {
        if let registrar = engineBridge.pluginRegistry.registrar(forPlugin: "BatteryPlugin") {
            BatteryPlugin.register(with: registrar)
        }
    }
}

/// An app delegate with settings of its own.
private final class SettingsApp: FlutterAppDelegate {
    private(set) var asked = 0

    override func userNotificationCenter(
        _ center: UNUserNotificationCenter, openSettingsFor notification: UNNotification?
    ) {
        super.userNotificationCenter(center, openSettingsFor: notification)
        asked += 1
    }
}

@MainActor
struct PluginTests {
    @Test func `a plugin is registered once, in the launch, and told of the app's events`() throws {
        let app = PluginApp()
        #expect(!app.hasPlugin("BatteryPlugin") && app.valuePublished(byPlugin: "BatteryPlugin") == nil)
        _ = app.application(.shared, didFinishLaunchingWithOptions: nil)
        #expect(app.hasPlugin("BatteryPlugin") && app.registrar(forPlugin: "BatteryPlugin") == nil)
        let plugin = try #require(app.valuePublished(byPlugin: "BatteryPlugin") as? BatteryPlugin)
        #expect(plugin.launches == 1)
        app.application(.shared, didRegisterForRemoteNotificationsWithDeviceToken: Data([1]))
        #expect(plugin.token == Data([1]))
        var results: [UIBackgroundFetchResult] = []
        for userInfo in [["battery": 1], ["other": 1]] {
            app.application(.shared, didReceiveRemoteNotification: userInfo) { results.append($0) }
        }
        #expect(results == [.newData, .noData])
    }

    @Test func `a subclass is asked for the app's settings, and the delegate alone does nothing`() {
        let app = SettingsApp()
        let delegate: any UNUserNotificationCenterDelegate = app
        delegate.userNotificationCenter(.current(), openSettingsFor: nil)
        #expect(app.asked == 1)
        FlutterAppDelegate().userNotificationCenter(.current(), openSettingsFor: nil)
        #expect(app.asked == 1)
    }
}

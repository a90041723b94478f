import Foundation
import Testing
import UIKit
import UserNotifications

@testable import AppHost

/// Whose methods are almost those of the protocols.
class AlmostDelegate: UIResponder, UIApplicationDelegate, UNUserNotificationCenterDelegate {
    func applicationDidBecomeActive(_ application: UIApplication) {}

    func application(
        application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken deviceToken: Data
    ) {}

    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [String: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {}
}

extension AlmostDelegate {
    func userNotificationCenter(
        _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse,
        withCompletionHandler completionHandler: () -> Void
    ) { completionHandler() }

    func showList(_ center: UNUserNotificationCenter) {}
}

struct DelegateCheckTests {
    private func lines(of type: Any.Type) -> [String] {
        DelegateCheck.lines(
            of: DelegateCheck.TypeName(type),
            as: [(any UIApplicationDelegate).self, (any UNUserNotificationCenterDelegate).self].map(
                DelegateCheck.TypeName.init))
    }

    @Test func `methods that are never called are found in the program itself`() throws {
        let lines = lines(of: AlmostDelegate.self)
        try #require(lines.count == 3, "\(lines)")
        #expect(
            lines[0].hasPrefix(
                "AlmostDelegate.application(_:didReceiveRemoteNotification:fetchCompletionHandler:) is never called: other"
            ))
        #expect(
            lines[1].contains(
                "UIApplicationDelegate's application(_:didRegisterForRemoteNotificationsWithDeviceToken:)"))
        #expect(lines[2].contains("didReceive:withCompletionHandler:) is never called: its handler must be @escaping"))
    }

    @Test func `a delegate that is right has nothing to be told`() {
        #expect(lines(of: HarbourAppDelegate.self).isEmpty)
    }
}

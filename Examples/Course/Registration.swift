import UIKit
import UserNotifications

/// Asks the person, and registers with the push service where they allow it.
@MainActor
public enum Registration {
    /// Asks for what a notification may do. Whoever was asked before answers at once, with what they said then.
    ///
    /// - Returns: Whether they allow it; then the device token comes to the application's delegate.
    public static func begin(_ application: UIApplication) async throws -> Bool {
        let center = UNUserNotificationCenter.current()
        guard try await center.requestAuthorization(options: [.alert, .sound, .badge]) else { return false }
        application.registerForRemoteNotifications()
        return true
    }

    /// The device token as providers write it: 64 hexadecimal digits.
    public static func text(of deviceToken: Data) -> String {
        deviceToken.map { String(format: "%02x", $0) }.joined()
    }
}

import UIKit

/// Asks for permission as code did before there were actors: it knows of no main actor, and it does not name the
/// framework that UIKit brings along.
final class PushPermission: NSObject {
    static let shared = PushPermission()

    func ask(completion: @escaping (Bool) -> Void) {
        UNUserNotificationCenter.current().requestAuthorization(options: [.alert, .badge, .sound]) { granted, error in
            if let error = error { print("Not asked: \(error.localizedDescription)") }
            guard granted else { return completion(false) }
            self.register()
            completion(true)
        }
    }

    func register() {
        DispatchQueue.main.async { UIApplication.shared.registerForRemoteNotifications() }
    }

    func countOne() {
        UIApplication.shared.applicationIconBadgeNumber += 1
    }

    func answer(_ center: UNUserNotificationCenter, _ notification: UNNotification) {
        guard UIApplication.shared.applicationState != .active else { return }
        center.delegate?.userNotificationCenter(center, willPresent: notification) { options in
            print("Presented with \(options.rawValue)")
        }
    }
}

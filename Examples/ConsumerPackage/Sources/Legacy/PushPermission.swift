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

    func explain(on controller: UIViewController) {
        let alert = UIAlertController(
            title: "Notifications are off", message: "Allow them in the settings.", preferredStyle: .alert)
        alert.addAction(UIAlertAction(title: "Later", style: .cancel, handler: nil))
        alert.addAction(
            UIAlertAction(title: "Settings", style: .default) { _ in
                guard let url = URL(string: UIApplication.openSettingsURLString) else { return }
                UIApplication.shared.open(url)
            })
        controller.present(alert, animated: true)
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

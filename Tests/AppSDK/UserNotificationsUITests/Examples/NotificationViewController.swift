import UIKit
import UserNotificationsUI

/// The extension of an app for iOS. It compiles here, and the desktop shows the notification without it.
final class NotificationViewController: UIViewController, UNNotificationContentExtension {
    let label = UILabel()

    override func viewDidLoad() {
        super.viewDidLoad()
        view.addSubview(label)
    }

    func didReceive(_ notification: UNNotification) {
        label.text = notification.request.content.body
    }
}

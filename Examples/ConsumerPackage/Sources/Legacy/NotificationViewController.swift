import UIKit
import UserNotifications
import UserNotificationsUI

/// A content extension: it compiles, and nothing shows it.
class NotificationViewController: UIViewController, UNNotificationContentExtension {
    private let label = UILabel()
    private let imageView = UIImageView()

    override func viewDidLoad() {
        super.viewDidLoad()
        preferredContentSize = CGSize(width: view.bounds.width, height: 120)
        label.textAlignment = .center
        label.textColor = .label
        view.addSubview(label)
        view.addSubview(imageView)
    }

    func didReceive(_ notification: UNNotification) {
        label.text = notification.request.content.body
        guard let attachment = notification.request.content.attachments.first,
            attachment.url.startAccessingSecurityScopedResource()
        else { return }
        if let data = try? Data(contentsOf: attachment.url) { imageView.image = UIImage(data: data) }
        attachment.url.stopAccessingSecurityScopedResource()
    }

    func didReceive(
        _ response: UNNotificationResponse,
        completionHandler completion: @escaping (UNNotificationContentExtensionResponseOption) -> Void
    ) {
        completion(response.actionIdentifier == "like" ? .doNotDismiss : .dismissAndForwardAction)
    }
}

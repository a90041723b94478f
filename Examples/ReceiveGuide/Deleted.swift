import Firebase
import Foundation

extension AppDelegate {
    // More messages waited than may, or the device was away for too long: they are gone, and the app asks its provider for all.
    func watchDeletions() {
        _ = NotificationCenter.default.addObserver(
            forName: .MessagingMessagesDeleted, object: nil, queue: nil
        ) { [show] notification in
            show("\(notification.userInfo?["count"] ?? 0) messages were deleted: load everything again")
        }
    }
}

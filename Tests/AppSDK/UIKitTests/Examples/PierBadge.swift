import UserNotifications

extension UNUserNotificationCenter {
    func show(waiting count: Int) {
        setBadgeCount(count, withCompletionHandler: nil)
    }
}

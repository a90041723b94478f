import Firebase
import UIKit

extension AppDelegate {
    // A message with `content-available`: the app is woken for it, and nobody sees it. In front the app gets it too.
    func application(
        _ application: UIApplication, didReceiveRemoteNotification userInfo: [AnyHashable: Any],
        fetchCompletionHandler completionHandler: @escaping (UIBackgroundFetchResult) -> Void
    ) {
        show("fetch \(userInfo["item"] ?? "nothing")")
        completionHandler(.newData)
    }
}

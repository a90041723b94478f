import Firebase
import Foundation

extension AppDelegate {
    // A message to the provider. It is kept until the server has it, for a day at most, also while there is no network.
    func order(_ item: String, by messaging: Messaging = .messaging()) {
        messaging.sendMessage(
            ["order": item], to: "42@gcm.googleapis.com", withMessageID: "order-\(item)", timeToLive: 86_400)
    }

    func watchOrders() {
        let center = NotificationCenter.default
        _ = center.addObserver(forName: .MessagingSendSuccess, object: nil, queue: nil) { [show] sent in
            show("\(sent.object ?? "") is with the provider's server")
        }
        _ = center.addObserver(forName: .MessagingSendError, object: nil, queue: nil) { [show] failed in
            let error = failed.userInfo?["error"] as? NSError
            show("\(failed.object ?? "") failed: \(error?.localizedDescription ?? "")")
        }
    }
}

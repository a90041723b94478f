import Firebase
import Foundation

/// FCM's direct channel as it was used until 2020.
class PushMessaging: NSObject, MessagingDelegate {
    func begin() {
        FirebaseApp.configure()
        Messaging.messaging().delegate = self
        Messaging.messaging().shouldEstablishDirectChannel = true
        Messaging.messaging().subscribe(toTopic: "news") { error in
            print("joined: \(error?.localizedDescription ?? "yes")")
        }
    }

    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String) {
        print("token: \(fcmToken)")
    }

    func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
        print("data: \(remoteMessage.appData), connected: \(messaging.isDirectChannelEstablished)")
    }
}

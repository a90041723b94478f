import Firebase
import Foundation

/// FCM as it was used with Firebase 3 and 4.
class EarlierMessaging: NSObject, FIRMessagingDelegate {
    func begin(deviceToken: Data) {
        FIRApp.configure()
        FIRMessaging.messaging().remoteMessageDelegate = self
        NotificationCenter.default.addObserver(
            forName: NSNotification.Name.firInstanceIDTokenRefresh, object: nil, queue: nil
        ) { _ in
            print("token: \(FIRInstanceID.instanceID().token() ?? "")")
            self.connect()
        }
        FIRInstanceID.instanceID().setAPNSToken(deviceToken, type: FIRInstanceIDAPNSTokenType.sandbox)
    }

    func connect() {
        FIRMessaging.messaging().disconnect()
        FIRMessaging.messaging().connect { error in print("connected: \(error == nil)") }
        FIRMessaging.messaging().subscribe(toTopic: "/topics/news")
    }

    func messaging(_ messaging: Messaging, didRefreshRegistrationToken fcmToken: String) { print("token: \(fcmToken)") }

    func applicationReceivedRemoteMessage(_ remoteMessage: FIRMessagingRemoteMessage) { print(remoteMessage.appData) }
}

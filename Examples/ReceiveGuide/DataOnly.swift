import Firebase

extension AppDelegate: MessagingDelegate {
    // The provider needs this token. It comes at every start, and when it is another one.
    func messaging(_ messaging: Messaging, didReceiveRegistrationToken fcmToken: String?) {
        show("token \(fcmToken ?? "")")
    }

    // A message with `data` alone: it shows nothing, and comes by the direct channel while the app is in front. What came
    // meanwhile waits, in order.
    func messaging(_ messaging: Messaging, didReceive remoteMessage: MessagingRemoteMessage) {
        show("data: \(remoteMessage.appData["item"] ?? "nothing")")
    }
}

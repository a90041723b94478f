import FirebaseInstanceID
import Foundation

/// Registration tokens as they were asked for until 2020.
class InstanceTokens: NSObject {
    private var token: String?

    func begin() {
        NotificationCenter.default.addObserver(forName: .InstanceIDTokenRefresh, object: nil, queue: .main) { _ in
            self.ask()
        }
    }

    func ask() {
        InstanceID.instanceID().instanceID { result, error in
            if let error = error {
                print("no token: \(error)")
            } else if let result = result {
                self.token = result.token
                print("instance \(result.instanceID), token \(result.token)")
            }
        }
    }

    func end(sender: String) {
        InstanceID.instanceID().token(withAuthorizedEntity: sender, scope: InstanceIDScopeFirebaseMessaging) {
            token, _ in
            print("ends: \(token ?? "")")
        }
        InstanceID.instanceID().deleteToken(withAuthorizedEntity: sender, scope: "*") { error in
            print("ended: \(error == nil)")
        }
        InstanceID.instanceID().getID { identity, _ in print(identity ?? "") }
        InstanceID.instanceID().deleteID { _ in }
    }
}

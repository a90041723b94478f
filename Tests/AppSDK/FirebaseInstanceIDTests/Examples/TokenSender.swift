import Firebase
import FirebaseInstanceID

func sendToken(to provider: @escaping @Sendable (String) -> Void) {
    InstanceID.instanceID().instanceID { result, error in
        if let result {
            provider(result.token)
        } else if let error {
            print("there is no token: \(error.localizedDescription)")
        }
    }
}

func endToken(of sender: String) {
    InstanceID.instanceID().deleteToken(withAuthorizedEntity: sender, scope: "*") { error in
        print("the token has ended: \(error == nil)")
    }
}

import CallKit
import PushKit

/// Shows a call for each push of the type `voip`, and answers it.
@MainActor
final class Calls: NSObject, PKPushRegistryDelegate, CXProviderDelegate {
    private let registry = PKPushRegistry(queue: .main)
    private let provider = CXProvider(configuration: CXProviderConfiguration())

    func begin() {
        provider.setDelegate(self, queue: nil)
        registry.delegate = self
        registry.desiredPushTypes = [.voIP]
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didUpdate pushCredentials: PKPushCredentials, for type: PKPushType
    ) {
        print("send calls to", pushCredentials.token.map { String($0, radix: 16) })
    }

    func pushRegistry(
        _ registry: PKPushRegistry, didReceiveIncomingPushWith payload: PKPushPayload, for type: PKPushType,
        completion: @escaping () -> Void
    ) {
        let update = CXCallUpdate()
        update.localizedCallerName = payload.dictionaryPayload["caller"] as? String
        provider.reportNewIncomingCall(with: UUID(), update: update) { error in
            if let error { print("the call is not shown:", error.localizedDescription) }
        }
        completion()
    }

    func providerDidReset(_ provider: CXProvider) {}

    func provider(_ provider: CXProvider, perform action: CXAnswerCallAction) {
        print("connect the call", action.callUUID)
        action.fulfill()
    }
}

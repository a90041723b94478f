import Foundation
import RelayWire
import Testing

@testable import ConnectedDevices

/// What the agent would refuse does not leave the app. The client is not started: what passes is answered as without a
/// network.
@Suite struct LimitTests {
    private func publish(_ services: Int, _ attributes: [String: String] = [:]) -> RelayRequest {
        .publish(
            request: 1, services: (0..<services).map { RelayService(name: "s\($0)") }, schemes: [],
            attributes: attributes)
    }

    @Test("More services or attributes than the agent reads are faults, with their place")
    func published() {
        #expect(publish(32, ["a": String(repeating: "b", count: 4095)]).fault == nil)
        #expect(publish(33).fault?.path == "publish.services")
        #expect(publish(1, ["a": String(repeating: "b", count: 4096)]).fault?.path == "publish.attributes")
    }

    @Test("Publishing too much is refused before anything is sent")
    func registration() async {
        let registration = RemoteSystemAppRegistration.getForAccount()
        registration.attributes = ["a": String(repeating: "b", count: 4096)]
        #expect(await registration.publish() == .errorUnknown)
        registration.attributes = [:]
        #expect(await registration.publish() == .errorNoNetwork)
    }

    @Test("A launch takes 16 preferred apps and no more", arguments: [(16, false), (17, true)])
    func launch(_ count: Int, _ isRefused: Bool) async {
        let options = RemoteLauncherOptions(preferredAppIds: (0..<count).map { "com.example.a\($0)" })
        let request = RemoteSystemConnectionRequest(
            remoteSystem: RemoteSystem(RelayDevice(id: "1", name: "n", kind: "phone")))
        let status = await RemoteLauncher().launchUri("https://example.com", with: request, options: options)
        let expected: RemoteLaunchUriStatus = isRefused ? .valueSetTooLarge : .remoteSystemUnavailable
        #expect(status == expected)
    }

    @Test("No limit of a call's own is above that of any message")
    func message() async {
        let message: ValueSet = ["d": Data(count: 400 << 10)]
        let request = AppServiceRequest([:], call: 1, client: .shared)
        #expect(request.sendResponse(message, limit: 1 << 20) == .messageSizeTooLarge)
        let response = await AppServiceConnection().sendMessage(message, limit: 1 << 20)
        #expect(response.status == .messageSizeTooLarge)
        let fitting: ValueSet = ["d": Data(count: 200 << 10)]
        #expect(AppServiceRequest([:], call: 2, client: .shared).sendResponse(fitting, limit: 1 << 20) == .success)
        #expect(throws: ValueSetFault.self) { try ValueSetCoding.relay(["a": 1], limit: -1) }
    }
}

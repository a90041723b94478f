import AgentProtocol
import AppHost
import Foundation
import RelayProtocol
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
        let request = AppServiceRequest([:], id: UUID(), call: 1, client: .shared)
        #expect(request.sendResponse(message, limit: 1 << 20) == .messageSizeTooLarge)
        let response = await AppServiceConnection().sendMessage(message, limit: 1 << 20)
        #expect(response.status == .messageSizeTooLarge)
        let fitting: ValueSet = ["d": Data(count: 200 << 10)]
        #expect(
            AppServiceRequest([:], id: UUID(), call: 2, client: .shared).sendResponse(fitting, limit: 1 << 20)
                == .success)
        #expect(throws: ValueSetFault.self) { try ValueSetCoding.relay(["a": 1], limit: -1) }
    }

    @Test("A detail of any length is cut at a character to what an agent reads", arguments: ["a", "é", "👩‍👩‍👧‍👦"])
    func detail(_ character: Character) throws {
        let long = String(repeating: character, count: 5000)
        let outcome = RelayOutcome(.denied, telling: long)
        let detail = try #require(outcome.detail)
        #expect(detail.utf8.count <= 4096 && detail.utf8.count > 4096 - 32)
        #expect(detail.last == "…" && long.hasPrefix(detail.dropLast()))
        #expect(RelayRequest.stream(UUID(), .taken(outcome)).fault == nil)
        #expect(RelayOutcome(.denied, telling: "short").detail == "short")
    }

    @Test("A message that is nested deeper than any may be is refused where it is too deep")
    func depth() {
        var deep: any Sendable = 1
        for _ in 0..<4000 { deep = [deep] as [any Sendable] }
        let fault = #expect(throws: ValueSetFault.self) { try ValueSetCoding.relay(["a": deep], limit: 65_536) }
        #expect(fault?.path.hasPrefix("a[0][0]") == true)
        var fitting: ValueSet = ["a": 1]
        for _ in 1..<16 { fitting = ["m": fitting] }
        #expect(throws: Never.self) { try ValueSetCoding.relay(fitting, limit: 65_536) }
        #expect(throws: ValueSetFault.self) { try ValueSetCoding.relay(["m": fitting], limit: 65_536) }
    }

    @Test("As many commands are under way as the agent takes, of the largest messages, without the connection's end")
    func commands() async throws {
        let client = RelayClient(configuration: .current())
        for _ in 0..<RelayClient.largeCommandLimit { #expect(client.beginCommand { 1 << 30 } == 0) }
        #expect(client.beginCommand { RelayClient.commandBytesLimit + 1 } == nil)
        #expect(client.beginCommand { RelayClient.commandBytesLimit } == RelayClient.commandBytesLimit)
        #expect(client.beginCommand { 1 } == nil)
        client.endCommand(RelayClient.commandBytesLimit)
        for _ in RelayClient.largeCommandLimit..<RelayClient.commandLimit { #expect(client.beginCommand { 1 } == 1) }
        let refused = await client.command(.open(app: "a", service: "s"), id: UUID(), on: "1", within: .seconds(1))
        #expect(refused.status == .resourceLimits)
        client.endCommand(1)
        let taken = await client.command(.open(app: "a", service: "s"), id: UUID(), on: "1", within: .seconds(1))
        #expect(taken.status == .networkUnavailable)
        let message: RelayMap = ["d": .data([UInt8](repeating: 0, count: (256 << 10) - 16))]
        let request = RelayRequest.command(
            request: 1, id: UUID(), device: "1", deadline: 1, .call(app: "a", service: "s", message: message))
        let frame = try AppMessage.relay(RelayPacket(try request.encoded())).frame()
        #expect(frame.count > 256 << 10)
        let most = frame.count * RelayClient.largeCommandLimit + RelayClient.commandBytesLimit
        #expect(most < RelayClient.unwrittenLimit * 3 / 4)
    }
}
